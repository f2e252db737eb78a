"""100,000 nodes on 64 devices: which methods survive within 4 GiB, and how far they come.

``python -m bench.huge_study --jobs 1 --save`` runs the largest instances of ``bench.scaling`` with
every method that takes such sizes, under a limit of memory: how the run ended, the first answer,
the last improvement, peak memory, and the gap to the bound.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from bench import scaling, study
from bench.figures import COLOURS, drawing
from bench.markdown import percent, seconds, table
from problems.bounds.theoretical import theoretical
from problems.catalogue import Library

NODES, PER_SERVER = 100_000, 8
MEMORY = 4 * 2**30
ENTRIES = ("single", "greedy", "heft", "annealing", "lns", "multilevel", "portfolio")


def rows(raw: pd.DataFrame) -> pd.DataFrame:
    """Every run with its `gap` to the bound; NaN where there is no answer."""
    gap = (raw["objective"] - raw["bound"]) / raw["objective"]
    return raw.assign(gap=gap).sort_values(["problem", "gap"], kind="stable", na_position="last")


def markdown(found: pd.DataFrame, limit: float) -> str:
    """The page."""
    said = []
    for problem, part in found.groupby("problem", sort=False):
        alive = part.dropna(subset=["objective"])
        if alive.empty:
            said.append(f"* {problem}: no method found an answer.")
            continue
        best = alive.iloc[0]
        dead = [f"`{each}`" for each in part["entry"] if each not in set(alive["entry"])]
        said.append(
            f"* {problem}: {len(alive)} of {len(part)} methods have an answer"
            + (f" ({', '.join(dead)} not)" if dead else "")
            + f"; the best one is `{best['entry']}`, {percent(best['gap'])} from the bound, with"
            f" {best['peak'] / 2**30:.2f} GiB; the most that any took is"
            f" {alive['peak'].max() / 2**30:.2f} GiB."
        )
    first = found.iloc[0]
    lines = [
        f"# {int(first['nodes']):,} nodes on {int(first['devices'])} devices", "",
        "A layered graph with the operators of Inception v3 and BERT on eight servers of unlike"
        f" GPUs (modelled); {limit:g} s a run, {MEMORY // 2**30} GiB a process, one thread, one"
        " seed. The bound is the largest cheap one, which is weak for many devices. Written by"
        " `python -m bench.huge_study`.", "", *said, "",
        "![Gap and memory](huge.svg)", "",
    ]  # fmt: skip
    shown: dict[str, Any] = {
        "problem": str, "entry": str, "termination": str, "last": seconds, "wall": seconds,
        "peak": lambda v: f"{v / 2**30:.2f} GiB", "gap": percent,
    }  # fmt: skip
    titles = {"last": "last improvement", "wall": "time", "peak": "peak memory"}
    return "\n".join([*lines, *table(found, shown, titles), ""])


def draw(found: pd.DataFrame, path: Path) -> None:
    """Gap and peak memory of every method, a colour a problem."""
    problems = list(dict.fromkeys(found["problem"]))
    entries = [each for each in ENTRIES if each in set(found["entry"])]
    with drawing(path) as figure:
        gap, memory = figure.subplots(1, 2, sharey=True)
        for i, problem in enumerate(problems):
            part = found[found["problem"] == problem].set_index("entry")
            at = [entries.index(each) + 0.4 * (i - (len(problems) - 1) / 2) for each in part.index]
            gap.barh(at, part["gap"], 0.36, color=COLOURS[i], label=problem)
            memory.barh(at, part["peak"] / 2**30, 0.36, color=COLOURS[i])
        gap.set_yticks(range(len(entries)), entries)
        gap.set_xlabel("gap to the bound")
        memory.set_xlabel("peak memory, GiB")
        figure.legend(loc="outside upper center", ncols=len(problems))


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the runs that are missing, print the page; with ``--save`` write it and the figure."""
    given = study.parser("bench.huge_study", __doc__, "30s").parse_args(arguments)
    grid = scaling.instances(Library(), [NODES], [PER_SERVER])
    labels = {
        each.digest: {
            "problem": each.problem, "nodes": each.n, "devices": each.K,
            "bound": theoretical(each).value,
        }
        for each in grid
    }  # fmt: skip
    records = study.runs(given, grid, list(ENTRIES), memory_limit_bytes=MEMORY)
    found = rows(study.outcomes(records, labels))
    study.report(given, "huge", found, markdown(found, given.time), draw)
    return 0


if __name__ == "__main__":
    sys.exit(study.guarded(main))
