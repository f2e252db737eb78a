"""What scarce memory costs: the limit of all devices swept from ample to infeasible.

``python -m bench.memory_study --jobs 2 --save`` places captured networks on two A100-class and two
V100-class GPUs (modelled) whose memory is a multiple of an even share of what the network holds:
at 4 every one of the four devices holds everything, below 1 all of them together do not.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pandas as pd

from bench import study
from bench.figures import COLOURS, drawing
from bench.markdown import table
from problems.bounds.theoretical import theoretical
from problems.catalogue import Library
from problems.generate.platforms import cluster
from problems.instance import Instance, InstanceSpec

GRAPHS = ("inceptionv3", "bert-base", "nasnet-mobile")
FACTORS = (4.0, 2.0, 1.5, 1.2, 1.1, 1.05, 1.01, 0.99)
PROBLEMS = ("throughput", "latency")
ENTRIES = ("greedy", "annealing", "portfolio", "stages", "intervals")
"""The last two are exact, one a problem: they may prove that there is no answer."""
SERVERS = [("a100", 2, "nvlink3"), ("v100", 2, "nvlink2")]
NETWORK = "infiniband-hdr"


def cases(
    library: Library,
    graphs: Sequence[str] = GRAPHS,
    factors: Sequence[float] = FACTORS,
    problems: Sequence[str] = PROBLEMS,
) -> dict[str, tuple[Instance, dict[str, Any]]]:
    """Instances with what they are called, by digest."""
    found = {}
    ample = cluster("memory", SERVERS, NETWORK, "four GPUs of two servers")
    for problem in problems:
        for graph in graphs:
            whole = study.instance(library, InstanceSpec(graph, ample.name, problem), ample)
            held = int(whole.node_bytes.sum() + whole.shared_bytes.sum())
            for factor in factors:
                size = int(np.ceil(factor * held / whole.K))
                devices = [msgspec.structs.replace(e, memory_bytes=size) for e in ample.devices]
                name = f"memory-{factor:g}"
                platform = msgspec.structs.replace(ample, name=name, devices=devices)
                spec = InstanceSpec(graph, name, problem)
                made = study.instance(library, spec, platform)
                label = {
                    "problem": problem, "graph": graph, "nodes": made.n, "factor": factor,
                    "bytes": size, "bound": theoretical(made).value,
                }  # fmt: skip
                found[made.digest] = made, label
    return found


def rows(raw: pd.DataFrame) -> pd.DataFrame:
    """Every run with `cost`: its objective over the best of its network with ample memory."""
    ample = raw[raw["factor"] == raw["factor"].max()]
    best = ample.groupby(["problem", "graph"])["objective"].min().rename("ample")
    found = raw.merge(best, how="left", on=["problem", "graph"])
    found["cost"] = found["objective"] / found["ample"]
    # What ends within the limit has proved what it claims.
    found["infeasible"] &= found["objective"].isna()
    return found.drop(columns="ample")


def summary(found: pd.DataFrame) -> pd.DataFrame:
    """One row a problem, limit and entry.

    Returns
    -------
    DataFrame
        Columns `problem`, `factor`, `entry`, `networks`, `answered`, `refuted` (said that there is
        no answer), `cost` (geometric mean over those that it answered).
    """
    grouped = found.groupby(["problem", "factor", "entry"], sort=False)
    return grouped.agg(
        networks=("graph", "size"),
        answered=("objective", "count"),
        refuted=("infeasible", "sum"),
        cost=("cost", study.mean),
    ).reset_index()


def markdown(found: pd.DataFrame, limit: float) -> str:
    """The page."""
    lines = [
        "# Memory from ample to infeasible", "",
        f"{found['graph'].nunique()} networks on four GPUs of two kinds, {limit:g} s a run, one"
        " thread, one seed; memory of every device as a multiple of an even share of what the"
        " network holds (weights and outputs). Written by `python -m bench.memory_study`.", "",
        *(sentence for problem in PROBLEMS for sentence in _says(found, problem)),
        "![Cost of scarce memory, and who finds an answer](memory.svg)", "",
    ]  # fmt: skip
    shown: dict[str, Any] = {
        "problem": str, "factor": lambda v: f"{v:g}", "entry": str, "networks": str,
        "answered": str, "refuted": str, "cost": lambda v: "" if pd.isna(v) else f"{v:.3f}",
    }  # fmt: skip
    titles = {"factor": "memory", "cost": "over ample"}
    return "\n".join([*lines, *table(summary(found), shown, titles), ""])


def _says(found: pd.DataFrame, problem: str) -> list[str]:
    """What the runs of one problem say, a paragraph; nothing without runs."""
    mine = found[found["problem"] == problem]
    if mine.empty:
        return []
    possible = mine[mine["factor"] >= 1]
    tight = possible["factor"].min()
    last = possible[possible["factor"] == tight]
    best = study.mean(last.groupby("graph")["cost"].min())
    answered = ", ".join(
        f"`{entry}` {part['objective'].count()} of {len(part)}"
        for entry, part in possible.groupby("entry", sort=False)
    )
    none = mine[mine["factor"] < 1]
    said = ", ".join(
        f"`{entry}` {int(part['infeasible'].sum())} of {len(part)}"
        for entry, part in none.groupby("entry", sort=False)
    )
    return [
        f"* {problem}: with {tight:g} times an even share"
        + (
            f" the best answer found costs {best:.3f} times as much as with ample memory (geometric"
            " mean)"
            if best == best
            else " no answer was found"
        )
        + f". Where memory suffices in sum an answer is found by {answered}."
        + (f" Where it does not, it is said so by {said}." if said else ""),
        "",
    ]


def draw(found: pd.DataFrame, path: Path) -> None:
    """Cost and share of answers against memory, a row a problem and a line an entry."""
    every = summary(found)
    problems = list(dict.fromkeys(every["problem"]))
    names = list(dict.fromkeys(every["entry"]))
    # Equal steps: most limits are close to 1.
    ticks = sorted(set(every["factor"]))
    with drawing(path, 9.4, 0.8 + 2.7 * len(problems)) as figure:
        axes = figure.subplots(len(problems), 2, squeeze=False, sharex=True)
        for (cost, share), problem in zip(axes, problems, strict=True):
            for entry, part in every[every["problem"] == problem].groupby("entry", sort=False):
                part = part.sort_values("factor")
                look = {"color": COLOURS[names.index(str(entry))], "marker": "o", "markersize": 3}
                at = [ticks.index(each) for each in part["factor"]]
                cost.plot(at, part["cost"], **look)
                share.plot(at, part["answered"] / part["networks"], **look)
            cost.set_title(f"{problem}: objective over ample memory")
            share.set_title(f"{problem}: share of networks with an answer")
            share.set_ylim(-0.03, 1.03)
        for panel in axes[-1]:
            panel.set_xticks(range(len(ticks)), [f"{each:g}" for each in ticks])
            panel.set_xlabel("memory over an even share")
        from matplotlib.lines import Line2D  # an extra, and slow to load

        handles = [Line2D([], [], color=COLOURS[i], label=each) for i, each in enumerate(names)]
        figure.legend(handles=handles, loc="outside upper center", ncols=len(names))


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the runs that are missing, print the page; with ``--save`` write it and the figure."""
    given = study.parser("bench.memory_study", __doc__, "3s").parse_args(arguments)
    made = cases(Library())
    records = study.runs(given, [each for each, _ in made.values()], list(ENTRIES))
    found = rows(study.outcomes(records, {d: label for d, (_, label) in made.items()}))
    study.report(given, "memory", found, markdown(found, given.time), draw)
    return 0


if __name__ == "__main__":
    sys.exit(study.guarded(main))
