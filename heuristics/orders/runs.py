"""`calls`: the best cut of an order of nodes into calls and host nodes, by labels along it.

Every call holds a run of the order, and nothing overlaps: a shortest path from one end of the order
to the other, with limits on calls and memory. Labels say what led to a place: seconds, calls left
and bytes held. One that another is not worse than in any of these is dropped, and one whose seconds
and the least that may follow (:mod:`problems.bounds.chain`, with its multipliers) reach the best
known value. First the best few labels of every place are kept, then more and more. Where each node
depends on the one before, so that nothing can overlap, and all labels were kept, the best cut is
the optimum.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from heuristics.shared.best import Best
from problems.answer import Answer
from problems.bounds.chain import Relaxed, relax_in_time
from problems.bounds.chain_costs import Case, Chain, cases, chain_in_time
from problems.compiled import REHEARSAL
from problems.instance import Instance

BEAMS = (3, 30, 300, 3_000, 2**40)
"""Labels of a place and of calls left that are kept, pass by pass."""
MOST = 4_000_000
"""Labels of a pass."""
PIECE = 400_000
"""Steps between two looks at the clock: some milliseconds."""
LARGEST = 1_000
"""Nodes of an order; the costs of all runs take time and room by the square."""


class Labels(NamedTuple):
    """All labels of one pass.

    Attributes
    ----------
    seconds, key : float64 arrays, shape (L,)
        What led to the label; the least value of what goes on from it.
    use : float64 array, shape (L, A)
        Bytes held.
    came, by, place, rest : int64 arrays, shape (L,)
        Label before; accelerator of the run, or -1; place behind it; next label there.
    head : int64 array, shape (m + 1, S)
        First label of every place and state.
    number : int64 array, shape (5,)
        Place at hand, labels, the last one that reached the end or -1, whether any were left out,
        and how many more need room.
    upper : float64 array, shape (1,)
        Seconds that are to be undercut.
    """

    seconds: np.ndarray
    key: np.ndarray
    use: np.ndarray
    came: np.ndarray
    by: np.ndarray
    place: np.ndarray
    rest: np.ndarray
    head: np.ndarray
    number: np.ndarray
    upper: np.ndarray


def refuses(instance: Instance) -> str | None:
    """Why an instance is not one for runs, or None."""
    if instance.n > LARGEST:
        return f"more than {LARGEST} nodes"
    if len(np.unique(instance.group)) < instance.n:
        return "has colocation groups"
    return None


def cut(instance: Instance, order: np.ndarray, best: Best, beams: int = len(BEAMS)) -> bool:
    """Offer better and better cuts of a topological order, shape (n,); whether the best is proved.

    It ends after so many of :data:`BEAMS`, or when `best` is done.
    """
    line = chain_in_time(instance, order, best.done)
    if line is None:
        return False
    ways, apart = cases(line, above=True)
    found: list[tuple[Case, Relaxed]] = []
    for way in ways:
        eased = relax_in_time(line, way, best.done)
        if eased is None:
            return False
        found.append((way, eased))
        _offer(instance, line, eased.cut, best)
    found.sort(key=lambda each: each[1].bound)
    open_ = [True] * len(found)
    for beam in BEAMS[:beams]:
        for i, (way, eased) in enumerate(found):
            hopeful = eased.bound < best.value * (1 - 1e-9)
            # On a tiny instance one pass is made in any case: it may be there to have it compiled.
            if open_[i] and (hopeful or (line.m <= REHEARSAL and beam == BEAMS[0])):
                complete = _pass(instance, line, way, eased, best, beam)
                if best.done():
                    return False
                open_[i] = not complete
            else:
                open_[i] = False
        if not any(open_):
            return apart and _serial(instance, order)
    return False


def _serial(instance: Instance, order: np.ndarray) -> bool:
    """Whether each node depends on the one before, and hosts hold anything."""
    edges = set(map(tuple, instance.edges.tolist()))
    pairs = zip(order[:-1].tolist(), order[1:].tolist(), strict=True)
    return bool(np.isinf(instance.memory[instance.host]).all()) and all(e in edges for e in pairs)


def _offer(instance: Instance, line: Chain, runs: list[tuple[int, int, int]], best: Best) -> None:
    if not runs:
        return
    device, slot = np.empty(instance.n, np.int64), np.full(instance.n, -1)
    made = np.zeros(len(line.accelerators), np.int64)
    for a, i, j in runs:
        nodes = line.node[i:j]
        if a < 0:
            device[nodes] = line.host[i:j]
        else:
            device[nodes], slot[nodes] = line.accelerators[a], made[a]
            made[a] += 1
    best.offer(Answer(device, slot=slot))


def _pass(
    instance: Instance, line: Chain, way: Case, eased: Relaxed, best: Best, beam: int
) -> bool:
    """All labels along the order, or the best `beam` of each place; whether all."""
    covers = _covers(line.before)
    labels = _first(line, eased, way, best.value, 1 << 14)
    number = labels.number
    while number[0] < line.m:
        if best.done():
            return False
        known = number[2]
        _advance(
            line.cost, way.end, line.alone, way.total, line.before, covers, eased.value,
            eased.multiplier, way.limit, labels, beam, PIECE,
        )  # fmt: skip
        if number[2] != known:
            _offer(instance, line, _trace(labels, int(number[2])), best)
            labels.upper[0] = min(labels.upper[0], best.value)
        if number[4] > 0:
            if number[1] + number[4] > MOST:
                return False
            labels = _roomier(labels, int(number[1] + number[4]))
            number = labels.number
    return bool(number[3] == 0)


def _first(line: Chain, eased: Relaxed, way: Case, upper: float, room: int) -> Labels:
    A, S = line.before.shape
    head = np.full((line.m + 1, S), -1)
    head[0, S - 1] = 0
    limit = np.where(np.isfinite(way.limit), way.limit, 0.0)
    labels = Labels(
        np.zeros(room), np.zeros(room), np.zeros((room, A)), np.full(room, -1), np.full(room, -1),
        np.zeros(room, np.int64), np.full(room, -1), head, np.array([0, 1, -1, 0, 0]),
        np.array([upper]),
    )  # fmt: skip
    labels.key[0] = eased.value[0, S - 1] - eased.multiplier @ limit
    return labels


def _roomier(labels: Labels, least: int) -> Labels:
    """The same labels, with room for so many at least."""
    room = len(labels.seconds)
    more = max(least, 2 * room) - room
    grown = {}
    for name in ("seconds", "key", "use", "came", "by", "place", "rest"):
        each = getattr(labels, name)
        grown[name] = np.concatenate([each, np.zeros((more, *each.shape[1:]), each.dtype)])
    return labels._replace(**grown)


def _trace(labels: Labels, label: int) -> list[tuple[int, int, int]]:
    runs = []
    while labels.came[label] >= 0:
        before = int(labels.came[label])
        runs.append((int(labels.by[label]), int(labels.place[before]), int(labels.place[label])))
        label = before
    return runs[::-1]


def _covers(before: np.ndarray) -> np.ndarray:
    """Whether one state has no fewer calls left than another on any accelerator, shape (S, S)."""
    left = np.zeros(before.shape, np.int64)
    for a, row in enumerate(before):
        for s, after in enumerate(row.tolist()):
            if 0 <= after < s:
                left[a, s] = left[a, after] + 1
    return np.asarray((left[:, :, None] >= left[:, None, :]).all(axis=0))


@njit(cache=True)
def _advance(  # type: ignore[no-untyped-def]
    cost, end, alone, total, before, covers, value, multiplier, limit, labels, beam, piece
):
    """Go on along the order for about `piece` steps, or until there is no room."""
    seconds, key, use, came, by, place, rest, head, number, upper = labels
    A, S = before.shape
    m = alone.shape[0]
    price = 0.0
    for a in range(A):
        if multiplier[a] > 0:
            price += multiplier[a] * limit[a]
    work = 0
    number[4] = 0
    while number[0] < m and work < piece:
        i = number[0]
        kept, first = _kept(i, covers, seconds, key, use, rest, head, upper[0], beam, number)
        L = first[0]
        reach = 1
        for a in range(A):
            reach += max(0, end[a, i] - i)
        if number[1] + L * reach > len(seconds):
            number[4] = L * reach
            return
        work += S + L * (L + reach)
        for s in range(S):
            for c in range(first[s + 1], first[s]):
                x = kept[c]
                held = -price
                for a in range(A):
                    held += multiplier[a] * use[x, a]
                for a in range(-1, A):
                    p = s if a < 0 else before[a, s]
                    if p < 0:
                        continue
                    last = i + 1 if a < 0 else end[a, i]
                    for j in range(i + 1, last + 1):
                        bytes_ = 0.0
                        if a < 0:
                            took = seconds[x] + alone[i]
                        else:
                            bytes_ = total[j] - total[i]
                            if use[x, a] + bytes_ > limit[a]:
                                break
                            took = seconds[x] + cost[a, i, j]
                        least = took + value[j, p] + held
                        if a >= 0:
                            least += multiplier[a] * bytes_
                        if j == m or least < took:
                            least = took
                        if least >= upper[0] * (1 - 1e-9):
                            continue
                        y = number[1]
                        number[1] += 1
                        seconds[y], key[y] = took, least
                        use[y] = use[x]
                        if a >= 0:
                            use[y, a] += bytes_
                        came[y], by[y], place[y] = x, a, j
                        rest[y] = head[j, p]
                        head[j, p] = y
                        if j == m:
                            upper[0], number[2] = took, y
        number[0] += 1


@njit(cache=True)
def _kept(i, covers, seconds, key, use, rest, head, upper, beam, number):  # type: ignore[no-untyped-def]
    """Labels of place i that no other is as good as, at most `beam` of a state.

    Those of state s stand at ``first[s + 1] .. first[s] - 1``.
    """
    S, A = len(covers), use.shape[1]
    count = 0
    for s in range(S):
        x = head[i, s]
        while x >= 0:
            count += 1
            x = rest[x]
    kept, first = np.empty(count, np.int64), np.zeros(S + 1, np.int64)
    filled = 0
    for s in range(S - 1, -1, -1):
        n = 0
        x = head[i, s]
        while x >= 0:
            if key[x] < upper * (1 - 1e-9):
                n += 1
            x = rest[x]
        some, keys = np.empty(n, np.int64), np.empty(n)
        n = 0
        x = head[i, s]
        while x >= 0:
            if key[x] < upper * (1 - 1e-9):
                some[n], keys[n] = x, key[x]
                n += 1
            x = rest[x]
        taken = 0
        for o in np.argsort(keys):
            x = some[o]
            worse = False
            for t in range(S - 1, s - 1, -1):
                if not covers[t, s]:
                    continue
                for c in range(first[t + 1], first[t] if t > s else filled):
                    y = kept[c]
                    if seconds[y] <= seconds[x]:
                        worse = True
                        for a in range(A):
                            if use[y, a] > use[x, a]:
                                worse = False
                                break
                        if worse:
                            break
                if worse:
                    break
            if worse:
                continue
            if taken == beam:
                number[3] = 1
                break
            kept[filled] = x
            filled += 1
            taken += 1
        first[s] = filled
    return kept, first
