"""Statistics over instances: tests, ranks and intervals.

The unit is the instance, never the run: seeds are averaged first. Below :data:`MINIMUM` instances
nothing is called a difference.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

MINIMUM = 6  # with 5 pairs the signed-rank test cannot reach 5 % at all
TIE = 1e-6  # relative
RESAMPLES = 2000
# Pairs without a difference are dropped before ranking (Wilcoxon 1945), and it is said how many.
ZERO_RULE: Literal["wilcox"] = "wilcox"


@dataclass(frozen=True)
class Comparison:
    """Two entries on the same instances.

    Attributes
    ----------
    wins, ties, losses : int
        Instances where the first is better, alike within :data:`TIE`, worse.
    p : float or None
        Two-sided signed-rank test; None under :data:`MINIMUM` instances or without a difference.
    effect : float
        Rank-biserial correlation of the pairs, in [-1, 1] (Kerby 2014): below 0 the first is
        better, above 0 the second; 0 without a difference.
    """

    wins: int
    ties: int
    losses: int
    p: float | None
    effect: float = 0.0


def compare(a: Sequence[float] | np.ndarray, b: Sequence[float] | np.ndarray) -> Comparison:
    """Compare costs (lower is better, inf: no answer) on the same instances, in the same order.

    The test ranks relative differences (a - b) / max(a, b), which an infinite cost makes -1 or 1.

    Raises
    ------
    ValueError
        If the lengths differ.
    """
    first, second = np.asarray(a, float), np.asarray(b, float)
    if first.shape != second.shape or first.ndim != 1:
        raise ValueError(f"costs of shapes {first.shape} and {second.shape}")
    difference = np.array([relative(x, y) for x, y in zip(first, second, strict=True)])
    difference[np.abs(difference) <= TIE] = 0.0
    wins, losses = int((difference < 0).sum()), int((difference > 0).sum())
    ties = len(difference) - wins - losses
    p = None
    if len(difference) >= MINIMUM and wins + losses:
        from scipy import stats  # slow to load, and most commands compare nothing

        p = float(stats.wilcoxon(difference, zero_method=ZERO_RULE).pvalue)
    return Comparison(wins, ties, losses, p, _biserial(difference[difference != 0]))


def relative(x: float, y: float) -> float:
    """(x - y) / max(|x|, |y|), in [-1, 1] for costs; an infinite one makes it -1 or 1."""
    if x == y:
        return 0.0
    if math.isinf(x) or math.isinf(y):
        return 1.0 if x > y else -1.0
    return (x - y) / max(abs(x), abs(y))


def _biserial(difference: np.ndarray) -> float:
    if not difference.size:
        return 0.0
    from scipy import stats  # as above

    rank = stats.rankdata(np.abs(difference))
    return float((rank * np.sign(difference)).sum() / rank.sum())


def holm(p: Sequence[float]) -> list[float]:
    """P values adjusted for their number (Holm 1979), in the order given."""
    adjusted = [0.0] * len(p)
    largest = 0.0
    for i, index in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
        largest = max(largest, min(1.0, (len(p) - i) * p[index]))
        adjusted[index] = largest
    return adjusted


def ranks(costs: np.ndarray, tolerance: float = TIE) -> np.ndarray:
    """Rank of every entry on every instance, 1 the best; ties share the mean of their places.

    Parameters
    ----------
    costs : float array, shape (instances, entries)
        Lower is better. Costs within `tolerance` of the best of their group tie: relative to it,
        or absolute where it is below 1 (gaps).
    """
    result = np.empty(costs.shape)
    for i, row in enumerate(costs):
        order = np.argsort(row, kind="stable")
        first = 0
        while first < len(order):
            value = row[order[first]]
            limit = value + tolerance * max(1.0, abs(value)) if np.isfinite(value) else value
            last = first
            while last + 1 < len(order) and row[order[last + 1]] <= limit:
                last += 1
            result[i, order[first : last + 1]] = (first + last) / 2 + 1
            first = last + 1
    return result


def positions(mean_rank: np.ndarray) -> np.ndarray:
    """Place of every entry by its mean rank, shape as given; equal means share the better place."""
    from scipy import stats  # as above

    return stats.rankdata(np.round(mean_rank, 9), method="min", axis=-1)


def rank_intervals(
    rank: np.ndarray, families: Sequence[str], seed: int = 0, resamples: int = RESAMPLES
) -> np.ndarray | None:
    """Bootstrap 95 % interval of every entry's place by mean rank, stratified by family.

    Parameters
    ----------
    rank : float array, shape (instances, entries)
        From :func:`ranks`.
    families : sequence of str
        Family of each instance.

    Returns
    -------
    int64 array, shape (entries, 2), or None under :data:`MINIMUM` instances
        Lowest and highest place.
    """
    if len(rank) < MINIMUM:
        return None
    places = positions(_resampled_means(rank, families, seed, resamples))
    low, high = np.percentile(places, [2.5, 97.5], axis=0, method="nearest")
    return np.stack([low, high], axis=1).astype(np.int64)


def mean_interval(
    values: Sequence[float], families: Sequence[str], seed: int = 0, resamples: int = RESAMPLES
) -> tuple[float, float] | None:
    """Bootstrap 95 % percentile interval of a mean, stratified by family; None if too few."""
    array = np.asarray(values, float)
    if len(array) < MINIMUM:
        return None
    means = _resampled_means(array[:, None], families, seed, resamples)[:, 0]
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


def _resampled_means(
    rows: np.ndarray, families: Sequence[str], seed: int, resamples: int
) -> np.ndarray:
    """Means of rows drawn with replacement within each stratum, shape (resamples, columns).

    How often each row was drawn is multiplied with the rows: the drawn ones themselves would take
    a gigabyte for a hundred entries on a thousand instances.
    """
    rng = np.random.default_rng(seed)
    columns = [
        rng.choice(stratum, (resamples, len(stratum)), replace=True) for stratum in strata(families)
    ]
    drawn = np.concatenate(columns, axis=1)
    count = len(rows)
    places = drawn + count * np.arange(resamples)[:, None]
    times = np.bincount(places.ravel(), minlength=count * resamples).reshape(resamples, count)
    means: np.ndarray = times @ rows / count
    return means


def strata(families: Sequence[str]) -> list[np.ndarray]:
    """Indices of each family; families of a single instance form one stratum together.

    A stratum of one is always drawn as it is and would feign certainty, so a single left-over
    instance joins the smallest other stratum.
    """
    groups: dict[str, list[int]] = {}
    for i, family in enumerate(families):
        groups.setdefault(family, []).append(i)
    several = [indices for indices in groups.values() if len(indices) > 1]
    alone = [indices[0] for indices in groups.values() if len(indices) == 1]
    if len(alone) == 1 and several:
        smallest = min(range(len(several)), key=lambda j: len(several[j]))
        several[smallest] = sorted(several[smallest] + alone)
    elif alone:
        several.append(alone)
    return [np.array(indices) for indices in several]
