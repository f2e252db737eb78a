"""When the inputs of an operator reach a device, with transfers booked at ports; compiled.

`work` is the :class:`heuristics.shared.placing.Work` of a list scheduler.
"""

from __future__ import annotations

import numpy as np

from heuristics.shared.timeline import book, find, inner


@inner
def nearest(unit_time, links, delay, u, g, k):  # type: ignore[no-untyped-def]
    """Seconds to k from the nearest device that supports source u."""
    least = np.inf
    for j in range(unit_time.shape[1]):
        if unit_time[g, j] < np.inf:
            least = min(least, delay[u, links[j, k, 0]] + delay[u, links[j, k, 1]])
    return least


@inner
def receive(space, work, v, k, commits):  # type: ignore[no-untyped-def]
    """With ports: when the inputs of v are on k, and the last of those made there.

    Inputs are sent in the order in which they are finished, each as early as both ends have a gap
    for it that lies behind the others of v. `commits`: book that.
    """
    unit, pred_ptr, pred, links = space.unit, space.pred_ptr, space.pred, space.links
    place, finish, delay, arrival = work.memory.place, work.finish, work.delay, work.arrival
    lanes, busy, host, staged = work.lanes, work.busy, space.host, space.staged
    count, begin, end, free = lanes.gaps, lanes.begin, lanes.end, lanes.free
    K = space.time.shape[1]
    inputs = pred[pred_ptr[v] : pred_ptr[v + 1]]
    ready = local = received = 0.0
    busy[:] = 0.0
    inputs = inputs.copy()
    for i in range(1, len(inputs)):  # mostly sorted as it is
        u, j = inputs[i], i
        while j > 0 and finish[inputs[j - 1]] > finish[u]:
            inputs[j] = inputs[j - 1]
            j -= 1
        inputs[j] = u
    for u in inputs:
        j = place[unit[u]]
        if finish[u] < 0:
            if space.unit_time[unit[u], k] == np.inf:
                ready = max(ready, nearest(space.unit_time, links, delay, u, unit[u], k))
            continue
        if j == k:
            local = max(local, finish[u])
            continue
        if arrival[u, k] >= 0:
            ready = max(ready, arrival[u, k])
            continue
        one, other = delay[u, links[j, k, 0]], delay[u, links[j, k, 1]]
        if not staged:
            one += other
            other = one
        sends, receives = one > 0 and not host[j], other > 0 and not host[k]
        first = max(finish[u], busy[j]) if sends else finish[u]
        if staged:
            if sends:
                first, gap = find(count, begin, end, free, K + j, first, one)
                if commits:
                    book(count, begin, end, free, K + j, gap, first, first + one)
                busy[j] = first + one
            second = max(first + one, received) if receives else first + one
            if receives:
                second, gap = find(count, begin, end, free, 2 * K + k, second, other)
                if commits:
                    book(count, begin, end, free, 2 * K + k, gap, second, second + other)
                received = second + other
        else:
            if receives:
                first = max(first, received)
            while True:  # until both ends agree
                was = first
                if sends:
                    first, gap = find(count, begin, end, free, K + j, first, one)
                if receives:
                    first, _ = find(count, begin, end, free, 2 * K + k, first, one)
                if first == was:
                    break
            second = first
            if sends:
                busy[j] = first + one
                if commits:
                    first, gap = find(count, begin, end, free, K + j, first, one)
                    book(count, begin, end, free, K + j, gap, first, first + one)
            if receives:
                received = first + one
                if commits:
                    second, gap = find(count, begin, end, free, 2 * K + k, second, one)
                    book(count, begin, end, free, 2 * K + k, gap, second, second + one)
        ready = max(ready, second + other)
        if commits:
            arrival[u, k] = second + other
            t = work.sent[0]
            work.transfer[t] = u * K + k
            work.send[t], work.receive[t] = first, second
            work.sent[0] = t + 1
    return max(ready, local), local
