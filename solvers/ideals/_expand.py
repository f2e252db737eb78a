"""The hot loop: from ideals to all that one more device may reach."""

from __future__ import annotations

import numpy as np
from numba import njit

from solvers.ideals._bits import combine, holds, ones, state


@njit(cache=True)
def expand(  # type: ignore[no-untyped-def]
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
    swing = np.zeros((N + 1, P))
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
                    sent[e] = producer[e] >= 0 and holds(bits[J], producer[e])
                    inside, outside = state(bits[J], member, e)
                    if inside and outside:
                        for w in range(bits.shape[1]):
                            missing[e] += ones(member[e, w] & ~bits[J, w])
            node[0], cursor[0], added[0] = J, ptr[J], -1
            for p in range(P):
                spent[0, p], swing[0, p] = 0.0, 0.0
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
                    swing[new, p] = swing[depth, p]
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
                                swing[new, into[e] // Q] -= max(0.0, receive[c, e] - send[c, e])
                            touched[new, out[e]] += send[c, e]
                            through[new, into[e]] -= receive[c, e]
                            through[new, out[e]] += send[c, e]
                            sent[e] = True
                        elif seen[e] == 0:
                            touched[new, into[e]] += receive[c, e]
                            if producer[e] >= 0 and not sent[e]:
                                swing[new, into[e] // Q] += max(0.0, receive[c, e] - send[c, e])
                        seen[e] += 1
                        if seen[e] == missing[e]:
                            if sent[e]:
                                through[new, out[e]] -= send[c, e]
                            else:
                                through[new, into[e]] -= receive[c, e]
                # What is touched already can only grow, but for nets against the order whose
                # producer may still join (`swing`); in `full`, the sum of both directions.
                fits = size[new] <= limit[c]
                for p in range(P):
                    both = touched[new, p * Q]
                    if Q == 2:
                        both += touched[new, p * Q + 1] - swing[new, p]
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
                        load[p] = combine(spent[new, p], got, gave, overlap)
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
def _take_back(v, pays, missing, seen, sent, producer, on_ptr, on):  # type: ignore[no-untyped-def]
    if pays:
        for x in range(on_ptr[v], on_ptr[v + 1]):
            e = on[x]
            if missing[e] > 0:
                seen[e] -= 1
                if producer[e] == v:
                    sent[e] = False


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
