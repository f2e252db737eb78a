"""What ``placebench doctor`` says of packages, solvers and the machine."""

from __future__ import annotations

import json

import pytest

from bench import machine, solver_check
from bench.cli import doctor
from tests.bench import harness


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "NOISE_S", 0.0)
    monkeypatch.setattr(doctor, "_entries", lambda: "not loaded")
    monkeypatch.setattr(solver_check, "CORE", {"HiGHS": "assign@highs"})
    monkeypatch.setattr(solver_check, "EXTRA", {})


def test_an_extra_of_which_a_package_is_missing_is_named_with_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    extras = {"whole": ("numpy", "json"), "part": ("numpy", "no_such_package")}
    monkeypatch.setattr(doctor, "EXTRAS", extras)
    monkeypatch.setattr(solver_check, "CORE", {})
    assert doctor.run(json=True) == 0
    assert json.loads(capsys.readouterr().out)["extras"] == {"whole": True, "part": False}
    doctor.run(json=False)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines if line.startswith("extra")] == [
        ["extra", "whole", "ok"],
        ["extra", "part", "-", "without", "no_such_package"],
    ]
    assert max(map(len, lines)) <= 80


def test_a_solver_that_crashes_hangs_or_is_missing_costs_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = {
        "works": "good", "crashes": "segfaults", "hangs": "sleeps", "lies": "returns-negative",
        "raises": "raises", "missing": "needs-what-is-not-there",
    }  # fmt: skip
    found = {entry.method: entry for entry in harness.entries()}
    monkeypatch.setattr(solver_check, "parse_entry", lambda name: [found[name]])
    monkeypatch.setattr(solver_check, "CORE", bad)
    monkeypatch.setattr(solver_check, "EXTRA", {"optional": "needs-what-is-not-there"})
    monkeypatch.setattr(solver_check, "LIMIT_S", 0.4)
    assert doctor.run(json=True) == 1
    solvers = {each["solver"]: each for each in json.loads(capsys.readouterr().out)["solvers"]}
    works = {name: each["works"] for name, each in solvers.items()}
    assert works == {**dict.fromkeys(bad, False), "works": True, "optional": None}
    assert "SIGSEGV" in solvers["crashes"]["note"]
    assert "no answer (time-limit)" in solvers["hangs"]["note"]
    assert "no_such_module_anywhere, which is not installed" in solvers["missing"]["note"]
    monkeypatch.setattr(solver_check, "CORE", {})  # what only an extra brings may be missing
    assert doctor.run(json=False) == 0


def test_a_core_solver_and_the_machine(capsys: pytest.CaptureFixture[str]) -> None:
    assert doctor.run(json=True) == 0
    told = json.loads(capsys.readouterr().out)
    assert [(each["solver"], each["works"]) for each in told["solvers"]] == [("HiGHS", True)]
    assert told["packages"]["numpy"]
    assert 0 < told["machine"]["usable_cores"] <= told["environment"]["threads"]
    assert told["machine"]["clock"]["resolution_s"] > 0
    assert told["machine"]["noise"]["repeats"] >= 3
    assert set(told["compiled"]) == {"folder", "writable", "functions"}
