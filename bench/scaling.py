"""Time and gap against the number of nodes and devices: a study that makes its own runs.

One generated graph (layered, operators of Inception v3 and BERT) of 1,000, 10,000 and 100,000
nodes on clusters of eight servers with one to eight GPUs each, so that nothing but the size
changes. ``python -m bench.scaling --jobs 2 --save`` writes table and figure.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from bench import api, metrics, study
from bench.figures import COLOURS, drawing
from bench.markdown import percent, seconds, table
from bench.records import Record
from problems.bounds.theoretical import theoretical
from problems.catalogue import Library
from problems.generate.platforms import cluster
from problems.instance import Instance, InstanceSpec

GRAPHS = {1_000: "layered-1k-s1", 10_000: "layered-10k-s1", 100_000: "layered-100k-s1"}
PER_SERVER = (1, 2, 4, 8)
GPUS = ("h100", "h100", "a100", "a100", "v100", "v100", "l4", "t4")
INSIDE = {"h100": "nvlink4", "a100": "nvlink3", "v100": "nvlink2", "l4": "pcie4-x16"}
ENTRIES = ("greedy", "heft", "annealing", "portfolio")
NEAR = 0.01
"""An answer within 1 % of a run's last one counts as there."""


def instances(
    library: Library, sizes: Iterable[int] = tuple(GRAPHS), counts: Iterable[int] = PER_SERVER
) -> list[Instance]:
    """The grid: sizes x clusters x problems (free throughput, latency)."""
    found = []
    for n, count, problem in itertools.product(sizes, counts, ("throughput", "latency")):
        servers = [(gpu, count, INSIDE.get(gpu, "pcie3-x16")) for gpu in GPUS]
        name = f"cluster-8x{count}"
        platform = cluster(name, servers, "infiniband-hdr", "for the scaling study")
        spec = InstanceSpec(graph=GRAPHS[n], platform=name, problem=problem)
        found.append(study.instance(library, spec, platform))
    return found


def rows(records: Iterable[Record], bounds: Mapping[str, tuple[int, int, float]]) -> pd.DataFrame:
    """One row a run.

    Parameters
    ----------
    bounds : mapping of str to (int, int, float)
        Nodes, devices and lower bound in seconds, by digest.

    Returns
    -------
    DataFrame
        Columns `problem`, `nodes`, `devices`, `entry`, `first` (seconds to the first answer),
        `near` (to within :data:`NEAR` of the run's last), `wall`, `gap` to the bound.
    """
    result = []
    for record in records:
        n, devices, bound = bounds[record.digest]
        z = record.objective
        times = [t for t, value in record.trace if z is not None and value <= z * (1 + NEAR)]
        result.append(
            {
                "problem": record.problem,
                "nodes": n,
                "devices": devices,
                "entry": record.entry,
                "first": record.trace[0][0] if record.trace else float("nan"),
                "near": times[0] if times else float("nan"),
                "wall": record.wall_s,
                "gap": metrics.gap_to_bound(z, bound),
            }
        )
    return pd.DataFrame(result)


def markdown(found: pd.DataFrame, limit: float) -> str:
    """The study as a Markdown page."""
    lines = [
        "# How methods scale",
        "",
        "Layered graphs with the operators of Inception v3 and BERT on eight servers of one to"
        f" eight GPUs each (modelled); limit {limit:g} s, one thread. `first`: seconds to the first"
        f" answer; `near`: to an answer within {100 * NEAR:g} % of the run's last; `gap`: (z - b)"
        " / z to the cheap lower bound, which is weak for many devices: the true gap is smaller.",
        "",
        "![Time and gap against nodes and devices](scaling.svg)",
        "",
    ]
    columns: dict[str, Any] = {
        "problem": str, "nodes": lambda v: f"{v:,}", "devices": str, "entry": str,
        "first": seconds, "near": seconds, "wall": seconds, "gap": percent,
    }  # fmt: skip
    return "\n".join(lines + table(found, columns)) + "\n"


def draw(found: pd.DataFrame, path: Path) -> None:
    """Time to a near-final answer, and gap, by problem; one line an entry and number of devices."""
    with drawing(path, height=6.6) as figure:
        from matplotlib.lines import Line2D  # an extra, and slow to load

        problems, entries = sorted(set(found["problem"])), list(dict.fromkeys(found["entry"]))
        counts = sorted(set(found["devices"]))
        axes = figure.subplots(2, len(problems), squeeze=False, sharex=True)
        for column, problem in enumerate(problems):
            for row, (value, label) in enumerate(
                (("near", "seconds to an answer near the last"), ("gap", "gap to the bound"))
            ):
                panel = axes[row][column]
                for (entry, devices), part in found[found["problem"] == problem].groupby(
                    ["entry", "devices"], sort=True
                ):
                    part = part.sort_values("nodes")
                    panel.plot(
                        part["nodes"], part[value], marker="o", markersize=3.5,
                        color=COLOURS[entries.index(entry) % len(COLOURS)],
                        linewidth=0.8 + 0.6 * counts.index(devices),
                        alpha=0.45 + 0.5 * counts.index(devices) / max(1, len(counts) - 1),
                    )  # fmt: skip
                panel.set_xscale("log")
                if value == "near":
                    panel.set_yscale("log")
                    panel.set_title(problem)
                else:
                    panel.set_ylim(0, 1)
                    panel.set_xlabel("nodes")
                if column == 0:
                    panel.set_ylabel(label)
        handles = [Line2D([], [], color=COLOURS[i % len(COLOURS)], label=entry)
                   for i, entry in enumerate(entries)]  # fmt: skip
        handles += [Line2D([], [], color="#555555", linewidth=0.8 + 0.6 * i, label=f"{k} devices")
                    for i, k in enumerate(counts)]  # fmt: skip
        figure.legend(handles=handles, loc="outside upper center", ncols=4)


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the runs that are missing, print the table; with ``--save`` write it and the figure."""
    given = study.parser("bench.scaling", __doc__, "10s").parse_args(arguments)
    grid = instances(Library())
    bounds = {each.digest: (each.n, each.K, theoretical(each).value) for each in grid}
    with study.progress() as shown:
        records = api.run(
            grid, ",".join(ENTRIES), store=given.store, time_limit_s=given.time, jobs=given.jobs,
            progress=shown,
        )  # fmt: skip
    found = rows(records, bounds).sort_values(["problem", "nodes", "devices"], kind="stable")
    study.publish(
        given,
        "scaling",
        {
            "md": markdown(found, given.time),
            "csv": str(found.to_csv(index=False, float_format="%.6g", lineterminator="\n")),
        },
    )
    if given.save:
        draw(found, given.output / "scaling.svg")
    return 0


if __name__ == "__main__":
    sys.exit(study.guarded(main))
