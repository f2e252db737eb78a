"""The curves of a section: ECDF of gaps, gap against time (anytime), gap and time against size."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from bench import metrics, results
from bench.leaderboard.board import Section
from bench.records import Record

# Told apart by people with any colour vision, on white and on black (Okabe and Ito 2008).
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#8c7a00", "#999999")
DASHES = ("solid", "dash", "dot", "dashdot")
POINTS = 41  # of time, from a thousandth of the limit to the limit, at equal ratios
BINS_A_DECADE = 3  # of nodes
_DIGITS = 4


def look(i: int) -> dict[str, str]:
    """Colour and dash of the i-th curve."""
    return {
        "color": COLOURS[i % len(COLOURS)],
        "dash": DASHES[i // len(COLOURS) % len(DASHES)],
    }


def ecdf(section: Section) -> list[dict[str, Any]]:
    """ECDF of both gaps, and of z / z of the best entry less 1 (Dolan and More), of every entry.

    The denominator is all instances of the section.
    """
    found = []
    ratios = metrics.performance_profile(_objectives(section))
    for i, standing in enumerate(section.standings):
        cells = [row.cells[standing.entry] for row in section.rows]
        best = [c.gap_best if c is not None else np.inf for c in cells]
        bound = [c.gap_bound if c is not None and c.answered == c.runs else np.inf for c in cells]
        found.append(
            {
                "name": standing.entry,
                **look(i),
                "best": [short(each) for each in metrics.profile(best)],
                "bound": [short(each) for each in metrics.profile(bound)],
                "ratio": [short(ratios[i][0] - 1), short(ratios[i][1])],
            }
        )
    return found


def _objectives(section: Section) -> np.ndarray:
    """Instances x entries in the order of the standings; inf unless every run answered."""
    cells = [[row.cells[s.entry] for s in section.standings] for row in section.rows]
    return np.array(
        [
            [np.inf if c is None or c.answered < c.runs else c.objective for c in row]
            for row in cells
        ],
        float,
    )


def times(limit: float) -> np.ndarray:
    """Seconds at which anytime curves are read, shape (POINTS,)."""
    return np.geomspace(limit / 1000, limit, POINTS)


def gaps(record: Record, best: float | None, at: np.ndarray) -> np.ndarray:
    """Primal gap of a run to `best` at each time; 1 before its first answer, and without any.

    Parameters
    ----------
    at : float64 array, shape (T,)
        Seconds, ascending.

    Returns
    -------
    float64 array, shape (T,)
    """
    result = np.ones(len(at))
    z = record.objective
    if record.check != "ok" or z is None or best is None:
        return result
    t, value = np.array(results.trace(record), float).T
    largest = np.maximum(value, best)
    gap = np.divide(np.abs(value - best), largest, out=np.zeros_like(value), where=largest > 0)
    last = np.searchsorted(t, at, side="right") - 1
    result[last >= 0] = gap[last[last >= 0]]
    return result


def anytime(section: Section, runs: Mapping[str, Iterable[Record]], limit: float) -> dict[str, Any]:
    """Mean primal gap of every entry against time: seeds averaged first, then instances.

    Parameters
    ----------
    runs : mapping of str to iterable of Record
        Digest of the instance -> runs on it.

    Returns
    -------
    dict
        `t` in seconds, and `curves` of `name`, `gap` and looks, in the order of the standings. An
        instance that an entry was not run on counts as a gap of 1.
    """
    at = times(limit)
    sums = {s.entry: np.zeros(len(at)) for s in section.standings}
    for row in section.rows:
        for name, value in on_instance(runs.get(row.digest, ()), row.known.objective, at).items():
            if name in sums:
                sums[name] += value
    total = len(section.rows)
    covered = {
        s.entry: sum(row.cells[s.entry] is not None for row in section.rows)
        for s in section.standings
    }
    return {
        "t": short(at),
        "curves": [
            {
                "name": s.entry,
                **look(i),
                "gap": short((sums[s.entry] + (total - covered[s.entry])) / total),
            }
            for i, s in enumerate(section.standings)
        ],
    }


def on_instance(
    runs: Iterable[Record], best: float | None, at: np.ndarray
) -> dict[str, np.ndarray]:
    """Primal gap at each time of every entry on one instance, mean over its seeds."""
    found: dict[str, list[np.ndarray]] = {}
    for record in runs:
        found.setdefault(record.entry, []).append(gaps(record, best, at))
    return {name: np.mean(each, axis=0) for name, each in found.items()}


def scaling(section: Section) -> list[dict[str, Any]]:
    """Means of gap and time of every entry over the instances of like size.

    Sizes are numbers of nodes, three bins a decade. Of a bin: `n`, the geometric mean of its
    sizes; `count` of instances; `best` and `bound`, mean primal gap to the best known and mean gap
    to the bound (1 without an answer, and where it was not run); `time`, mean seconds over the
    runs that there are (the limit without a valid answer).
    """
    bins: dict[int, list[int]] = {}
    for i, row in enumerate(section.rows):
        if row.n:
            bins.setdefault(math.floor(BINS_A_DECADE * math.log10(row.n) + 1e-9), []).append(i)
    where = {name: i for i, name in enumerate(s.entry for s in section.standings)}
    rows, entries = len(section.rows), len(where)
    best, bound = np.ones((rows, entries)), np.ones((rows, entries))
    time = np.full((rows, entries), np.nan)
    for i, row in enumerate(section.rows):
        for name, cell in row.cells.items():
            if cell is not None:
                best[i, where[name]] = cell.primal_gap
                bound[i, where[name]] = cell.gap_bound
                time[i, where[name]] = cell.time_s
    sizes = np.array([row.n or 0 for row in section.rows], float)
    found = []
    for name, j in where.items():
        curve: dict[str, Any] = {"name": name, **look(j)}
        members = [np.array(bins[each]) for each in sorted(bins)]
        curve["n"] = short([float(np.exp(np.log(sizes[m]).mean())) for m in members])
        curve["count"] = [len(m) for m in members]
        curve["best"] = short([best[m, j].mean() for m in members])
        curve["bound"] = short([bound[m, j].mean() for m in members])
        curve["time"] = [
            short([np.nanmean(time[m, j])])[0] if np.isfinite(time[m, j]).any() else None
            for m in members
        ]
        found.append(curve)
    return found


def short(values: np.ndarray | Sequence[float]) -> list[float]:
    """Numbers to the digits that a picture shows."""
    return [float(f"{value:.{_DIGITS}g}") for value in values]
