"""Exact, splitting and portfolio against the size of the graph.

``python -m bench.size_study --jobs 2 --save`` generates layered graphs of 25 to 800 nodes with the
operators of Inception v3 and BERT, for four GPUs of two servers (modelled), and runs an exact
entry, modularity splitting and the portfolio under one limit: what is proved, how far the answers
are from the best bound known, and when they came.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bench import study
from bench.figures import COLOURS, drawing
from bench.headline import CLOSED
from bench.markdown import percent, seconds, table
from bench.metrics import compatible
from bench.records import Record
from problems.bounds.theoretical import theoretical
from problems.catalogue import Library
from problems.generate.platforms import cluster
from problems.generate.scaling import Generated, generate
from problems.generate.scaling_shapes import Layered
from problems.instance import Instance, InstanceSpec

SIZES = (25, 50, 100, 200, 400, 800)
SEEDS = (1, 2)
PALETTE = ("inceptionv3", "bert-base")
KINDS: dict[str, tuple[str, dict[str, Any], str]] = {
    "throughput": ("throughput", {}, "assign@highs"),
    "contiguous": ("throughput", {"contiguous": True}, "prefix@highs"),
    "latency": ("latency", {}, "intervals"),
}
"""Problem, rules and exact entry."""
OTHERS = ("splitting", "portfolio")
SERVERS = [("a100", 2, "nvlink3"), ("v100", 2, "nvlink2")]
NETWORK = "infiniband-hdr"


def cases(
    library: Library,
    sizes: Sequence[int] = SIZES,
    seeds: Sequence[int] = SEEDS,
    kinds: Sequence[str] = tuple(KINDS),
) -> dict[str, tuple[Instance, dict[str, Any]]]:
    """Instances with what they are called, by digest."""
    found = {}
    platform = cluster("two-servers", SERVERS, NETWORK, "four GPUs of two servers")
    graphs = [library.graph(name) for name in PALETTE]
    for n in sizes:
        for seed in seeds:
            name = f"layered-{n}-s{seed}"
            graph = generate(name, Generated(Layered(), n, seed, list(PALETTE)), graphs)
            for kind in kinds:
                problem, rules, _ = KINDS[kind]
                spec = InstanceSpec(name, platform.name, problem, rules=rules)
                made = study.instance(library, spec, platform, graph)
                label = {
                    "kind": kind, "nodes": made.n, "graph": seed, "bound": theoretical(made).value,
                }  # fmt: skip
                found[made.digest] = made, label
    return found


def rows(raw: pd.DataFrame) -> pd.DataFrame:
    """Every run with `way` (exact, splitting, portfolio), `best` bound, `gap` and `proved`.

    The best bound of an instance is the largest of the cheap ones and of those that its runs
    proved.

    Raises
    ------
    ValueError
        If a proof lies above an answer.
    """
    key = ["kind", "nodes", "graph"]
    # A proof is within the solver's tolerance.
    claimed = raw["claimed"].fillna(0.0) * (1 - CLOSED)
    found = raw.assign(best=np.maximum(raw["bound"], claimed))
    found["best"] = found.groupby(key)["best"].transform("max")
    for row in found.dropna(subset=["objective"]).to_dict("records"):
        if not compatible(row["objective"], row["best"]):
            raise ValueError(f"{row['kind']}, {row['nodes']} nodes: a bound above an answer")
    found["gap"] = ((found["objective"] - found["best"]) / found["objective"]).clip(lower=0.0)
    found["proved"] = found["claimed"] >= found["objective"] * (1 - CLOSED)
    found["way"] = [each if each in OTHERS else "exact" for each in found["entry"]]
    return found


def summary(found: pd.DataFrame) -> pd.DataFrame:
    """One row a kind, size and way: counts, mean gap and geometric mean of the last improvement."""
    grouped = found.groupby(["kind", "nodes", "way"], sort=False)
    return grouped.agg(
        instances=("objective", "size"),
        answered=("objective", "count"),
        proved=("proved", "sum"),
        gap=("gap", "mean"),
        last=("last", lambda each: study.mean(each.clip(lower=1e-3))),
        wall=("wall", "mean"),
    ).reset_index()


def markdown(found: pd.DataFrame, limit: float) -> str:
    """The page."""
    every = summary(found)
    said = []
    for kind in dict.fromkeys(every["kind"]):
        mine = every[every["kind"] == kind]
        exact = mine[mine["way"] == "exact"]
        all_proved = exact[exact["proved"] == exact["instances"]]["nodes"]
        largest = mine[mine["nodes"] == mine["nodes"].max()]
        gaps = ", ".join(
            f"{row['way']} {percent(row['gap']) or 'has no answer'}"
            for row in largest.to_dict("records")
        )
        said.append(
            f"* {kind}: the exact entry proves all graphs"
            + (f" up to {int(all_proved.max())} nodes" if len(all_proved) else " of no size")
            + f"; at {int(mine['nodes'].max())} nodes the gaps to the best bound known are {gaps}."
        )
    exacts = ", ".join(f"`{entry}` ({kind})" for kind, (_, _, entry) in KINDS.items())
    lines = [
        "# Exact, splitting and portfolio against size", "",
        f"Layered graphs, {found['graph'].nunique()} of each size, on four GPUs of two servers;"
        f" {limit:g} s a run, one thread, one seed. Exact: {exacts}. Written by"
        " `python -m bench.size_study`.", "", *said, "",
        "![Gap and time against nodes](size.svg)", "",
    ]  # fmt: skip
    shown: dict[str, Any] = {
        "kind": str, "nodes": str, "way": str, "instances": str, "answered": str, "proved": str,
        "gap": percent, "last": seconds, "wall": seconds,
    }  # fmt: skip
    titles = {"last": "last improvement", "wall": "time"}
    return "\n".join([*lines, *table(every, shown, titles), ""])


def draw(found: pd.DataFrame, path: Path) -> None:
    """Mean gap and time to the last improvement against nodes, a column a kind."""
    every = summary(found)
    kinds = list(dict.fromkeys(every["kind"]))
    with drawing(path, 9.4, 5.4) as figure:
        axes = figure.subplots(2, len(kinds), squeeze=False, sharex=True, sharey="row")
        for column, kind in enumerate(kinds):
            mine = every[every["kind"] == kind]
            for i, way in enumerate(("exact", *OTHERS)):
                part = mine[mine["way"] == way].sort_values("nodes")
                look: dict[str, Any] = {"color": COLOURS[i], "marker": "o", "markersize": 3}
                label = way if column == 0 else None
                axes[0][column].plot(part["nodes"], part["gap"], label=label, **look)
                axes[1][column].plot(part["nodes"], part["last"], **look)
            axes[0][column].set_title(kind)
            axes[1][column].set_xscale("log")
            sizes = sorted(set(mine["nodes"]))
            axes[1][column].set_xticks(sizes, [f"{each:,}" for each in sizes])
            axes[1][column].tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
            axes[1][column].set_yscale("log")
            axes[1][column].set_xlabel("nodes")
        axes[0][0].set_ylabel("gap to the best bound")
        axes[1][0].set_ylabel("seconds to the last answer")
        figure.legend(loc="outside upper center", ncols=3)


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the runs that are missing, print the page; with ``--save`` write it and the figure."""
    given = study.parser("bench.size_study", __doc__, "5s").parse_args(arguments)
    made = cases(Library())
    records: list[Record] = []
    for kind, (_, _, exact) in KINDS.items():
        mine = [each for each, label in made.values() if label["kind"] == kind]
        records += study.runs(given, mine, [exact, *OTHERS])
    found = rows(study.outcomes(records, {d: label for d, (_, label) in made.items()}))
    study.report(given, "size", found, markdown(found, given.time), draw)
    return 0


if __name__ == "__main__":
    sys.exit(study.guarded(main))
