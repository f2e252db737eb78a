"""Judge of ``contention: ports``: transfers that take turns at the ports of their devices."""

from __future__ import annotations

import heapq
from itertools import pairwise
from typing import NamedTuple

from problems.answer import Answer
from problems.instance import Instance


class Leg(NamedTuple):
    """What one transfer does at once: seconds, and the ports that it occupies meanwhile."""

    seconds: float
    at: tuple[tuple[str, int], ...]  # ("send", k), ("receive", l)


def legs(instance: Instance, device: list[int]) -> dict[tuple[int, int], list[Leg]]:
    """The legs of every transfer (producer, destination), one after the other."""
    result: dict[tuple[int, int], list[Leg]] = {}
    for u, v in instance.edges.tolist():
        k, to = device[u], device[v]
        if k == to:
            continue
        if instance.staged:
            out = float(instance.link_time[instance.port[k], u])
            into = float(instance.link_time[instance.port[to], u])
            parts = [(out, [("send", k)]), (into, [("receive", to)])]
        else:
            whole = float(instance.link_time[instance.wire[k, to], u])
            parts = [(whole, [("send", k), ("receive", to)])]
        result[u, to] = [
            Leg(seconds, tuple(p for p in where if seconds > 0 and not instance.host[p[1]]))
            for seconds, where in parts
        ]
    return result


def list_violations(instance: Instance, device: list[int], answer: Answer) -> list[tuple[str, str]]:
    """Whether `send` and `receive` list what every port serves, each transfer once."""
    if answer.send is None or answer.receive is None:
        return [("order", "`send` and `receive` are given together or not at all")]
    if answer.order is None:
        return [("order", "`send` and `receive` need the `order` of the nodes")]
    wanted: dict[tuple[str, int], list[int]] = {}
    for (u, to), parts in legs(instance, device).items():
        for leg in parts:
            for port in leg.at:
                wanted.setdefault(port, []).append(u * instance.K + to)
    for what, lists in (("send", answer.send), ("receive", answer.receive)):
        for k, listed in enumerate(lists):
            mine = wanted.get((what, k), [])
            found = [int(i) for i in listed]
            if sorted(found) != sorted(mine):
                odd = sorted(set(mine) ^ set(found)) or sorted(found)
                return [
                    (
                        "order",
                        f"`{what}` of device {k} lists {len(found)} transfers, not each of its"
                        f" {len(mine)} ones once: look at {odd[0]}"
                        " (a transfer is producer * K + destination)",
                    )
                ]
    return []


def first_come(
    instance: Instance, device: list[int], order: list[list[int]], not_before: list[float]
) -> list[float] | None:
    """Starts of the nodes where ports serve transfers as they come; None where orders cycle.

    Parameters
    ----------
    not_before : list of float
        Seconds before which each node does not start.
    """
    parts = legs(instance, device)
    waits, follows = _waiting(instance, order)
    start = list(not_before)
    free: dict[tuple[str, int], float] = {}
    # (seconds, 0 finish of a node / 1 first leg / 2 second leg, producer, destination)
    events: list[tuple[float, int, int, int]] = []

    def release(v: int, u: int, seconds: float) -> None:
        start[v] = max(start[v], seconds)
        waits[v].discard(u)
        if not waits[v]:
            heapq.heappush(events, (start[v] + float(instance.time[v, device[v]]), 0, v, -1))

    sends: list[list[int]] = [[] for _ in range(instance.n)]
    for u, to in parts:
        sends[u].append(to)
    for v in range(instance.n):
        if not waits[v]:
            heapq.heappush(events, (start[v] + float(instance.time[v, device[v]]), 0, v, -1))
    done: list[int] = []
    while events:
        now, kind, u, to = heapq.heappop(events)
        if kind == 0:
            done.append(u)
            for v in sorted(follows[u]):
                if device[v] == device[u]:
                    release(v, u, now)
            for destination in sends[u]:
                heapq.heappush(events, (now, 1, u, destination))
            continue
        leg = parts[u, to][kind - 1]
        end = max([now, *(free.get(port, 0.0) for port in leg.at)]) + leg.seconds
        for port in leg.at:
            free[port] = end
        if kind < len(parts[u, to]):
            heapq.heappush(events, (end, kind + 1, u, to))
            continue
        for v in sorted(follows[u]):
            if device[v] == to:
                release(v, u, end)
    return start if len(done) == instance.n else None


def _waiting(instance: Instance, order: list[list[int]]) -> tuple[list[set[int]], list[set[int]]]:
    """What every node waits for: its producers and the node before it; and the reverse."""
    waits: list[set[int]] = [set() for _ in range(instance.n)]
    follows: list[set[int]] = [set() for _ in range(instance.n)]
    pairs = [(u, v) for u, v in instance.edges.tolist()]
    for k, nodes in enumerate(order):
        pairs += list(pairwise(nodes)) if not instance.unlimited[k] else []
    for u, v in pairs:
        waits[v].add(u)
        follows[u].add(v)
    return waits, follows


def in_order(
    instance: Instance,
    device: list[int],
    order: list[list[int]],
    answer: Answer,
    not_before: list[float],
) -> list[float] | None:
    """Earliest starts of the nodes under the answer's orders at the ports; None where they cycle.

    Everything is an item with a duration, nodes as ``(v,)`` and legs as ``(u, to, number)``: each
    starts once all that it waits for has ended.
    """
    assert answer.send is not None
    assert answer.receive is not None
    parts = legs(instance, device)
    seconds: dict[tuple[int, ...], float] = {
        (v,): float(instance.time[v, device[v]]) for v in range(instance.n)
    }
    before: dict[tuple[int, ...], set[tuple[int, ...]]] = {(v,): set() for v in range(instance.n)}
    served: dict[tuple[tuple[str, int], int], tuple[int, ...]] = {}  # by port and number
    for (u, to), each in parts.items():
        for i, leg in enumerate(each):
            item = (u, to, i)
            seconds[item] = leg.seconds
            before[item] = {(u,) if i == 0 else (u, to, i - 1)}
            for port in leg.at:
                served[port, u * instance.K + to] = item
    for u, v in instance.edges.tolist():
        to = device[v]
        before[v,].add((u,) if device[u] == to else (u, to, len(parts[u, to]) - 1))
    for k, nodes in enumerate(order):
        for a, b in pairwise(nodes) if not instance.unlimited[k] else ():
            before[b,].add((a,))
    for what, lists in (("send", answer.send), ("receive", answer.receive)):
        for k, listed in enumerate(lists):
            for a, b in pairwise(int(i) for i in listed):
                before[served[(what, k), b]].add(served[(what, k), a])
    after: dict[tuple[int, ...], list[tuple[int, ...]]] = {x: [] for x in seconds}
    for x, each_before in before.items():
        for y in each_before:
            after[y].append(x)
    missing = {x: len(each_before) for x, each_before in before.items()}
    start = {x: not_before[x[0]] if len(x) == 1 else 0.0 for x in seconds}
    ready = [x for x in seconds if not missing[x]]
    for x in ready:  # grows on the way
        for y in after[x]:
            start[y] = max(start[y], start[x] + seconds[x])
            missing[y] -= 1
            if not missing[y]:
                ready.append(y)
    return [start[v,] for v in range(instance.n)] if len(ready) == len(seconds) else None
