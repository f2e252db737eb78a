"""All checks of one method, counted, and how to make a failed one again."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.conformance import trials
from bench.conformance.checks import CHECKS, Finding
from bench.conformance.trials import Trial
from bench.entries import Entry, load_method
from problems import files


@dataclass(frozen=True)
class Fault:
    """A check that failed on one instance.

    Attributes
    ----------
    file : str
        Bundle of the instance, where it was saved.
    command : str
        What makes the run again.
    """

    check: str
    instance: str
    what: str
    seed: int
    hash_seed: int
    file: str
    command: str


@dataclass(frozen=True)
class Report:
    """What came of all checks of one entry.

    Attributes
    ----------
    runs, refused : int
        Runs made, and instances that the method refuses.
    checked : dict of str to int
        Check -> how often it was made.
    """

    entry: str
    runs: int
    refused: int
    checked: dict[str, int]
    faults: list[Fault]

    @property
    def passed(self) -> bool:
        """Whether nothing failed and something was run."""
        return self.runs > 0 and not self.faults


def conform(
    entry: Entry,
    *,
    time_limit_s: float = 1.0,
    jobs: int = 1,
    folder: str | Path = "results/conformance",
    done: Callable[[int, int], None] = lambda made, planned: None,
) -> Report:
    """Run an entry on every edge of the problems that it takes, and make every check.

    Parameters
    ----------
    time_limit_s : float
        Limit of each run in seconds.
    folder : str or Path
        Where the instances of failed checks are saved.
    done : callable
        Told after each run how many are made, of how many.
    """
    method = load_method(entry.method, entry.file, entry.source)
    planned = trials.plan(method.problems)
    count = 0

    def step() -> None:
        nonlocal count
        count += 1
        done(count, len(planned))

    made = trials.run(entry, planned, time_limit_s, jobs, step)
    findings = {name: list(check(made)) for name, check in CHECKS.items()}
    return Report(
        entry=entry.label,
        runs=sum(trial.record is not None for trial in made),
        refused=sum(bool(trial.refused) for trial in made),
        checked={name: len(each) for name, each in findings.items()},
        faults=[
            _fault(entry, name, finding, time_limit_s, Path(folder))
            for name, each in findings.items()
            for finding in each
            if finding[1] is not None
        ],
    )


def _fault(entry: Entry, check: str, finding: Finding, limit: float, folder: Path) -> Fault:
    trial, what = finding
    assert what is not None
    path = folder / f"{trial.case.name}.json"
    files.write(path, trial.case.bundle)
    return Fault(
        check=check,
        instance=trial.case.name,
        what=what,
        seed=trial.seed,
        hash_seed=trial.hash_seed,
        file=str(path),
        command=_command(entry, trial, path, limit),
    )


def _command(entry: Entry, trial: Trial, path: Path, limit: float) -> str:
    """The same run by hand; the harness gives every run the hash seed 0."""
    method = entry.label
    if entry.file is not None:
        bracket = entry.label.removeprefix(entry.method)
        one = f":{entry.method}" if entry.file.endswith(".py") else ""
        method = f"{entry.file}{one}{bracket}"
    words = ["placebench", "run", "-i", str(path), "-m", method, "--time", f"{limit:g}s"]
    return shlex.join([*words, "--seed", str(trial.seed), "--rerun"])
