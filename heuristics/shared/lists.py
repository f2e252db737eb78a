"""List scheduling with insertion, aware of memory, groups and ports (`latency`).

Departures from plain HEFT, none of which touches a graph without groups and zero-time sources on
devices with enough memory:

* The first node of a group to be placed chooses the device for the time of the whole group.
* A source that takes no time (a weight, an input) waits for its first consumer instead of dragging
  its group to device 0.
* A device without room for a group is left out, and so is one that would leave no room for the
  rest (:mod:`heuristics.shared.reserve`).
* Under ``contention: ports`` transfers are booked at the ports as well, into the earliest gap that
  both ends have (:mod:`heuristics.shared.placing`).
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numba import njit

from heuristics.shared import placing
from heuristics.shared.best import Best
from heuristics.shared.placing import Work, put
from heuristics.shared.ranks import mean_rank
from heuristics.shared.space import Space
from problems import ports
from problems.answer import Answer
from problems.instance import Instance

__all__ = ["in_pieces", "mean_rank", "offer_schedule", "offer_sequence", "offer_work"]

# Seconds between two looks at the clock.
PATIENCE = 0.02


def offer_schedule(
    instance: Instance, space: Space, best: Best, priority: np.ndarray, insertion: bool = True
) -> bool:
    """Schedule nodes by falling `priority`, shape (n,), ties by index, and offer the answer.

    Along an edge the priority must not rise. See :func:`offer_sequence`.
    """
    sequence = np.argsort(-priority, kind="stable").astype(np.int64)
    return offer_sequence(instance, space, best, sequence, insertion)


def offer_sequence(
    instance: Instance,
    space: Space,
    best: Best,
    sequence: np.ndarray,
    insertion: bool = True,
    bias: np.ndarray | None = None,
) -> bool:
    """Place nodes as they follow in `sequence`, each where it finishes first; offer the answer.

    Parameters
    ----------
    sequence : int64 array, shape (n,)
        All nodes in a topological order.
    insertion : bool
        Gaps between what is placed are used, too.
    bias : float64 array, shape (n, K), optional
        Seconds added to a node's finish where devices are compared.

    Returns
    -------
    bool
        Whether the answer is better than what was there. False as well where time runs out, or
        where memory leaves no device for a node; the latter only if `best` has no answer yet,
        whose mapping shows a way out.
    """
    work = placing.start(instance, space, best.answer)
    extra = np.zeros((0, space.time.shape[1])) if bias is None else bias

    def some(at: int, count: int) -> int:
        done: int = advance(space, work, sequence, at, at + count, insertion, extra)
        return done

    return in_pieces(best, instance.n, some) and offer_work(instance, best, work)


def in_pieces(best: Best, total: int, some: Callable[[int, int], int]) -> bool:
    """Call ``some(at, count)`` until all is done; False once it gets stuck or time is up.

    It returns how many of `count` steps it made. The clock only cuts: the pieces change nothing.
    """
    at, piece = 0, 500
    while at < total:
        if best.done():
            return False
        piece = min(piece, total - at)
        begin = time.monotonic()
        if some(at, piece) < piece:
            return False
        at += piece
        taken = time.monotonic() - begin
        piece = max(1, min(4 * piece, int(piece * PATIENCE / max(taken, 1e-7))))
    return True


def offer_work(instance: Instance, best: Best, work: Work) -> bool:
    """Offer the schedule that `work` holds; with ports also with transfers first come first served.

    Both are of use: the planned order at the ports makes room for the urgent, the other one makes
    up for what was planned too early.
    """
    device = work.memory.place[instance.group]
    sequence = np.lexsort((work.number, work.finish, work.start))
    order = [sequence[device[sequence] == k] for k in range(instance.K)]
    better = best.offer(Answer.of(device, order))
    if not ports.has_ports(instance):
        return better
    T = int(work.sent[0])
    ids, first, second = work.transfer[:T], work.send[:T], work.receive[:T]
    served = []
    each = ports.transfers(instance, device)
    for begin, port in ((first, each.sender), (second, each.receiver)):
        start = np.empty(T)
        start[np.searchsorted(each.id, ids)] = begin
        by_time = np.argsort(start, kind="stable")
        served.append([each.id[by_time[port[by_time] == k]] for k in range(instance.K)])
    return best.offer(Answer.of(device, order, send=served[0], receive=served[1])) or better


@njit(cache=True)
def advance(space, work, sequence, first, last, insertion, bias):  # type: ignore[no-untyped-def]
    """Place the nodes at positions `first` to `last` of a sequence; returns how many it could."""
    unit, pred_ptr, pred, succ_ptr = space.unit, space.pred_ptr, space.pred, space.succ_ptr
    place, finish, waits, light = work.memory.place, work.finish, work.waits, work.light
    for i in range(first, last):
        v = sequence[i]
        if waits[v] and place[unit[v]] < 0 and succ_ptr[v + 1] > succ_ptr[v]:
            continue  # for its first consumer
        j, target = pred_ptr[v], np.int64(-1)
        while target != v:
            target = v
            # A source whose group has work to do chooses for that group, before v.
            while target == v and j < pred_ptr[v + 1]:
                u = pred[j]
                if finish[u] < 0 and unit[u] != unit[v] and not light[unit[u]]:
                    target = u
                j += 1
            if finish[target] < 0 and not put(space, work, target, insertion, bias):
                return i - first
    return last - first
