"""A busy machine is noticed and refused."""

from __future__ import annotations

import pytest

from problems.capture import machine


def test_a_busy_machine_is_refused_with_the_reason(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    busy = iter([100.0, 100.5])
    monkeypatch.setattr(machine, "_busy_seconds", lambda: next(busy))
    with pytest.raises(machine.BusyError, match=r"others use [\d.]+ cores, at most 0\.15"):
        machine.require_quiet(0.05)


def test_own_work_is_no_disturbance(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    busy = iter([100.0, 103.0])
    clock = iter([0.0, 10.0])
    monkeypatch.setattr(machine, "_busy_seconds", lambda: next(busy))
    monkeypatch.setattr(machine.time, "perf_counter", lambda: next(clock))
    assert machine.Disturbance().cores(own_s=2.0) == pytest.approx(0.1)


def test_a_thread_that_gets_half_a_core_is_noticed(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(machine.Disturbance, "cores", lambda *_: 0.0)
    cpu = iter([0.0, 0.1])
    monkeypatch.setattr(machine.time, "thread_time", lambda: next(cpu))
    with pytest.raises(machine.BusyError, match="% of a core"):
        machine.require_quiet(0.0)


def test_the_hardware_is_described() -> None:
    about = machine.hardware()
    assert about["cpu"]
    assert about["cores"] == machine.available_cores() >= 1
