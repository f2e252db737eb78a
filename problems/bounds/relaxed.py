"""Bounds of one problem through those of another, whose optimum is no more."""

from __future__ import annotations

import math
from collections.abc import Sequence

from problems.bounds.registry import Bounder, round_down
from problems.instance import Instance


def largest(
    case: Instance, entries: Sequence[Bounder], terms: int, seconds: float | None = None
) -> tuple[float, str]:
    """The largest of some bounds of a relaxation, in seconds, and which one it is.

    Parameters
    ----------
    case : Instance
        The relaxation.
    terms : int
        What the objective of the other problem sums at most: these bounds do not know of it.
    seconds : float or None
        What all of `entries` may take together, where they search.
    """
    each = None if seconds is None else seconds / len(entries)
    value, note = max(_one(entry, case, each) for entry in entries)
    return round_down(value, terms), note


def _one(entry: Bounder, case: Instance, seconds: float | None) -> tuple[float, str]:
    reason = entry.valid_for(case)
    if reason is not None:
        return 0.0, reason
    found = entry(case) if seconds is None else entry(case, seconds)
    # Of an instance without any answer, a bound may have no finite value to tell.
    return (found.value, f"{found.name}: {found.note}") if math.isfinite(found.value) else (0.0, "")
