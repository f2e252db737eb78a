"""What model parallelism, data parallelism and both gain over the best single device.

``python -m bench.parallelism_study --jobs 2 --save`` places captured networks on every platform
below. Latency of one sample can only gain from model parallelism (one mapping). Throughput has
three ways: one mapping, whole copies of the network (a device each), and mixtures of mappings,
which both others are cases of, with the bound that no mixture is above.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from bench import study
from bench.figures import COLOURS, drawing
from bench.markdown import table
from problems.bounds.theoretical import theoretical
from problems.catalogue import Library
from problems.instance import Instance, InstanceSpec
from problems.single import best_single

GRAPHS = ("inceptionv3", "resnet50", "bert-base", "gpt2", "clip", "moe")
PLATFORMS = ("quad-eth1g", "server-4gpu")
ENTRIES = {"model": "portfolio", "copies": "copies", "mixture": "mixture"}
"""One mapping, whole copies, and both."""
WAYS = {
    "latency": "latency, one mapping",
    "model": "throughput, one mapping",
    "copies": "throughput, whole copies",
    "both": "throughput, mixture",
}


def cases(
    library: Library, graphs: Sequence[str] = GRAPHS, platforms: Sequence[str] = PLATFORMS
) -> dict[str, tuple[Instance, dict[str, Any]]]:
    """Instances with what they are called, by digest: three a network and platform."""
    found = {}
    for platform in platforms:
        for graph in graphs:
            for problem, kind in (("latency", "model"), ("throughput", "model"),
                                  ("throughput", "mixed")):  # fmt: skip
                rules = {"replicate": "mixture"} if kind == "mixed" else {}
                spec = InstanceSpec(graph, platform, problem, rules=rules)
                made = study.instance(library, spec)
                single = best_single(made)
                label = {
                    "graph": graph, "platform": platform, "problem": problem, "kind": kind,
                    "nodes": made.n, "devices": made.K,
                    "single": float("nan") if single is None else single[1],
                    "bound": theoretical(made).value,
                }  # fmt: skip
                found[made.digest] = made, label
    return found


def rows(found: pd.DataFrame) -> pd.DataFrame:
    """One row a network and platform.

    Returns
    -------
    DataFrame
        Columns `graph`, `platform`, `nodes`, `devices`; for latency and for the ways of throughput
        how many times as good as the best single device the best answer is, and, as
        `latency most` and `both most`, what the bound allows.
    """
    lines = []
    for (platform, graph), part in found.groupby(["platform", "graph"], sort=False):
        late = part[part["problem"] == "latency"]
        mixed, one = (
            part[(part["problem"] == "throughput") & (part["kind"] == kind)]
            for kind in ("mixed", "model")
        )
        model = _gain(one["single"], one["objective"])
        copies, mixture = (
            _gain(mine["single"], mine["objective"])
            for mine in (mixed[mixed["entry"] == ENTRIES[each]] for each in ("copies", "mixture"))
        )
        bound = max(mixed["bound"].max(), mixed["claimed"].max(skipna=True))
        lines.append(
            {
                "graph": graph, "platform": platform, "nodes": int(late["nodes"].iloc[0]),
                "devices": int(late["devices"].iloc[0]),
                "latency": _gain(late["single"], late["objective"]),
                "latency most": float(late["single"].iloc[0] / late["bound"].max()),
                "model": model, "copies": copies,
                # One mapping and whole copies are mixtures, too.
                "both": max((v for v in (model, copies, mixture) if v == v), default=float("nan")),
                "both most": float(mixed["single"].iloc[0] / bound),
            }
        )  # fmt: skip
    return pd.DataFrame(lines)


def _gain(single: pd.Series[float], objective: pd.Series[float]) -> float:
    """The best single device over the best answer; NaN without one."""
    return float((single / objective).max())


def markdown(found: pd.DataFrame, limit: float) -> str:
    """The page."""
    proved = int((found["both"] >= found["both most"] * (1 - 2e-6)).sum())
    means: dict[str, float] = {each: study.mean(found[each]) for each in WAYS}
    over = study.mean(found["both"] / found[["model", "copies"]].max(axis=1))
    lines = [
        "# Model parallelism, data parallelism, and both", "",
        f"{len(found)} pairs of network and platform, {limit:g} s a run, one thread, one seed."
        " Against the best single device, geometric means: one mapping over several devices makes"
        f" the latency of a sample {means['latency']:.2f} times as good"
        f" ({found['latency'].max():.2f} at most); for throughput one mapping gives"
        f" {means['model']:.2f} times as many samples a second, whole copies"
        f" {means['copies']:.2f} times, mixtures of mappings {means['both']:.2f} times"
        f" ({found['both'].max():.2f} at most), which is {100 * (over - 1):.1f} % over the better"
        f" of the two ways alone. {proved} of {len(found)} mixtures are proved to be the best"
        " ones. Written by `python -m bench.parallelism_study`; `most` is what the lower bound"
        " allows.", "",
        "![Gain over the best single device](parallelism.svg)", "",
    ]  # fmt: skip
    shown: dict[str, Any] = {"graph": str, "platform": str, "nodes": str, "devices": str}
    shown |= {each: _times for each in found.columns if each not in shown}
    titles = {"model": "one mapping", "copies": "whole copies", "both": "mixture",
              "both most": "mixture, most"}  # fmt: skip
    return "\n".join([*lines, *table(found, shown, titles), ""])


def _times(value: float) -> str:
    return "" if pd.isna(value) else f"{value:.3f}"


def draw(found: pd.DataFrame, path: Path) -> None:
    """Bars by network, one panel a platform; ticks show what the bounds allow."""
    platforms = list(dict.fromkeys(found["platform"]))
    most: Mapping[str, str] = {"latency": "latency most", "both": "both most"}
    with drawing(path, 9.4, 0.8 + 2.6 * len(platforms)) as figure:
        panels = figure.subplots(len(platforms), 1, squeeze=False)[:, 0]
        for panel, platform in zip(panels, platforms, strict=True):
            mine = found[found["platform"] == platform].reset_index(drop=True)
            for i, (way, label) in enumerate(WAYS.items()):
                at = mine.index + 0.2 * (i - 1.5)
                first = platform == platforms[0]
                panel.bar(at, mine[way], 0.18, color=COLOURS[i], label=label if first else None)
                if way in most:
                    panel.scatter(at, mine[most[way]], marker="_", s=90, color="#000000")
            panel.axhline(1.0, color="#777777", linewidth=0.8)
            panel.set_xticks(mine.index, mine["graph"])
            panel.set_title(platform)
        figure.supylabel("times as good as the best single device")
        figure.legend(loc="outside upper center", ncols=len(WAYS))


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the runs that are missing, print the page; with ``--save`` write it and the figure."""
    given = study.parser("bench.parallelism_study", __doc__, "10s").parse_args(arguments)
    made = cases(Library())
    # Each entry refuses what is not its kind: `portfolio` mixtures, the others single mappings.
    records = study.runs(given, [each for each, _ in made.values()], list(ENTRIES.values()))
    raw = study.outcomes(records, {digest: label for digest, (_, label) in made.items()})
    found = rows(raw)
    study.report(given, "parallelism", found, markdown(found, given.time), draw)
    return 0


if __name__ == "__main__":
    sys.exit(study.guarded(main))
