"""Moves that a walk over `throughput` mappings proposes; see :mod:`solvers.walk_throughput`.

Each makes its move at once and logs it; `w` is a :class:`~solvers.walk_throughput.Walk`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from solvers import rng as rng_
from solvers.moves_throughput import may, move, span

FULLEST = 0.5
"""Share of units drawn from the device with the largest load."""
LONG = 0.05
"""Share of runs that may be of any length; the others are up to about the root of all units."""
PUSHED = 0.55
"""Share of moves after which something comes back, 0.35, or goes on from where they went."""
NONE = np.int64(0)  # no literal, for which there would be a compilation of its own


@njit(cache=True)
def swap_ranks(w, a, b):  # type: ignore[no-untyped-def]
    """Two devices exchange their ranks."""
    rank = w.state.rank
    rank[a], rank[b] = rank[b], rank[a]
    w.at[rank[a]], w.at[rank[b]] = a, b


@njit(cache=True)
def exchange(q, w, a, b):  # type: ignore[no-untyped-def]
    """Exchange two devices as a whole, and their ranks; 0 where one of them holds nothing."""
    s, count = w.state, NONE
    for g in range(len(s.device)):
        k = s.device[g]
        if k == a:
            count = _go(q, w, count, g, b)
        elif k == b:
            count = _go(q, w, count, g, a)
    if count > 0:
        swap_ranks(w, a, b)
    return count


@njit(cache=True)
def _go(q, w, count, g, b):  # type: ignore[no-untyped-def]
    """Move one unit and log it."""
    w.touched[count], w.old[count] = g, w.state.device[g]
    move(q, w.state, g, b)
    return count + 1


@njit(cache=True)
def _draw(q, w):  # type: ignore[no-untyped-def]
    """A unit; half of the time one on the device with the largest load."""
    device, stream = w.state.device, w.stream
    G, K = q.barred.shape
    g = rng_.below(stream, G)
    if rng_.uniform(stream) < FULLEST:
        wanted = w.state.worst[rng_.below(stream, len(w.state.worst))]
        for _ in range(K):
            if device[g] == wanted:
                break
            g = rng_.below(stream, G)
    return g


@njit(cache=True)
def _target(q, w, g):  # type: ignore[no-untyped-def]
    """Another device where unit g may go, half of the time one that it has a net with; or -1."""
    s, stream = w.state, w.stream
    low, high = span(q, s, g)
    a = s.device[g]
    mine = s.rank[a]
    if low >= high:
        return -1
    b = -1
    if rng_.uniform(stream) < 0.6:
        received, sent = q.pin_ptr[g + 1] - q.pin_ptr[g], q.source_ptr[g + 1] - q.source_ptr[g]
        if received + sent > 0:
            i = rng_.below(stream, received + sent)
            if i < received:
                b = s.home[q.pin_net[q.pin_ptr[g] + i]]
            else:
                e = q.source_net[q.source_ptr[g] + i - received]
                j = q.net_ptr[e] + rng_.below(stream, q.net_ptr[e + 1] - q.net_ptr[e])
                b = s.device[q.net_pin[j]]
            if b == a or s.rank[b] < low or s.rank[b] > high:
                b = -1
    if b < 0:
        place = low + rng_.below(stream, high - low)
        if place >= mine:
            place += 1
        b = w.at[place]
    if q.barred[g, b] and not q.barred[g, a]:
        return -1
    return b


@njit(cache=True)
def propose(q, w):  # type: ignore[no-untyped-def]
    """Make one random move; returns how many units it touched, 0 for none."""
    s, stream = w.state, w.stream
    G = len(s.device)
    g = _draw(q, w)
    a = s.device[g]
    draw = rng_.uniform(stream)
    if q.chain and draw < 0.5:
        return _shift(q, w, g, draw < 0.3)
    b = _target(q, w, g)
    if draw < 0.8:
        if b < 0:
            return 0
        count = _go(q, w, NONE, g, b)
    elif draw < 0.9 or q.chain:
        if b < 0:
            b = w.at[rng_.below(stream, len(w.at))]  # the run may go where g alone may not
        if b == a:
            return 0
        count = _run(q, w, g, b)
    else:
        if b < 0:
            return 0
        count = _cluster(q, w, g, b)
    if count == 0:
        return 0
    draw = rng_.uniform(stream)
    if draw < 0.35:
        # Another comes back, as full devices need.
        h = rng_.below(stream, G)
        for _ in range(len(w.at)):
            if s.device[h] == b:
                break
            h = rng_.below(stream, G)
        back = s.device[h] == b and may(q, s, h, a) and not q.barred[h, a]
        for i in range(count):
            back = back and w.touched[i] != h
        if back:
            count = _go(q, w, count, h, a)
    elif draw < PUSHED and len(w.at) > 2:
        count = _push(q, w, count, b)
    return count


@njit(cache=True)
def _push(q, w, count, b):  # type: ignore[no-untyped-def]
    """Some unit of b goes on to a third device, one of that one to the next, and so on.

    Load so gets past devices that are as full as the fullest one.
    """
    s, stream = w.state, w.stream
    G = len(s.device)
    for _ in range(1 + rng_.below(stream, 3)):
        h = rng_.below(stream, G)
        for _ in range(2 * len(w.at)):
            if s.device[h] == b:
                break
            h = rng_.below(stream, G)
        if s.device[h] != b:
            break
        for i in range(count):
            if w.touched[i] == h:
                return count
        c = _target(q, w, h)
        if c < 0 or c == b:
            break
        count = _go(q, w, count, h, c)
        b = c
    return count


@njit(cache=True)
def _run(q, w, g, b):  # type: ignore[no-untyped-def]
    """Move units numbered next to g from its device to b, those nearest to b first."""
    s, stream, a, count = w.state, w.stream, w.state.device[g], NONE
    G = len(s.device)
    scale = int(np.log2(G))
    longest = 2 << rng_.below(stream, 1 + (scale if rng_.uniform(stream) < LONG else scale // 2))
    towards = -1 if s.rank[b] > s.rank[a] else 1
    h = g - towards * rng_.below(stream, longest)
    for _ in range(longest):
        if 0 <= h < G and s.device[h] == a and not q.barred[h, b] and may(q, s, h, b):
            count = _go(q, w, count, h, b)
        h += towards
    return count


@njit(cache=True)
def _cluster(q, w, g, b):  # type: ignore[no-untyped-def]
    """Move a cluster that nets connect, grown from g on its device, to b."""
    s, stream, a = w.state, w.stream, w.state.device[g]
    size = 2 << rng_.below(stream, 4)
    w.counter[1] += 1
    mark, stamp = w.mark, w.counter[1]
    mark[g] = stamp
    w.touched[0] = g
    count, i = 1, 0
    while i < count and count < size:
        h = w.touched[i]
        i += 1
        for j in range(q.pin_ptr[h], q.pin_ptr[h + 1]):
            u = q.net_source[q.pin_net[j]]
            if count < size and mark[u] != stamp and s.device[u] == a and not q.barred[u, b]:
                mark[u] = stamp
                w.touched[count] = u
                count += 1
        for j in range(q.source_ptr[h], q.source_ptr[h + 1]):
            e = q.source_net[j]
            for m in range(q.net_ptr[e], q.net_ptr[e + 1]):
                u = q.net_pin[m]
                if count < size and mark[u] != stamp and s.device[u] == a and not q.barred[u, b]:
                    mark[u] = stamp
                    w.touched[count] = u
                    count += 1
    for i in range(count):
        _go(q, w, i, w.touched[i], b)
    return count


@njit(cache=True)
def _shift(q, w, g, pair):  # type: ignore[no-untyped-def]
    """Move g with all that must follow (precede) it; as a `pair`, another set comes back."""
    s, stream = w.state, w.stream
    G, K = q.barred.shape
    a = s.device[g]
    forward = rng_.uniform(stream) < 0.5
    reach = 1
    if rng_.uniform(stream) < 0.15:
        reach = 1 + rng_.below(stream, K)
    place = s.rank[a] + (reach if forward else -reach)
    if place < 0 or place >= K:
        return 0
    b, most = w.at[place], 1 << rng_.below(stream, 2 + int(np.log2(G)))
    w.counter[1] += 1
    count = _closure(q, w, NONE, g, b, forward, most)
    if count <= 0 or not pair:
        return max(count, 0)
    h = rng_.below(stream, G)
    for _ in range(K):
        if s.device[h] == b and w.mark[h] != w.counter[1]:
            break
        h = rng_.below(stream, G)
    if s.device[h] != b or w.mark[h] == w.counter[1]:
        return count
    return max(_closure(q, w, count, h, a, not forward, most), count)


@njit(cache=True)
def _closure(q, w, begin, g, b, forward, most):  # type: ignore[no-untyped-def]
    """Move g, and what the chain wants beyond it by rank, to b; -1 for none.

    None: more than `most` units, one that b does not support, or one that has been moved already.
    """
    s, mark, stamp = w.state, w.mark, w.counter[1]
    limit = s.rank[b]
    ptr, other = (q.succ_ptr, q.succ) if forward else (q.pred_ptr, q.pred)
    mark[g] = stamp
    w.touched[begin] = g
    count, i = begin + 1, begin
    while i < count:
        h = w.touched[i]
        i += 1
        if count - begin > most or q.barred[h, b]:
            return -1
        for j in range(ptr[h], ptr[h + 1]):
            u = other[j]
            rank = s.rank[s.device[u]]
            if rank < limit if forward else rank > limit:
                if mark[u] != stamp:
                    mark[u] = stamp
                    w.touched[count] = u
                    count += 1
                else:
                    for m in range(begin):
                        if w.touched[m] == u:
                            return -1
    for i in range(begin, count):
        _go(q, w, i, w.touched[i], b)
    return count
