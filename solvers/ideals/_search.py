r"""The dynamic program: the least largest load of a chain of ideals, no load above a level.

A state is an ideal J and how many devices of each class are used; its value is the largest load so
far. From J one more device takes I \ J, for every ideal I above J that a load at the level
allows. These I are visited along ascending items, so that each comes once: the last item of a set
in topological order may always be taken out again. The transfers of I \ J are those of the nets
that are cut at J and touched by it, which only grow along the way, and of the nets cut at I that
are new since J. The former are kept incrementally, the cuts of single ideals in a table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import njit

from solvers.ideals._arrays import Arrays
from solvers.ideals._lattice import Lattice, OutOfTime

VISITS = 1_000_000
"""Visits between two looks at the clock: about a tenth of a second."""
CUTS = 100_000
"""Ideals whose cuts are summed up between two looks at the clock."""
OVERLAP = {"none": 0, "half": 1, "full": 2}
ROUNDING = 1e-9
"""Relative; far above the rounding of a load here, and far below what a level needs."""


@dataclass(frozen=True, eq=False)
class Chain:
    """A solution.

    Attributes
    ----------
    value : float
        The largest load in seconds; with two phases, the second one's.
    first : float
        The first phase's largest load.
    position : int64 array, shape (N,)
    device_class : list of int
        The class at each position.
    """

    value: float
    first: float
    position: np.ndarray
    device_class: list[int]


class Search:
    """Runs the program at one level after the other.

    Parameters
    ----------
    moved : bool
        Whether bytes that were moved count.
    """

    def __init__(
        self,
        a: Arrays,
        lattice: Lattice,
        overlap: str,
        moved: bool,
        in_time: Callable[[], bool],
    ) -> None:
        self.a, self.lattice = a, lattice
        self.overlap = OVERLAP[overlap]
        self.bytes = a.kept + a.moved if moved else a.kept
        self.visits = 0
        self.cuts = np.zeros((lattice.I, len(a.count), a.R))
        self.remaining = np.zeros((lattice.I, len(a.least)))
        self.remaining[0] = a.least.sum(axis=1)
        done = np.zeros(lattice.I, bool)
        for at in range(0, lattice.I, CUTS):
            if not in_time():
                raise OutOfTime(lattice.I)
            _sums(
                at, min(at + CUTS, lattice.I), done, self.cuts, self.remaining, a.least,
                lattice.bits, lattice.ptr, lattice.item, lattice.target, a.net_member,
                a.net_producer, a.net_into, a.net_out, a.net_receive, a.net_send, a.on_ptr, a.on,
            )  # fmt: skip
        self.above = _closure(a.least, a.succ_ptr, a.succ)
        vectors = np.arange(a.V)[:, None]
        self.used = vectors // a.stride % (a.count + 1)
        free = a.count - self.used
        self.capacity = free @ a.rate.T
        self.memory = free @ np.where(a.hold > 0, a.hold * np.where(a.hold > 0, a.limit, 0), 0).T
        self.value = np.zeros((0, a.V))

    def run(self, cap: np.ndarray, in_time: Callable[[], bool]) -> Chain | None:
        """The best chain with loads up to `cap`; None if there is none.

        Parameters
        ----------
        cap : float64 array, shape (P,)
            Seconds. With two phases the first one's loads are only held to theirs, and the value
            is the second one's.

        Raises
        ------
        OutOfTime
            As soon as `in_time` says no.
        """
        a, lattice = self.a, self.lattice
        if not len(self.value):
            self.value = np.empty((lattice.I, a.V))
        self.value.fill(np.inf)
        self.value[0, 0] = 0.0
        room = (self.capacity * cap[a.rate_phase] + self.memory) * (1 + ROUNDING)
        room += ROUNDING * a.least.sum(axis=1)
        held = a.limit
        at = 0
        while at < lattice.I - 1:
            if not in_time():
                raise OutOfTime(lattice.I)
            at, visits = _expand(
                at, VISITS, self.value, cap, room, self.used, self.remaining, self.cuts,
                lattice.bits, lattice.ptr, lattice.item, lattice.target, a.work, a.supported,
                a.count, a.stride, a.least, self.above, a.net_member, a.net_producer, a.net_into,
                a.net_out, a.net_receive, a.net_send, a.on_ptr, a.on, self.bytes, held, a.share_ptr,
                a.share, a.shared_bytes, self.overlap,
            )  # fmt: skip
            self.visits += visits
        if not np.isfinite(self.value[-1]).any():
            return None
        return self._trace(cap, held)

    def _trace(self, cap: np.ndarray, held: np.ndarray) -> Chain:
        """Find the way to the best end backwards: the values tell it, no pointers are kept."""
        a, lattice = self.a, self.lattice
        top, vector = lattice.I - 1, int(self.value[-1].argmin())
        value = float(self.value[-1, vector])
        position = np.zeros(a.N, np.int64)
        classes: list[int] = []
        first, load = 0.0, np.zeros(a.work.shape[1])
        while top > 0:
            below, c = _back(
                top, vector, value * (1 + ROUNDING), cap * (1 + ROUNDING), self.value, self.used,
                lattice.bits, a.work, a.supported, a.stride, a.net_member, a.net_producer,
                a.net_into, a.net_out, a.net_receive, a.net_send, self.bytes, held, a.share_ptr,
                a.share, a.shared_bytes, self.overlap, a.R // a.work.shape[1],
            )  # fmt: skip
            assert below >= 0, "the values of the program have no way back"
            block = lattice.bits[top] & ~lattice.bits[below]
            _block(
                block, c, load, a.work, a.supported, a.net_member, a.net_producer, a.net_into,
                a.net_out, a.net_receive, a.net_send, self.bytes, held, a.share_ptr, a.share,
                a.shared_bytes, self.overlap, a.R // a.work.shape[1],
            )  # fmt: skip
            first = max(first, float(load[0]))
            position[_members(block, a.N)] = len(classes)
            classes.append(int(c))
            top, vector = int(below), vector - int(a.stride[c])
        last = len(classes) - 1
        return Chain(value, first, last - position, classes[::-1])


def _members(bits: np.ndarray, count: int) -> np.ndarray:
    i = np.arange(count)
    return np.flatnonzero((bits[i // 64] >> (i % 64).astype(np.uint64)) & np.uint64(1))


@njit(cache=True)
def _holds(bits, v):  # type: ignore[no-untyped-def]
    return (bits[v >> 6] >> np.uint64(v & 63)) & np.uint64(1) != np.uint64(0)


@njit(cache=True)
def _state(bits, member, e):  # type: ignore[no-untyped-def]
    """(some members are in, some are out) of net e."""
    inside = outside = False
    for w in range(len(bits)):
        m = member[e, w]
        inside |= (m & bits[w]) != np.uint64(0)
        outside |= (m & ~bits[w]) != np.uint64(0)
    return inside, outside


@njit(cache=True)
def _sums(  # type: ignore[no-untyped-def]
    start, end, done, cuts, remaining, least, bits, ptr, item, target, member, producer, into, out,
    receive, send, on_ptr, on,
):  # fmt: skip
    """Fill in cuts, shape (I, C, R), and remaining, shape (I, L), by steps from smaller ideals.

    The transfers of the nets cut at an ideal, where its members would be charged, and the least
    load of what it lacks.
    """
    C = cuts.shape[1]
    for i in range(start, end):
        for s in range(ptr[i], ptr[i + 1]):
            j, v = target[s], item[s]
            if done[j]:
                continue
            done[j] = True
            cuts[j] = cuts[i]
            for x in range(len(least)):
                remaining[j, x] = remaining[i, x] - least[x, v]
            for x in range(on_ptr[v], on_ptr[v + 1]):
                e = on[x]
                inside, _ = _state(bits[i], member, e)
                _, outside = _state(bits[j], member, e)
                was = producer[e] >= 0 and _holds(bits[i], producer[e])
                now = producer[e] >= 0 and _holds(bits[j], producer[e])
                for c in range(C):
                    if inside:  # it was cut: v was missing
                        if was:
                            cuts[j, c, out[e]] -= send[c, e]
                        else:
                            cuts[j, c, into[e]] -= receive[c, e]
                    if outside:
                        if now:
                            cuts[j, c, out[e]] += send[c, e]
                        else:
                            cuts[j, c, into[e]] += receive[c, e]


@njit(cache=True)
def _load(work, receive, send, overlap):  # type: ignore[no-untyped-def]
    if overlap == 0:
        return work + receive + send
    if overlap == 1:
        return max(work, receive + send)
    return max(work, max(receive, send))


@njit(cache=True)
def _expand(  # type: ignore[no-untyped-def]
    at, budget, value, cap, room, used, remaining, cuts, bits, ptr, item, target, work, supported,
    count, stride, least, above, member, producer, into, out, receive, send, on_ptr, on, held,
    limit, share_ptr, share, shared_bytes, overlap,
):  # fmt: skip
    """Expand ideals from number `at` on until `budget` visits are spent."""
    N, P, C = work.shape
    V, L, R, E = value.shape[1], least.shape[0], cuts.shape[2], member.shape[0]
    Q = R // P
    node, cursor = np.zeros(N + 1, np.int64), np.zeros(N + 1, np.int64)
    added = np.full(N + 1, -1, np.int64)
    spent, left = np.zeros((N + 1, P)), np.zeros((N + 1, L))
    touched, through = np.zeros((N + 1, R)), np.zeros((N + 1, R))
    size = np.zeros(N + 1)
    missing, seen = np.zeros(E, np.int64), np.zeros(E, np.int64)
    sent = np.zeros(E, np.bool_)
    shares = np.zeros(len(shared_bytes), np.int64)
    found, alive, goal = np.zeros(V, np.int64), np.zeros(V, np.int64), np.zeros(V, np.int64)
    most = np.zeros(L)
    load = np.zeros(P)
    visits = 0
    last = len(bits) - 1
    while at < last and visits < budget:
        J = at
        at += 1
        visits += V >> 4  # what looking through them takes
        known = 0
        for vec in range(V):
            if value[J, vec] <= cap[P - 1]:
                found[known] = vec
                known += 1
        if known == 0:
            continue
        known = _undominated(alive, found, known, value[J], used)
        marked = False
        for c in range(C):
            goals = 0
            for i in range(known):
                vec = alive[i]
                if used[vec, c] < count[c]:
                    goal[goals] = vec
                    goals += 1
            if goals == 0:
                continue
            for j in range(L):
                most[j] = 0.0
                for i in range(goals):
                    most[j] = max(most[j], room[goal[i] + stride[c], j])
            pays = False
            for e in range(E):
                if receive[c, e] > 0.0 or send[c, e] > 0.0:
                    pays = True
                    break
            if pays and not marked:
                marked = True
                for e in range(E):
                    missing[e] = 0
                    sent[e] = producer[e] >= 0 and _holds(bits[J], producer[e])
                    inside, outside = _state(bits[J], member, e)
                    if inside and outside:
                        for w in range(bits.shape[1]):
                            missing[e] += _ones(member[e, w] & ~bits[J, w])
            node[0], cursor[0], added[0] = J, ptr[J], -1
            for p in range(P):
                spent[0, p] = 0.0
            for j in range(L):
                left[0, j] = remaining[J, j]
            size[0] = 0.0
            for r in range(R):
                touched[0, r] = 0.0
                # All nets cut at J are cut as long as something is missing.
                through[0, r] = cuts[J, c, r]
            depth, base = 0, -1
            while depth >= 0:
                end = ptr[node[depth] + 1]
                if base < 0:
                    s = cursor[depth]
                    while s < end and not _must(item[s], above, most):
                        s += 1
                    if s < end:
                        cursor[depth] = end  # nothing else may be taken here
                    else:
                        base = depth
                if base >= 0:
                    if cursor[depth] == end:
                        v = added[depth]
                        if v >= 0:
                            _take_back(v, pays, missing, seen, sent, producer, on_ptr, on)
                            for x in range(share_ptr[v], share_ptr[v + 1]):
                                shares[share[x]] -= 1
                        depth -= 1
                        continue
                    s = cursor[depth]
                    cursor[depth] += 1
                v = item[s]
                if not supported[v, c]:
                    base = max(base, 0)
                    continue
                if depth > base and base >= 0 and v < added[depth]:
                    continue
                visits += 1
                new = depth + 1
                fits = True
                for p in range(P):
                    spent[new, p] = spent[depth, p] + work[v, p, c]
                    if spent[new, p] > cap[p]:
                        fits = False
                if not fits:
                    base = max(base, 0)
                    continue
                for j in range(L):
                    left[new, j] = left[depth, j] - least[j, v]
                size[new] = size[depth] + held[v]
                for x in range(share_ptr[v], share_ptr[v + 1]):
                    if shares[share[x]] == 0:
                        size[new] += shared_bytes[share[x]]
                    shares[share[x]] += 1
                for r in range(R):
                    touched[new, r] = touched[depth, r]
                    through[new, r] = through[depth, r]
                if pays:
                    for x in range(on_ptr[v], on_ptr[v + 1]):
                        e = on[x]
                        if missing[e] == 0:
                            continue
                        if producer[e] == v:
                            if seen[e] > 0:
                                touched[new, into[e]] -= receive[c, e]
                            touched[new, out[e]] += send[c, e]
                            through[new, into[e]] -= receive[c, e]
                            through[new, out[e]] += send[c, e]
                            sent[e] = True
                        elif seen[e] == 0:
                            touched[new, into[e]] += receive[c, e]
                        seen[e] += 1
                        if seen[e] == missing[e]:
                            if sent[e]:
                                through[new, out[e]] -= send[c, e]
                            else:
                                through[new, into[e]] -= receive[c, e]
                # What is touched already can only grow; in `full`, the sum of both directions.
                fits = size[new] <= limit[c]
                for p in range(P):
                    both = touched[new, p * Q]
                    if Q == 2:
                        both += touched[new, p * Q + 1]
                    if overlap == 2 and Q == 2:
                        both *= 0.5
                    least_load = spent[new, p] + both if overlap == 0 else both
                    if least_load > cap[p]:
                        fits = False
                if not fits:
                    _take_back(v, pays, missing, seen, sent, producer, on_ptr, on)
                    for x in range(share_ptr[v], share_ptr[v + 1]):
                        shares[share[x]] -= 1
                    base = max(base, 0)
                    continue
                to_ideal = target[s]
                wanted = True
                for j in range(L):
                    if left[new, j] > most[j]:
                        wanted = False
                        break
                if wanted:
                    for p in range(P):
                        a = p * Q
                        got = touched[new, a] + cuts[to_ideal, c, a] - through[new, a]
                        gave = 0.0
                        if Q == 2:
                            gave = (
                                touched[new, a + 1] + cuts[to_ideal, c, a + 1] - through[new, a + 1]
                            )
                        load[p] = _load(spent[new, p], got, gave, overlap)
                        if load[p] > cap[p]:
                            wanted = False
                if wanted:
                    visits += goals >> 3
                    for i in range(goals):
                        to = goal[i] + stride[c]
                        worst = max(value[J, goal[i]], load[P - 1])
                        if worst < value[to_ideal, to]:
                            enough = True
                            for j in range(L):
                                if left[new, j] > room[to, j]:
                                    enough = False
                                    break
                            if enough:
                                value[to_ideal, to] = worst
                node[new], cursor[new], added[new] = to_ideal, ptr[to_ideal], v
                depth = new
    return at, visits


@njit(cache=True)
def _must(v, above, most):  # type: ignore[no-untyped-def]
    """Whether what is left without item v and all after it is too much for the devices left."""
    result = False
    for j in range(len(most)):
        result |= above[j, v] > most[j]
    return result


@njit(cache=True)
def _closure(least, succ_ptr, succ):  # type: ignore[no-untyped-def]
    """Least load of every item and all items after it, shape (L, N)."""
    L, N = least.shape
    result = np.zeros((L, N))
    mark = np.full(N, -1, np.int64)
    stack = np.zeros(N, np.int64)
    for v in range(N):
        depth, stack[0], mark[v] = 1, v, v
        while depth > 0:
            depth -= 1
            u = stack[depth]
            for j in range(L):
                result[j, v] += least[j, u]
            for x in range(succ_ptr[u], succ_ptr[u + 1]):
                if mark[succ[x]] != v:
                    mark[succ[x]] = v
                    stack[depth] = succ[x]
                    depth += 1
    return result


@njit(cache=True)
def _take_back(v, pays, missing, seen, sent, producer, on_ptr, on):  # type: ignore[no-untyped-def]
    if pays:
        for x in range(on_ptr[v], on_ptr[v + 1]):
            e = on[x]
            if missing[e] > 0:
                seen[e] -= 1
                if producer[e] == v:
                    sent[e] = False


@njit(cache=True)
def _ones(word):  # type: ignore[no-untyped-def]
    result = 0
    while word != np.uint64(0):
        word &= word - np.uint64(1)
        result += 1
    return result


@njit(cache=True)
def _undominated(result, alive, known, value, used):  # type: ignore[no-untyped-def]
    """Leave out vectors beside which another uses no device more and is worth no more."""
    if known > 128:  # it would take longer than it saves
        result[:known] = alive[:known]
        return known
    kept = 0
    for i in range(known):
        a = alive[i]
        dominated = False
        for j in range(known):
            b = alive[j]
            if a == b or value[b] > value[a]:
                continue
            less = True
            for c in range(used.shape[1]):
                if used[b, c] > used[a, c]:
                    less = False
                    break
            if less:
                dominated = True
                break
        if not dominated:
            result[kept] = a
            kept += 1
    return kept


@njit(cache=True)
def _block(  # type: ignore[no-untyped-def]
    block, c, load, work, supported, member, producer, into, out, receive, send, held, limit,
    share_ptr, share, shared_bytes, overlap, Q,
):  # fmt: skip
    """Fill in the loads of a set of items on class c, by phase; False if it cannot be there."""
    N, P, _ = work.shape
    spent, charged, size = np.zeros(P), np.zeros(P * Q), 0.0
    shares = np.zeros(len(shared_bytes), np.bool_)
    for v in range(N):
        if _holds(block, v):
            if not supported[v, c]:
                return False
            size += held[v]
            for p in range(P):
                spent[p] += work[v, p, c]
            for x in range(share_ptr[v], share_ptr[v + 1]):
                if not shares[share[x]]:
                    size += shared_bytes[share[x]]
                    shares[share[x]] = True
    for e in range(len(out)):
        inside, outside = _state(block, member, e)
        if inside and outside:
            if producer[e] >= 0 and _holds(block, producer[e]):
                charged[out[e]] += send[c, e]
            else:
                charged[into[e]] += receive[c, e]
    for p in range(P):
        gave = charged[p * Q + 1] if Q == 2 else 0.0
        load[p] = _load(spent[p], charged[p * Q], gave, overlap)
    return size <= limit[c]


@njit(cache=True)
def _back(  # type: ignore[no-untyped-def]
    top, vector, most, cap, value, used, bits, work, supported, stride, member, producer, into,
    out, receive, send, held, limit, share_ptr, share, shared_bytes, overlap, Q,
):  # fmt: skip
    """The ideal and class before state (top, vector) with the least value; (-1, -1) without."""
    _, P, C = work.shape
    W = bits.shape[1]
    block, load = np.zeros(W, np.uint64), np.zeros(P)
    best, best_c, best_value = -1, -1, np.inf
    for j in range(top):
        wanted = False
        for c in range(C):
            if used[vector, c] > 0 and value[j, vector - stride[c]] <= most:
                wanted = True
        if not wanted:
            continue
        for w in range(W):
            block[w] = bits[top, w] & ~bits[j, w]
            if bits[j, w] & ~bits[top, w]:
                wanted = False
                break
        if not wanted:
            continue
        for c in range(C):
            if used[vector, c] == 0 or value[j, vector - stride[c]] > most:
                continue
            if not _block(
                block, c, load, work, supported, member, producer, into, out, receive, send, held,
                limit, share_ptr, share, shared_bytes, overlap, Q,
            ):  # fmt: skip
                continue
            fits = True
            for p in range(P):
                fits &= load[p] <= cap[p]
            worst = max(value[j, vector - stride[c]], load[P - 1])
            if fits and worst <= most and worst < best_value:
                best, best_c, best_value = j, c, worst
    return best, best_c
