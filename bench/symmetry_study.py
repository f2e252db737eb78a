"""What ordering like devices is worth: ``python -m bench.symmetry_study --jobs 2 --save``.

Exact entries solve small captured and generated throughput and latency instances on 4, 8 and 16
like devices, each with its option ``symmetry`` and without it, under the same limit: time to proof,
and what is left open where there is none. Beside it stands what symmetry the graphs have.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from bench import study
from bench.markdown import Show, percent, table
from bench.records import Record
from problems.catalogue import Library
from problems.generate.platforms import MEMORY, direct
from problems.generate.random import random_bundle
from problems.instance import Instance, InstanceSpec, Level
from problems.platform import Device
from problems.resolve import from_bundle
from problems.symmetry.automorphisms import automorphisms
from problems.symmetry.layers import repeats

DEVICES = (4, 8, 16)
ENTRIES = {"throughput": ("assign@highs", "orbits@highs", "stages"), "latency": ("intervals",)}
WITHOUT = "[symmetry=false]"
CAPTURED: dict[str, tuple[tuple[str, Level], ...]] = {
    "throughput": (("inceptionv3", "block"), ("resnet50", "block")),
    "latency": (("inceptionv3", "block"),),
}
"""Graphs of the library with their level."""
GENERATED = (1, 2)
"""Seeds of random graphs, beside them."""
NODES = 12
GPU, LINK = "gpu-a100-roofline", "nvlink3"
PROVED = 2e-6
"""Relative gap that counts as none: twice the tolerance of the solvers."""


@dataclass(frozen=True)
class Row:
    """One entry on one instance, with the option or without it.

    Attributes
    ----------
    generators, order : int, float
        Node automorphisms of the graph: generators found, size of the group.
    layers : int
        Blocks of the longest run of repeated layers; 1 without any.
    seconds : float
        The run's clock until the entry ended by itself, or the limit.
    proved : bool
        The bound that the entry claims meets its checked answer.
    objective_s, bound_s : float
        Checked answer (inf without one) and claimed bound (0 without one).
    """

    graph: str
    problem: str
    nodes: int
    devices: int
    generators: int
    order: float
    layers: int
    entry: str
    symmetry: bool
    proved: bool
    seconds: float
    objective_s: float
    bound_s: float

    @property
    def gap(self) -> float:
        """Relative gap that is left."""
        return self.objective_s / self.bound_s - 1 if self.bound_s > 0 else math.inf


def like(library: Library, graph: str, level: Level, problem: str, devices: int) -> Instance:
    """A graph of the library on like GPUs, every two joined by the same link."""
    names = [f"gpu{k}" for k in range(devices)]
    platform = direct(
        f"like-{devices}", [Device(name, GPU, MEMORY[GPU]) for name in names],
        "like GPUs of one server", default=LINK,
    )  # fmt: skip
    spec = InstanceSpec(graph, platform.name, problem, level=level)
    return study.instance(library, spec, platform)


def instances(problem: str) -> Iterator[Instance]:
    """All instances of the study, those on few devices first."""
    library = Library()
    for devices in DEVICES:
        for graph, level in CAPTURED[problem]:
            yield like(library, graph, level, problem, devices)
        for seed in GENERATED:
            yield from_bundle(
                random_bundle(
                    seed, n=NODES, devices=devices, problem=problem, topology="direct", hosts=0,
                    density=0.15, like=True,
                )
            )  # fmt: skip


def rows(instance: Instance, records: Sequence[Record]) -> list[Row]:
    """What the records of one instance say, one row each."""
    found = automorphisms(instance)
    layers = max((each.times for each in repeats(instance)), default=1)
    result = []
    for record in records:
        objective = math.inf if record.objective is None else record.objective
        bound = record.claimed_bound or 0.0
        proved = bound > 0 and bound >= objective * (1 - PROVED)
        ended = record.termination == "completed" and proved
        result.append(
            Row(
                instance.id.split("/")[0], instance.problem, instance.n, instance.K,
                len(found.generators), float(found.order), layers, record.entry.split("[")[0],
                bool(record.options["symmetry"]), proved,
                record.wall_s if ended else record.time_limit_s, objective, bound,
            )
        )  # fmt: skip
    return result


def pairs(found: Sequence[Row]) -> pd.DataFrame:
    """One line an instance and entry: time with and without, and gaps.

    Raises
    ------
    ValueError
        If two proofs of one instance contradict each other.
    """
    lines = []
    for on in (row for row in found if row.symmetry):
        off = next(
            row for row in found
            if not row.symmetry and row.entry == on.entry
            and (row.graph, row.problem, row.devices) == (on.graph, on.problem, on.devices)
        )  # fmt: skip
        for a, b in ((on, off), (off, on)):
            if a.bound_s > b.objective_s * (1 + PROVED):
                raise ValueError(f"{a.entry} on {a.graph}: a bound above an answer")
        lines.append(
            {
                "graph": on.graph, "problem": on.problem, "nodes": on.nodes,
                "devices": on.devices, "entry": f"`{on.entry}`",
                "with": on.seconds, "without": off.seconds,
                "with_proved": on.proved, "without_proved": off.proved,
                "with_gap": on.gap, "without_gap": off.gap,
            }
        )  # fmt: skip
    return pd.DataFrame(lines)


def markdown(found: Sequence[Row], limit: float, jobs: int) -> str:
    """The page."""
    every = pairs(found)
    summary = []
    for (problem, entry, devices), mine in every.groupby(["problem", "entry", "devices"]):
        both = mine[mine.with_proved & mine.without_proved]
        ratio = np.log(both["without"] / both["with"]).mean() if len(both) else math.nan
        summary.append(
            {
                "problem": problem, "entry": entry, "devices": devices, "instances": len(mine),
                "with": int(mine.with_proved.sum()), "without": int(mine.without_proved.sum()),
                "both": len(both), "speedup": math.exp(ratio),
            }
        )  # fmt: skip
    lines = [
        "# Symmetry: like devices ordered, or not", "",
        f"Exact entries with their option `symmetry` and without, {limit:g} s a run, one thread,"
        f" {jobs} run(s) at a time, one seed; written by `python -m bench.symmetry_study`. All"
        f" devices are alike: {GPU} and {LINK} for captured graphs, random times for generated"
        " ones. Proved: the bound that the entry claims meets its checked answer. Speed-up:"
        " geometric mean of time without over time with, where both are proved.", "",
        "## By devices", "",
    ]  # fmt: skip
    columns: dict[str, Show] = {
        "problem": str, "entry": str, "devices": str, "instances": str, "with": str,
        "without": str, "both": str, "speedup": _times,
    }  # fmt: skip
    titles = {"with": "proved with", "without": "proved without", "both": "proved by both"}
    lines += [*table(pd.DataFrame(summary), columns, titles), "", "## By instance", ""]
    for side in ("with", "without"):
        open_ = ~every[f"{side}_proved"]
        every[side] = [
            f"open, {_gap(gap)} left" if left else f"{seconds:.2f} s"
            for left, gap, seconds in zip(open_, every[f"{side}_gap"], every[side], strict=True)
        ]
    shown = ("graph", "problem", "nodes", "devices", "entry", "with", "without")
    lines += [*table(every, dict.fromkeys(shown, str)), "", "## Of the graphs", ""]
    lines += [
        "Node automorphisms that keep every cost, which `orbits` uses, and repeated layers, which"
        " none does (see `problems.symmetry`).", "",
    ]  # fmt: skip
    graphs = pd.DataFrame(
        {
            (row.graph, row.problem): {
                "graph": row.graph, "problem": row.problem, "nodes": row.nodes,
                "generators": row.generators, "automorphisms": f"{row.order:.3g}",
                "repeated layers": row.layers if row.layers > 1 else 0,
            }
            for row in found
        }.values()
    )  # fmt: skip
    lines += [*table(graphs, dict.fromkeys(graphs.columns, str)), ""]
    return "\n".join(lines)


def _times(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.2f}"


def _gap(value: float) -> str:
    return percent(value) if math.isfinite(value) else "all"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is missing, print the page; with ``--save`` write it and the rows."""
    given = study.parser("bench.symmetry_study", __doc__, "7s").parse_args(arguments)
    found: list[Row] = []
    for problem, entries in ENTRIES.items():
        cases = list(instances(problem))
        both = [f"{entry}{option}" for entry in entries for option in ("", WITHOUT)]
        records = study.runs(given, cases, both)
        for case in cases:
            found += rows(case, [each for each in records if each.digest == case.digest])
    frame = pd.DataFrame([{**vars(row), "gap": row.gap} for row in found])
    csv = str(frame.to_csv(index=False, float_format="%.9g", lineterminator="\n"))
    study.publish(given, "symmetry", {"md": markdown(found, given.time, given.jobs), "csv": csv})
    return 0


if __name__ == "__main__":
    sys.exit(study.guarded(main))
