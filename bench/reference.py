"""Published heuristics of the NeurIPS 2020 code against ours, on its public test inputs.

``python -m bench.reference --folder PATH`` reads the reference values and input files in a folder
(``reference.csv``, ``throughput/``, ``latency/``, ``splits/``; the inputs are no part of this
repository), runs for every published heuristic our entries of the same kind and our strongest ones,
in this process, and prints a table. With ``--save`` it also writes the table to a file.

Published splits are contiguous for `pipedream` and `dpl`, and free for all others.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from bench import entries, study
from bench.warm import tiny_like
from problems import checker
from problems.answer import Answer
from problems.files import FileError, plainly, write_atomically
from problems.formats import msr
from problems.instance import Instance
from problems.resolve import from_bundle
from solvers.method import Context

STUDY = Path("results/studies/reference.md")
PRINTED = 1e-5
"""Relative; the published programs print six digits of some values."""
KINDS = {
    "oneFpga": ("single",),
    "pipedream": ("pipedream",),
    "dpl": ("dpl",),
    "scotch": ("scotch", "kahip", "metis"),
    "expert": ("expert",),
    "localSearch10": ("local-search",),
    "latency_greedy": ("greedy",),
    "latency_of_expert": ("max-load", "expert"),
    "latency_of_scotch": ("max-load", "scotch"),
    "latency_of_maxload_dp": ("max-load",),
}
"""Published heuristic -> our entries of that kind; the better one counts."""
STRONGEST = ("portfolio", "lns", "annealing", "slicegraph")
"""Our strongest entries."""


class Row(NamedTuple):
    """One published value: of a heuristic on a file, in seconds."""

    file: str
    heuristic: str
    value: float


@dataclass(frozen=True)
class Compared:
    """A published value and ours.

    Attributes
    ----------
    same, best : tuple of (str, float)
        Our best entry of the same kind, and our best one of :data:`STRONGEST`: what it is called,
        and its objective in seconds. The name is empty where there is no such entry.
    """

    row: Row
    same: tuple[str, float]
    best: tuple[str, float]


def rows(folder: Path) -> list[Row]:
    """The published heuristics' values.

    Raises
    ------
    FileError
        If the folder holds no ``reference.csv``.
    """
    try:
        with (folder / "reference.csv").open() as file:
            found = [row for row in csv.DictReader(file) if row["method"] in KINDS]
    except OSError as error:
        raise FileError(f"{folder}: no reference values: {plainly(error)}") from None
    return [Row(row["file"], row["method"], float(row["objective_ms"]) / 1e3) for row in found]


@cache
def instance(path: Path, contiguous: bool) -> Instance:
    """A public input: `calls` from a folder ``latency``, otherwise `throughput`."""
    problem = "calls" if path.parent.name == "latency" else "throughput"
    imported = msr.read(
        path.read_bytes(), path.name, path.stem, problem=problem,
        contiguous=contiguous and problem == "throughput",
    )  # fmt: skip
    return from_bundle(imported.bundle)


def is_contiguous(heuristic: str) -> bool:
    """Whether all splits of a published heuristic are contiguous."""
    return heuristic in ("pipedream", "dpl")


def ours(
    names: Sequence[str], folder: Path, row: Row, seconds: float, enough: float = 0.0
) -> tuple[str, float] | None:
    """The best of some entries on a published row, by name and objective in seconds.

    None where none of them could be run or found an answer. `enough` is an objective at which the
    runs may stop.
    """
    case = instance(folder / row.file, is_contiguous(row.heuristic))
    found: list[tuple[float, str]] = []
    for name in names:
        if found and min(found)[0] <= enough:
            break
        value = _value(name, folder, row, case, seconds, enough)
        if value is not None:
            found.append((value, name))
    if not found:
        return None
    value, name = min(found)
    return name, value


def _value(
    name: str, folder: Path, row: Row, case: Instance, seconds: float, enough: float
) -> float | None:
    if name not in entries.names():
        return None
    method = entries.load_method(name)
    if any(find_spec(each) is None for each in method.needs) or method.refusal(case):
        return None
    options: dict[str, Any] = {}
    if row.heuristic == "expert":
        split = folder / "splits" / f"{Path(row.file).stem.removeprefix('layer-')}_expert.json"
        options = {"file": str(split), "graph": str(folder / row.file)}
    else:
        _warm(name, case)
    context = Context(deadline=time.monotonic() + seconds, bound=enough)
    answer: Answer | None = method.run(case, context, **options)
    return None if answer is None else checker.check(case, answer).objective


_WARM: set[tuple[str, str]] = set()


def _warm(name: str, case: Instance) -> None:
    """Compile an entry on a tiny instance."""
    tiny = tiny_like(case)
    if (name, tiny.id) not in _WARM:
        _WARM.add((name, tiny.id))
        method = entries.load_method(name)
        if not method.refusal(tiny):
            method.run(tiny, Context(deadline=time.monotonic() + 1.0))


def compare(folder: Path, seconds: float) -> list[Compared]:
    """Run what there is of ours on every published row, `seconds` each."""
    found = []
    strongest: dict[tuple[str, bool], tuple[str, float]] = {}
    for row in rows(folder):
        key = row.file, is_contiguous(row.heuristic)
        if key not in strongest:
            strongest[key] = ours(STRONGEST, folder, row, seconds) or ("", float("nan"))
        same = ours(KINDS[row.heuristic], folder, row, seconds) or ("", float("nan"))
        found.append(Compared(row, same, strongest[key]))
    return found


def markdown(compared: Sequence[Compared], seconds: float) -> str:
    """The table as a Markdown page."""
    lines = [
        "# Published heuristics and ours",
        "",
        "Values in milliseconds that the published programs of Tarnawski et al. 2020 print for"
        " their heuristics on nine public inputs, our best entry of the same kind, and the best of"
        f" {', '.join(f'`{name}`' for name in STRONGEST)}, as far as they take the problem;"
        f" {seconds:g} s each, one thread. Ratio: ours by theirs. `pipedream` and `dpl` are held to"
        " contiguous splits, on both sides; all others are free. On training graphs the published"
        " `pipedream` takes some nodes for others. KaHIP and METIS stand in for Scotch where they"
        " are better; beside `latency_of_expert` and `latency_of_scotch`, a split for throughput"
        " scored as calls, ours may be `max-load`, the best such split, too.",
        "",
        "| file | published | ms | same kind | ms | ratio | strongest | ms | ratio |",
        "| --- | --- | --: | --- | --: | --: | --- | --: | --: |",
    ]
    for each in compared:
        cells = [each.row.file.removesuffix(".json"), each.row.heuristic]
        cells.append(f"{each.row.value * 1e3:.4f}")
        for name, value in (each.same, each.best):
            cells += [name or "none", f"{value * 1e3:.4f}", f"{value / each.row.value:.4f}"]
        lines.append("| " + " | ".join(cells) + " |")
    worse = sum(each.best[1] > each.row.value * (1 + PRINTED) for each in compared)
    same = sum(each.same[1] > each.row.value * (1 + PRINTED) for each in compared)
    lines += [
        "",
        f"{len(compared)} rows; worse than published: {same} by the same kind, {worse} by the"
        " strongest.",
    ]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; write it with ``--save``."""
    parser = argparse.ArgumentParser(prog="python -m bench.reference", description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="Where the inputs are.")
    parser.add_argument("--time", type=study.duration, default=10.0, metavar="T",
                        help="Limit of a run (default 10s).")  # fmt: skip
    parser.add_argument("--save", action="store_true", help=f"Write {STUDY}, too.")
    given = parser.parse_args(arguments)
    try:
        text = markdown(compare(given.folder, given.time), given.time)
    except FileError as error:
        print(f"placebench: {error}", file=sys.stderr)
        return 2
    print(text, end="")
    if given.save:
        write_atomically(STUDY, text.encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
