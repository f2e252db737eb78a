"""The jobs of the timed comparison that ``pytest --benchmark`` runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from bench import bks, bounds, environment, metrics, presets, results
from bench.cli.units import seconds
from bench.entries import Entry, load_method
from bench.job import Job, run_one
from bench.records import Record
from bench.selection import Selected, select
from bench.suite import refusal
from problems.catalogue import Library
from problems.instance import Instance

LOAD_LIMIT_S = 120.0


_passed = [0.0]


def method_clock() -> float:
    """Seconds of the methods' own clocks in all runs so far: the timer of the comparison.

    What it takes to start a process and to load an instance in it is no time of the method.
    """
    return _passed[0]


@dataclass(frozen=True)
class ComparisonJob:
    """One entry on one instance.

    Attributes
    ----------
    name : str
        Short: ``greedy-bert-base:block/server/latency``.
    """

    name: str
    selected: Selected
    entry: Entry
    time_limit_s: float
    seed: int

    @property
    def instance(self) -> Instance:
        """The resolved instance; loaded once for all entries."""
        return _instance(self.selected.name, self.selected.path)

    def run(self) -> Record:
        """Run it, isolated, and judge it."""
        record, _ = run_one(self._job())
        _passed[0] += record.wall_s
        return record

    def _job(self) -> Job:
        return Job(
            instance=self.instance,
            entry=self.entry,
            seed=self.seed,
            time_limit_s=self.time_limit_s,
            memory_limit_bytes=None,
            threads=1,
            suite=environment.suite_version(),
            environment="",
            load_limit_s=LOAD_LIMIT_S,
        )

    def told(self, record: Record) -> dict[str, Any]:
        """What goes into a benchmark's `extra_info`: plain values, seconds.

        The best known and the gap to it are None where no claim is on file: one run alone knows no
        better answer than its own.
        """
        known = _headline(self.selected.name, self.selected.path)
        best = known.objective
        z = record.objective
        if z is not None and best is not None:
            best = min(best, z)
        return {
            "instance": record.instance,
            "digest": record.digest,
            "entry": record.entry,
            "seed": record.seed,
            "time_limit_s": record.time_limit_s,
            "termination": record.termination,
            "check": record.check,
            "objective_s": z,
            "bound_s": known.bound,
            "bound_kind": known.bound_kind,
            "best_known_s": best,
            "gap_to_bound": metrics.gap_to_bound(z, known.bound),
            "gap_to_best": None if best is None else metrics.primal_gap(z, best),
            "wall_s": record.wall_s,
            "reason": results.reason(record),
        }


def jobs(
    instances: Sequence[str], methods: Sequence[str], time: str, seed: int
) -> list[ComparisonJob]:
    """Every entry on every instance that it takes.

    Raises
    ------
    ValueError
        On an unknown selection, entry, option or time.
    """
    limit = seconds(time)
    found = []
    for selected in select(instances, Library()):
        for entry in presets.parse(methods):
            name = f"{entry.label}-{Path(selected.name).name if selected.path else selected.name}"
            job = ComparisonJob(name, selected, entry, limit, seed)
            if refusal(load_method(entry.method, entry.file), job.instance) is None:
                found.append(job)
    return found


@cache
def _instance(name: str, path: Path | None) -> Instance:
    library = Library()
    return library.load(name) if path is None else library.load_path(path)


@cache
def _headline(name: str, path: Path | None) -> bks.Headline:
    instance = _instance(name, path)
    earlier = {d: each for d, each in bks.load().items() if d == instance.digest}
    bound, searched = bounds.load().of_instance(instance)
    empty = {instance.digest: bks.Claims("placebench-claims/1", instance.digest, instance.id, [])}
    found = {} if searched is None else {instance.digest: searched}
    claims = bks.gather([], {instance.digest: bound}, earlier or empty, found)
    return bks.headline(claims[instance.digest].claims)
