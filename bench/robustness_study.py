"""Whether the ranking of methods holds when times are not what the profile says.

``python -m bench.robustness_study --save`` makes no runs. It takes the answers of published runs on
platforms of measured devices, draws the time of every operator on every device anew from what its
repeats spread over, and evaluates all answers again: how much objectives move, and whether the
methods keep their order (Kendall's tau-b with the order of the profile) and the best its place.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse, stats

from bench import study
from bench.figures import COLOURS, drawing
from bench.leaderboard import gather
from bench.markdown import percent, table
from problems import latency
from problems.answer import Answer, from_file
from problems.catalogue import CatalogueEntry, Library
from problems.coarsen import coarsen
from problems.files import FileError
from problems.instance import Instance
from solvers import objective

RECORDS = tuple(Path("results/records") / f"{name}.jsonl" for name in ("baseline", "study"))
DRAWS = 200
LEAST = 3
"""Methods that an instance must have answers of."""
TIE = 1e-9


@dataclass(frozen=True, eq=False)
class Spread:
    """What the times of an instance are drawn from.

    Attributes
    ----------
    counts : sparse array, shape (n, S)
        How often a node executes a signature.
    quantiles : float64 array, shape (3, S, F)
        Least, median and largest seconds of a signature by device file.
    file : int64 array, shape (K,)
        Device file of each device.
    """

    counts: sparse.csr_array
    quantiles: np.ndarray
    file: np.ndarray

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Times of all nodes, shape (n, K).

        Half of the draws of a signature are even between least and median, the others between
        median and largest. Devices of one file are alike in every draw, as they are in the profile.
        """
        least, median, most = self.quantiles
        at = 2 * rng.random(median.shape)
        seconds = np.where(
            at < 1, least + at * (median - least), median + (at - 1) * (most - median)
        )
        return np.ascontiguousarray((self.counts @ seconds)[:, self.file])


def spread(library: Library, entry: CatalogueEntry) -> Spread | None:
    """The spread of an instance of the library; None unless every time of it was measured."""
    platform = library.platform(entry.platform)
    names = sorted({device.device for device in platform.devices})
    files = [library.device(name) for name in names]
    if any(file.kind != "measured" or file.kinds for file in files):
        return None
    members = coarsen(library.graph(entry.graph), entry.level).members
    index: dict[str, int] = {}
    pairs = [(v, index.setdefault(s, len(index))) for v, each in enumerate(members) for s in each]
    timings = [[file.times[signature] for file in files] for signature in index]
    if any(timing is None for row in timings for timing in row):
        return None
    of = [[(t.min_s, t.median_s, t.max_s) for t in row if t is not None] for row in timings]
    rows, columns = np.array(pairs, np.int64).reshape(-1, 2).T
    counts = sparse.coo_array(
        (np.ones(len(rows)), (rows, columns)), shape=(len(members), len(index))
    ).tocsr()  # sums what a node executes several times
    file = np.array([names.index(device.device) for device in platform.devices])
    return Spread(counts, np.moveaxis(np.array(of), 2, 0), file)


def drawn(
    instance: Instance, answers: Mapping[str, Answer], times: Spread, draws: int, seed: int = 0
) -> np.ndarray:
    """Objectives under the profile (row 0) and under every draw, shape (1 + draws, answers)."""
    rng = np.random.default_rng(seed)
    if instance.problem == "latency":
        # The order of nodes is the answer's, not one that follows the times drawn.
        answers = {name: latency.complete(instance, each) for name, each in answers.items()}
    worlds = [instance] + [
        dataclasses.replace(instance, time=times.draw(rng)) for _ in range(draws)
    ]
    found = [[objective.value(world, each) for each in answers.values()] for world in worlds]
    return np.array(found, float)


def standing(values: np.ndarray) -> dict[str, float]:
    """What a table of :func:`drawn` says.

    Returns
    -------
    dict of str to float
        `shift`: mean objective over that of the profile, less 1, mean of the methods; `spread`: the
        same, of standard deviations; `tau`: mean of Kendall's tau-b over the draws that it is
        defined for, `least` its 5 % quantile, NaN where all methods tie under the profile;
        `holds`: share of draws in which the best under the profile is the best still; `regret`:
        mean of what it is above the best of the draw.
    """
    # Rounding is no order: equal answers stay equal.
    level = values / values.min(axis=1, keepdims=True)
    rounded = np.round(level / TIE) * TIE
    nominal, noisy = rounded[0], rounded[1:]
    taus = np.array([stats.kendalltau(nominal, each).statistic for each in noisy])
    taus = taus[np.isfinite(taus)]
    ratio = values[1:] / values[0]
    regret = noisy[:, nominal == nominal.min()].min(axis=1) - 1
    return {
        "shift": float(ratio.mean() - 1), "spread": float(ratio.std(axis=0).mean()),
        "tau": float(taus.mean()) if len(taus) else float("nan"),
        "least": float(np.quantile(taus, 0.05)) if len(taus) else float("nan"),
        "holds": float((regret <= TIE).mean()), "regret": float(regret.mean()),
    }  # fmt: skip


def answers_of(
    sources: Iterable[gather.Source], entries: Mapping[str, CatalogueEntry]
) -> dict[str, dict[str, Answer]]:
    """Checked answers of seed 0 by digest and entry; the first source that has one counts.

    Raises
    ------
    FileError
        If an answer is missing.
    """
    found: dict[str, dict[str, Answer]] = {}
    for source in sources:
        for record in source.records:
            known = entries.get(record.digest)
            if known is None or known.problem not in ("latency", "throughput"):
                continue
            if record.check == "ok" and record.seed == 0:
                mine = found.setdefault(record.digest, {})
                if record.entry not in mine:
                    mine[record.entry] = from_file(source.store.get_answer(record.answer))
    return {digest: each for digest, each in found.items() if len(each) >= LEAST}


def rows(library: Library, answers: Mapping[str, Mapping[str, Answer]], draws: int) -> pd.DataFrame:
    """One row an instance: `problem`, `instance`, `methods`, and all of :func:`standing`."""
    lines: list[dict[str, Any]] = []
    for entry in library.entries():
        times = spread(library, entry) if entry.digest in answers else None
        if times is None:
            continue
        values = drawn(library.load(entry.id), answers[entry.digest], times, draws)
        label = {"problem": entry.problem, "instance": entry.id, "methods": values.shape[1]}
        lines.append(label | standing(values))
    return pd.DataFrame(lines)


def markdown(found: pd.DataFrame, draws: int) -> str:
    """The page."""
    means = found.groupby("problem")[list(found.columns[3:])].mean()
    said = "; ".join(
        f"{problem}, {int((found['problem'] == problem).sum())} instances: objectives are"
        f" {percent(m['shift'])} above those of the profile and spread by {percent(m['spread'])},"
        f" tau is {m['tau']:.2f}, and the best method under the profile stays the best in"
        f" {100 * m['holds']:.0f} % of the draws and is {percent(m['regret'])} from the best in"
        " all of them"
        for problem, m in means.iterrows()
    )
    lines = [
        "# Objectives and ranking under noise of the profile", "",
        f"Published answers of {found['methods'].min()} to {found['methods'].max()} methods on"
        f" {len(found)} instances whose devices are measured, evaluated again under {draws} draws"
        " of all times; means over instances. " + said + ". Written by"
        " `python -m bench.robustness_study`, which makes no runs.", "",
        "Every operator is drawn on its own, so that much cancels in sums; a draw is as often"
        " below the median of the repeats as above, up to the largest, which outliers stretch, so"
        " objectives rise on the whole. Times of links are not drawn: their largest are not on"
        " file.", "",
        "![Kendall's tau of every instance](robustness.svg)", "",
    ]  # fmt: skip
    shown: dict[str, Any] = {"problem": str, "instance": str, "methods": str}
    shown |= dict.fromkeys(("shift", "spread"), percent)
    shown |= dict.fromkeys(("tau", "least"), _tau)
    shown |= dict.fromkeys(("holds", "regret"), percent)
    titles = {"least": "tau, 5 %", "holds": "best stays best"}
    return "\n".join([*lines, *table(found, shown, titles), ""])


def _tau(value: float) -> str:
    return "" if pd.isna(value) else f"{value:.2f}"


def draw(found: pd.DataFrame, path: Path) -> None:
    """Tau against the spread of the objective, and regret, one dot an instance."""
    with drawing(path) as figure:
        axes = figure.subplots(1, 2)
        for panel, value, label in zip(
            axes, ("tau", "regret"), ("mean of Kendall's tau", "mean regret of the best"),
            strict=True,
        ):  # fmt: skip
            for i, (problem, part) in enumerate(found.groupby("problem")):
                panel.scatter(
                    part["methods"], part[value], s=16, color=COLOURS[i], alpha=0.8,
                    label=problem if value == "tau" else None,
                )  # fmt: skip
            panel.set_xlabel("methods")
            panel.set_ylabel(label)
        figure.legend(loc="outside upper center", ncols=2)


def main(arguments: Sequence[str] | None = None) -> int:
    """Evaluate, print the page; with ``--save`` write it and the figure."""
    parser = argparse.ArgumentParser(prog="python -m bench.robustness_study", description=__doc__)
    text = "published records (default: those of the baseline and of the study)"
    parser.add_argument("--records", type=Path, action="append", metavar="FILE", help=text)
    parser.add_argument("--draws", type=study.positive, default=DRAWS, metavar="N")
    parser.add_argument("--save", action="store_true", help=f"write to {study.STUDIES}")
    study.output(parser)
    given = parser.parse_args(arguments)
    library = Library()
    entries = {entry.digest: entry for entry in library.entries()}
    try:
        sources = [gather.from_file(path) for path in given.records or RECORDS]
        answers = answers_of(sources, entries)
    except FileError as error:
        raise ValueError(str(error)) from None
    found = rows(library, answers, given.draws)
    if found.empty:
        raise ValueError(f"no instance of measured devices has answers of {LEAST} methods there")
    study.report(given, "robustness", found, markdown(found, given.draws), draw)
    return 0


if __name__ == "__main__":
    sys.exit(study.guarded(main))
