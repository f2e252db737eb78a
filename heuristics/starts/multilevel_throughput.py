"""Multilevel search for huge `throughput` instances placed freely.

Where single units are a thousandth of a device's load and less, no walk of single moves gets far in
seconds. So units that exchange much are merged, level by level, until some dozens a device are
left; these are walked over, and the mapping is refined on each finer level by a shorter and cooler
walk (multilevel partitioning, as of Karypis and Kumar 1998). Only what lies on one device is
merged, so that each cycle begins with the best mapping and moves parts of it: merged freely, units
make worse mappings than chunks, and no cycle makes up for that. The course depends on the random
numbers alone; the clock cuts it.
"""

from __future__ import annotations

import math
import time

import numpy as np
from numba import njit
from scipy.sparse import coo_array, csr_array

from heuristics.shared.best import Best
from heuristics.shared.space import Space
from problems.instance import Instance
from solvers import rng as rng_
from solvers.method import Context
from solvers.units_throughput import problem_of
from solvers.walk_throughput import anneal, restart, walk

SMALLEST, FEWEST = 30, 1_000
"""Units of the coarsest level: so many a device, and at least."""
SHRINK = 0.9
"""A level that has more than this share of the units below it ends the merging."""
HEAVY = 1.5
"""Work of a merged unit at most, parts of what one of the coarsest level has on average."""
HELD = 0.1
"""Of the least memory that a merged unit may fill."""
MOVES, FINE, HOT, COLD, LEVELS = 60, 6, 3e-3, 1e-5, 32
"""Moves a unit on the coarsest level and on all others, in the first cycle; later ones have twice
as many each time. First temperature there, last one, parts of the period; temperatures between."""
CYCLES = 2
"""Without a deadline."""
PATIENCE = 0.01  # seconds between two looks at the clock


def cycles(instance: Instance, space: Space, context: Context, best: Best, count: int = 0) -> None:
    """Go down and up until `best`, which has an answer, is done, or so many times if it is given.

    Does nothing where the units have to keep a chain: merged ones could form cycles.
    """
    if instance.K == 1 or best.answer is None or space.contiguous or not best.value > 0.0:
        return
    if count == 0 and context.deadline == math.inf:
        count = CYCLES
    stream, done = rng_.seeded(context.rng), 0
    while not best.done() and (count == 0 or done < count):
        labels = coarsen(instance, space, best.answer.device, best)
        _refine(instance, labels, best, stream, 2**done)
        done += 1


def coarsen(instance: Instance, space: Space, device: np.ndarray, best: Best) -> list[np.ndarray]:
    """Unit of every node on each level, finest first, int64 arrays of shape (n,).

    Parameters
    ----------
    device : int64 array, shape (n,)
        Only units on one device are merged.
    """
    work = space.unit_time.min(axis=1)
    work = np.where(np.isfinite(work), work, 0.0)  # a group that no device supports
    held = space.unit_bytes.copy()
    able = np.isfinite(space.unit_time)
    at = np.asarray(device[space.unit_node[space.unit_ptr[:-1]]])
    wanted = max(SMALLEST * instance.K, FEWEST)
    most, room = HEAVY * work.sum() / wanted, HELD * float(instance.memory.min())
    links = _links(instance, space)
    labels = [space.unit]
    while len(work) > wanted and not best.done():
        order = np.arange(len(work))
        into = _match(
            order, links.indptr.astype(np.int64), links.indices.astype(np.int64), links.data,
            work, held, able, at, most, room,
        )  # fmt: skip
        count = int(into.max()) + 1
        if count > SHRINK * len(work):
            break
        labels.append(into[labels[-1]])
        first = np.unique(into, return_index=True)[1]
        merged = np.ones((count, able.shape[1]), bool)
        np.logical_and.at(merged, into, able)
        work, held = np.bincount(into, work), np.bincount(into, held)
        able, at = merged, at[first]
        fold = csr_array((np.ones(len(into)), (np.arange(len(into)), into)), (len(into), count))
        links = csr_array(fold.T @ links @ fold)
        links.setdiag(0.0)
        links.eliminate_zeros()
    return labels


def _links(instance: Instance, space: Space) -> csr_array:
    """Seconds of transfer between units, symmetric; a payload counts once for all its readers."""
    count, (u, v) = len(space.unit_bytes), instance.edges.T
    readers = np.diff(instance.succ_ptr)
    seconds = instance.link_time.mean(axis=0) / np.maximum(readers, 1)
    a, b, weight = space.unit[u], space.unit[v], seconds[u] + 1e-12
    apart = a != b
    a, b, weight = a[apart], b[apart], weight[apart]
    both = (np.append(a, b), np.append(b, a))
    return csr_array(coo_array((np.append(weight, weight), both), (count, count)))


@njit(cache=True)
def _match(order, ptr, other, weight, work, held, able, at, most, room):  # type: ignore[no-untyped-def]
    """Merge units in pairs, each with the neighbour that it exchanges most with for its work.

    Numbers of the merged units follow the first of each pair.
    """
    G, K = able.shape
    into = np.full(G, -1, np.int64)
    count = 0
    for g in order:
        if into[g] >= 0:
            continue
        chosen, value = -1, 0.0
        for i in range(ptr[g], ptr[g + 1]):
            h = other[i]
            if into[h] >= 0 or h == g or at[h] != at[g]:
                continue
            if work[g] + work[h] > most or held[g] + held[h] > room:
                continue
            rated = weight[i] / (work[h] + 1e-3 * most)
            if rated > value:
                some = False
                for k in range(K):
                    some = some or (able[g, k] and able[h, k])
                if some:
                    chosen, value = h, rated
        into[g] = count
        if chosen >= 0:
            into[chosen] = count
        count += 1
    return into


def _refine(
    instance: Instance, labels: list[np.ndarray], best: Best, stream: np.ndarray, more: int
) -> None:
    """From the coarsest level to the finest, `more` times as long as the first time."""
    assert best.answer is not None
    device = best.answer.device
    for i in range(len(labels) - 1, -1, -1):
        if best.done():
            return
        units, coarsest = labels[i], i == len(labels) - 1
        problem = problem_of(instance, units)
        run = walk(problem, stream)
        first = np.unique(units, return_index=True)[1]
        restart(problem, run, device[first], np.arange(instance.K))
        moves = more * (MOVES if coarsest else FINE) * len(first)
        heat = HOT if coarsest else HOT * 0.1
        hot, cooling = heat * run.real[0], (COLD / heat) ** (1 / LEVELS)
        step, at, piece = max(1, moves // LEVELS), 0, 64
        while at < moves and not best.done():
            piece = min(piece, moves - at)
            begin = time.monotonic()
            anneal(problem, run, at, piece, hot, cooling, step)
            taken = time.monotonic() - begin
            at += piece
            piece = max(1, min(4 * piece, int(piece * PATIENCE / max(taken, 1e-7))))
        if run.best[0] >= 0 and run.energy[1] < math.inf:
            device = run.best[units]
            best.offer_device(device)
        else:
            device = run.state.device[units]
