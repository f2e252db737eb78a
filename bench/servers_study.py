"""A large language model over one to eight servers of unlike devices.

``python -m bench.servers_study --jobs 2 --save`` places the captured Llama 2 of 32 and of 80 layers
(7 and 70 billion parameters, single precision) on clusters of servers with four GPUs each
(modelled), no two next to each other alike: latency of a sample, and throughput as a pipeline.
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
from bench.markdown import percent, table
from problems.bounds.theoretical import theoretical
from problems.catalogue import Library
from problems.generate.platforms import cluster
from problems.instance import Instance, InstanceSpec
from problems.single import best_single

GRAPHS = {"llama2-7b": 32, "llama2-70b": 80}
"""Layers by graph."""
SERVERS = ("a100", "v100", "l4", "h100", "t4", "a100", "v100", "h100")
INSIDE = {"h100": "nvlink4", "a100": "nvlink3", "v100": "nvlink2", "l4": "pcie4-x16",
          "t4": "pcie3-x16"}  # fmt: skip
NETWORK = "infiniband-hdr"
EACH = 4
COUNTS = (1, 2, 4, 8)
PROBLEMS: dict[str, dict[str, Any]] = {"latency": {}, "throughput": {"contiguous": True}}
ENTRIES = ("splitting", "multilevel", "portfolio")


def cases(
    library: Library,
    graphs: Sequence[str] = tuple(GRAPHS),
    counts: Sequence[int] = COUNTS,
    problems: Sequence[str] = tuple(PROBLEMS),
) -> dict[str, tuple[Instance, dict[str, Any]]]:
    """Instances with what they are called, by digest."""
    found = {}
    for problem in problems:
        for graph in graphs:
            for count in counts:
                name = f"servers-{count}"
                servers = [(gpu, EACH, INSIDE[gpu]) for gpu in SERVERS[:count]]
                platform = cluster(name, servers, NETWORK, "servers of unlike GPUs")
                spec = InstanceSpec(graph, name, problem, level="parent", rules=PROBLEMS[problem])
                made = study.instance(library, spec, platform)
                held = int(made.node_bytes.sum() + made.shared_bytes.sum())
                single = best_single(made)
                label = {
                    "problem": problem, "graph": graph, "layers": GRAPHS.get(graph, 0),
                    "nodes": made.n, "servers": count, "devices": made.K,
                    "memory": float(made.memory.sum()) / held,
                    "single": float("nan") if single is None else single[1],
                    "bound": theoretical(made).value,
                }  # fmt: skip
                found[made.digest] = made, label
    return found


def rows(raw: pd.DataFrame) -> pd.DataFrame:
    """Every run with `gap` to the bound, and `over`: the best of the fewest servers that do.

    `over` is how many times as good as with the fewest servers on which anything was found.
    """
    found = raw.copy()
    found["gap"] = (found["objective"] - found["bound"]) / found["objective"]
    best = found.groupby(["problem", "graph", "servers"])["objective"].min().dropna()
    fewest = best.groupby(level=["problem", "graph"]).first().rename("first")
    found = found.merge(fewest, how="left", on=["problem", "graph"])
    found["over"] = found["first"] / found["objective"]
    return found.drop(columns="first")


def best_of(found: pd.DataFrame) -> pd.DataFrame:
    """The best run a problem, graph and number of servers; the first row where none answered."""
    key = ["problem", "graph", "servers"]
    by = found.sort_values([*key, "objective"], kind="stable", na_position="last")
    return by.groupby(key, sort=False).head(1).reset_index(drop=True)


def markdown(found: pd.DataFrame, limit: float) -> str:
    """The page."""
    said = []
    for (problem, graph), part in best_of(found).groupby(["problem", "graph"], sort=False):
        some = part.dropna(subset=["objective"])
        if some.empty:
            said.append(f"* {graph}, {problem}: no answer was found.")
            continue
        first, last = some.iloc[0], some.iloc[-1]
        single = last["single"] / last["objective"]
        said.append(
            f"* {graph} ({int(first['layers'])} layers), {problem}: answers from"
            f" {int(first['servers'])} server(s) on; {int(last['servers'])} are"
            f" {last['over']:.2f} times as good, {percent(last['gap'])} from the bound"
            + (f", and {single:.2f} times as good as the best single device"
               if np.isfinite(single) else "; no single device holds it") + "."
        )  # fmt: skip
    lines = [
        "# A large language model on one to eight servers of unlike devices", "",
        f"Llama 2 (captured shapes, single precision, level `parent`) on servers of {EACH} GPUs:"
        f" {', '.join(SERVERS)}, in this order; {limit:g} s a run, one thread, one seed."
        " `throughput` is a pipeline (`contiguous`). Written by `python -m bench.servers_study`.",
        "", *said, "", "![Gain and gap against servers](servers.svg)", "",
    ]  # fmt: skip
    shown: dict[str, Any] = {
        "problem": str, "graph": str, "nodes": str, "servers": str, "devices": str,
        "memory": lambda v: f"{v:.2f}", "entry": str,
        "objective": lambda v: "none" if pd.isna(v) else f"{1000 * v:.4g} ms",
        "gap": percent, "over": lambda v: "" if pd.isna(v) else f"{v:.2f}",
    }  # fmt: skip
    titles = {"memory": "memory / needed", "over": "over fewest"}
    return "\n".join([*lines, *table(found, shown, titles), ""])


def draw(found: pd.DataFrame, path: Path) -> None:
    """Gain over the fewest servers, and gap, against servers; one line a graph and entry."""
    names = list(dict.fromkeys(found["entry"]))
    with drawing(path, 9.4, 6.2) as figure:
        problems = list(dict.fromkeys(found["problem"]))
        axes = figure.subplots(2, len(problems), squeeze=False, sharex=True)
        for column, problem in enumerate(problems):
            mine = found[found["problem"] == problem]
            for (graph, entry), part in mine.groupby(["graph", "entry"], sort=False):
                part = part.sort_values("servers")
                look: dict[str, Any] = {
                    "color": COLOURS[names.index(str(entry))], "marker": "o", "markersize": 3,
                    "linestyle": "-" if graph == mine["graph"].iloc[0] else "--",
                }  # fmt: skip
                label = f"{graph}, {entry}" if column == 0 else None
                axes[0][column].plot(part["servers"], part["over"], label=label, **look)
                axes[1][column].plot(part["servers"], part["gap"], **look)
            axes[0][column].set_title(problem)
            axes[1][column].set_xlabel("servers")
            axes[1][column].set_ylim(0, 1)
        axes[0][0].set_ylabel("times as good as the fewest")
        axes[1][0].set_ylabel("gap to the bound")
        figure.legend(loc="outside upper center", ncols=3)


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the runs that are missing, print the page; with ``--save`` write it and the figure."""
    given = study.parser("bench.servers_study", __doc__, "10s").parse_args(arguments)
    made = cases(Library())
    records = study.runs(given, [each for each, _ in made.values()], list(ENTRIES))
    found = rows(study.outcomes(records, {d: label for d, (_, label) in made.items()}))
    study.report(given, "servers", found, markdown(found, given.time), draw)
    return 0


if __name__ == "__main__":
    sys.exit(study.guarded(main))
