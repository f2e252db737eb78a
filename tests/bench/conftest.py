"""Fixtures for the tests of the harness."""

from __future__ import annotations

import pytest

from bench import environment


@pytest.fixture(autouse=True)
def _quick_calibration(monkeypatch):
    """How noisy the machine is matters to no test."""
    monkeypatch.setattr(environment, "CALIBRATION_REPEATS", 1)
