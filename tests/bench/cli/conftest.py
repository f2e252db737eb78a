"""A small library in place of the suite's own."""

from __future__ import annotations

import pytest

from bench import bks
from bench.cli import main
from problems import catalogue
from tests.bench import library as small


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    return small.write(tmp_path_factory.mktemp("library"))


@pytest.fixture
def cli(library, tmp_path, monkeypatch, capfd):
    """Run the command line in an empty folder; returns (exit code, stdout, stderr)."""
    monkeypatch.setattr(catalogue, "ROOT", library.root)
    monkeypatch.setattr(bks, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(bks, "FOLDER", tmp_path / "results" / "best_known")
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        code = main([str(each) for each in arguments])
        captured = capfd.readouterr()
        return code, captured.out, captured.err

    return run
