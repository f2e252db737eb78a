"""Which two elements become one: along heavy edges, and along runs where none may be contracted.

Where an order has to stay one (`latency`; `throughput` along a chain), the quotient must have no
cycle. An edge a -> b that is the only one out of a, or the only one into b, closes none: a cycle
needs a second path from a to b, which leaves a by another edge and comes into b by another one.
That stays true when other such pairs are contracted at the same time. Where few edges are like
that, a chain has neighbours paired in a topological order that goes deep first: runs of an order
never close a cycle, whatever is in them. They would put side by side what can run at the same time
one behind the other, so under `latency` elements of the same depth are paired instead, those that
read from the same element first, as long as a layer keeps two elements a device: edges only lead
to larger depths, so nothing of one depth closes a cycle.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from heuristics.modules.atoms import Atoms, components
from problems.instance import Instance

FEW = 0.8
"""Part of the elements above which a round along edges has left too many."""


class Level(NamedTuple):
    """N elements, numbered topologically where an order has to be kept.

    Attributes
    ----------
    pairs : int64 array, shape (., 2)
        Distinct pairs a < b: element a comes before b. None where no order is to be kept.
    flow, traffic : int64 array, shape (F, 2), and float64 array, shape (F,)
        Distinct pairs a < b with payloads between them, and their seconds.
    work, size : float64 arrays, shape (N,)
        Mean seconds over the devices, and bytes.
    kind : int64 array, shape (N,)
        Elements of unlike numbers run on unlike devices, and never become one.
    """

    pairs: np.ndarray
    flow: np.ndarray
    traffic: np.ndarray
    work: np.ndarray
    size: np.ndarray
    kind: np.ndarray


def coarser(
    level: Level,
    ordered: bool,
    most_work: float,
    most_size: float,
    rng: np.random.Generator,
    layer: int = 0,
) -> np.ndarray:
    """New number of every element, shape (N,), 0..M-1; topological where `ordered`.

    No element of the result has more than `most_work` seconds or `most_size` bytes, unless it is
    one element of before.

    Parameters
    ----------
    layer : int
        How many elements at least a layer of the same depth is to keep; 0: pair along runs instead.
    """
    N = len(level.work)
    limits = level.work, level.size, level.kind, most_work, most_size
    links, weight = (level.flow, level.traffic) if not ordered else _weighted(level)
    after, before = np.bincount(links[:, 0], minlength=N), np.bincount(links[:, 1], minlength=N)
    both = np.concatenate([links, links[:, ::-1]])
    by = np.argsort(both[:, 0], kind="stable")
    ptr = np.searchsorted(both[by, 0], np.arange(N + 1))
    mate = _heavy(
        rng.permutation(N), ptr, both[by, 1], np.tile(weight, 2)[by], ordered, after, before,
        *limits,
    )  # fmt: skip
    if ordered and (mate < 0).sum() + (mate >= 0).sum() / 2 > FEW * N:
        ahead = np.searchsorted(level.pairs[:, 0], np.arange(N + 1))
        after = np.ascontiguousarray(level.pairs[:, 1])
        if layer:
            depth = _depth(ahead, after)
            share = np.bincount(depth, level.work)[depth] / layer
            by = np.lexsort((_main(links, weight, N), depth))
            mate = _siblings(by, depth, np.minimum(share, most_work), *limits[:3], most_size)
        else:
            mate = _runs(ahead, after, *limits)
    label = np.where(mate < 0, np.arange(N), np.minimum(np.arange(N), mate))
    number: np.ndarray = np.unique(label, return_inverse=True)[1].reshape(-1)
    if ordered and len(level.pairs):
        number = components(int(number.max()) + 1, _distinct(number[level.pairs]))[number]
    return number


def quotient(level: Level, number: np.ndarray) -> Level:
    """The level in which all elements of one number are one."""
    M = int(number.max()) + 1
    first = np.unique(number, return_index=True)[1]
    ends = np.sort(number[level.flow], axis=1)
    apart = ends[:, 0] != ends[:, 1]
    codes, index = np.unique(ends[apart, 0] * M + ends[apart, 1], return_inverse=True)
    return Level(
        _distinct(number[level.pairs]),
        np.stack(np.divmod(codes, M), axis=1),
        np.bincount(index.reshape(-1), level.traffic[apart], len(codes)),
        np.bincount(number, level.work, M),
        np.bincount(number, level.size, M),
        level.kind[first],
    )


def level_of(instance: Instance, atoms: Atoms, ordered: bool) -> Level:
    """The finest level, whose elements are the atoms.

    An atom that is only a part of its colocation group stays what it is: contracted with others it
    would tie them to the rest of the group.
    """
    time = instance.time
    able = np.isfinite(time)
    everywhere = able.all()
    work = time.mean(axis=1) if everywhere else np.where(able, time, 0.0).sum(axis=1) / np.maximum(
        able.sum(axis=1), 1
    )  # fmt: skip
    kind = np.zeros(atoms.number, np.int64)
    if not everywhere:
        on = np.ones((atoms.number, time.shape[1]), bool)
        np.logical_and.at(on, atoms.atom, able)
        kind = np.unique(on, axis=0, return_inverse=True)[1].reshape(-1)
    pieces = np.unique(instance.group * atoms.number + atoms.atom)
    group, atom = np.divmod(pieces, atoms.number)
    alone = atom[np.bincount(group)[group] > 1]
    kind[alone] = -1 - alone
    return Level(
        atoms.pairs if ordered else np.zeros((0, 2), np.int64), atoms.flow, atoms.traffic,
        np.bincount(atoms.atom, work, atoms.number),
        np.bincount(atoms.atom, instance.node_bytes, atoms.number), kind,
    )  # fmt: skip


def _weighted(level: Level) -> tuple[np.ndarray, np.ndarray]:
    """The pairs of the order with the traffic between them."""
    N = len(level.work)
    codes = level.flow[:, 0] * N + level.flow[:, 1]
    wanted = level.pairs[:, 0] * N + level.pairs[:, 1]
    if not len(codes):
        return level.pairs, np.zeros(len(level.pairs))
    at = np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)
    return level.pairs, np.where(codes[at] == wanted, level.traffic[at], 0.0)


def _distinct(pairs: np.ndarray) -> np.ndarray:
    """Sorted distinct pairs of unlike numbers."""
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    if not len(pairs):
        return np.zeros((0, 2), np.int64)
    most = int(pairs.max()) + 1
    return np.stack(np.divmod(np.unique(pairs[:, 0] * most + pairs[:, 1]), most), axis=1)


@njit(cache=True)
def _heavy(  # type: ignore[no-untyped-def]
    order, ptr, other, weight, ordered, after, before, work, size, kind, most_work, most_size
):
    """Mate of every element, -1 for none: the free neighbour of most traffic for its work."""
    N = len(work)
    mate = np.full(N, -1, np.int64)
    for a in order:
        if mate[a] >= 0:
            continue
        best, found = -1.0, -1
        for i in range(ptr[a], ptr[a + 1]):
            b = other[i]
            if mate[b] >= 0 or b == a or kind[a] != kind[b]:
                continue
            if work[a] + work[b] > most_work or size[a] + size[b] > most_size:
                continue
            if ordered and after[min(a, b)] != 1 and before[max(a, b)] != 1:
                continue
            value = weight[i] / (work[a] + work[b] + 1e-300)
            if value > best:
                best, found = value, b
        if found >= 0:
            mate[a], mate[found] = found, a
    return mate


def _main(links: np.ndarray, weight: np.ndarray, N: int) -> np.ndarray:
    """The element that each reads most from, shape (N,); itself where there is none."""
    result = np.arange(N)
    by = np.argsort(weight, kind="stable")
    result[links[by, 1]] = links[by, 0]  # the last one stays
    return result


@njit(cache=True)
def _depth(ptr, after):  # type: ignore[no-untyped-def]
    """Edges of the longest path to every element; elements are numbered topologically."""
    depth = np.zeros(len(ptr) - 1, np.int64)
    for a in range(len(depth)):
        for i in range(ptr[a], ptr[a + 1]):
            depth[after[i]] = max(depth[after[i]], depth[a] + 1)
    return depth


@njit(cache=True)
def _siblings(order, depth, most_work, work, size, kind, most_size):  # type: ignore[no-untyped-def]
    """Mate of every element, -1 for none: what follows it in an order of one depth."""
    mate = np.full(len(work), -1, np.int64)
    last = -1
    for a in order:
        if (
            last >= 0
            and depth[last] == depth[a]
            and kind[last] == kind[a]
            and work[last] + work[a] <= most_work[a]
            and size[last] + size[a] <= most_size
        ):
            mate[last], mate[a] = a, last
            last = -1
        else:
            last = a
    return mate


@njit(cache=True)
def _runs(ptr, after, work, size, kind, most_work, most_size):  # type: ignore[no-untyped-def]
    """Mate of every element, -1 for none: what follows it in an order that goes deep first."""
    N = len(work)
    missing = np.zeros(N, np.int64)
    for i in range(len(after)):
        missing[after[i]] += 1
    stack, top = np.empty(N, np.int64), 0
    for a in range(N - 1, -1, -1):
        if missing[a] == 0:
            stack[top] = a
            top += 1
    mate = np.full(N, -1, np.int64)
    last = -1
    while top > 0:
        top -= 1
        a = stack[top]
        if (
            last >= 0
            and kind[last] == kind[a]
            and work[last] + work[a] <= most_work
            and size[last] + size[a] <= most_size
        ):
            mate[last], mate[a] = a, last
            last = -1
        else:
            last = a
        for i in range(ptr[a + 1] - 1, ptr[a] - 1, -1):
            missing[after[i]] -= 1
            if missing[after[i]] == 0:
                stack[top] = after[i]
                top += 1
    return mate
