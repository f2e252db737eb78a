"""Repeated layers: blocks of consecutive nodes that follow one another, all alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from problems.instance import Instance
from problems.symmetry._refine import Structure

NEXT = 12
"""How often one layer may have a node of each kind, for its period to be tried."""


@dataclass(frozen=True)
class Repeat:
    """`times` blocks of `period` nodes each, from node `first` on.

    Block i is the nodes first + i * period to first + (i + 1) * period - 1.
    """

    first: int
    period: int
    times: int


def repeats(instance: Instance, most: int = 128) -> list[Repeat]:
    """Runs of blocks that repeat, those that cover most nodes first, none overlapping another.

    A shift by p repeats node v where v and v + p have equal times on every device, bytes, phase
    and payload times, and read the same: what v + p reads pairs one to one with what v reads, each
    u with u + p or with u itself (a mask or a table that all layers read). A run is a longest
    stretch of at least p such nodes, with the p nodes after it: two blocks or more, all equal up
    to a shift. The numbering is the instance's; layers that it interleaves are not seen. Groups
    and shared weights play no part: blocks are alike, which is less than an automorphism.

    Parameters
    ----------
    most : int
        Periods that are tried at most, the commonest distances first from a node to the next
        :data:`NEXT` ones of equal costs.
    """
    kind = Structure(instance).costs[: instance.n]
    chosen: list[Repeat] = []
    taken = np.zeros(instance.n, bool)
    # Most covered, then the shortest period: four blocks, not two twice as long.
    found = [each for period in _periods(kind, most) for each in _runs(instance, kind, period)]
    for run in sorted(found, key=lambda r: (-r.times * r.period, r.period, r.first)):
        part = slice(run.first, run.first + run.times * run.period)
        if not taken[part].any():
            taken[part] = True
            chosen.append(run)
    return chosen


def _periods(kind: np.ndarray, most: int) -> list[int]:
    """Distances from a node to the next ones of its kind, commonest first."""
    order = np.argsort(kind, kind="stable")
    sorted_kind = kind[order]
    distances = [
        (order[step:] - order[:-step])[sorted_kind[step:] == sorted_kind[:-step]]
        for step in range(1, NEXT + 1)
    ]
    distance, count = np.unique(np.concatenate(distances), return_counts=True)
    return [int(each) for each in distance[np.lexsort((distance, -count))][:most]]


def _runs(instance: Instance, kind: np.ndarray, period: int) -> list[Repeat]:
    n = instance.n
    alike = kind[: n - period] == kind[period:]
    degree = np.diff(instance.pred_ptr)
    alike &= degree[: n - period] == degree[period:]
    for v in np.flatnonzero(alike).tolist():
        ours = instance.pred[instance.pred_ptr[v] : instance.pred_ptr[v + 1]]
        theirs = instance.pred[instance.pred_ptr[v + period] : instance.pred_ptr[v + period + 1]]
        alike[v] = _shifted(set(ours.tolist()), set(theirs.tolist()), period)
    padded = np.concatenate([[False], alike, [False]])
    starts = np.flatnonzero(~padded[:-1] & padded[1:])
    ends = np.flatnonzero(padded[:-1] & ~padded[1:])
    return [
        Repeat(int(a), period, int(b - a) // period + 1)
        for a, b in zip(starts, ends, strict=True)
        if b - a >= period
    ]


def _shifted(ours: set[int], theirs: set[int], period: int) -> bool:
    """Whether what v + period reads is what v reads, each shifted or the same."""
    left = set(ours)
    for u in sorted(theirs):
        # The last that a producer one period back can be paired with, so it goes first.
        for source in (u - period, u):
            if source in left:
                left.remove(source)
                break
        else:
            return False
    return True  # as many: the caller has seen to it
