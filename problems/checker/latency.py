"""Judge of `latency`: orders, start times and the makespan; ports apart."""

from __future__ import annotations

from itertools import pairwise

from problems.answer import Answer
from problems.checker import ports
from problems.instance import Instance
from problems.rules import LatencyRules

# Claimed start times may round differently from ours; one part in 10**9 is far below any effect
# that is measured and far above double rounding.
START_TOLERANCE = 1e-9


def judge(
    instance: Instance, answer: Answer, device: list[int], violations: list[tuple[str, str]]
) -> tuple[list[tuple[str, str]], float]:
    """All broken rules, those of `violations` first, and the makespan in seconds (0 if broken)."""
    order = dispatch(instance, device) if answer.order is None else orders(answer)
    violations = violations + order_violations(instance, device, order)
    contention = isinstance(instance.rules, LatencyRules) and instance.rules.contention == "ports"
    listed = answer.send is not None or answer.receive is not None
    if listed and not contention:
        what = "without `contention: ports` transfers have no order: no `send`, no `receive`"
        violations = [*violations, ("order", what)]
    elif listed:
        violations = violations + ports.list_violations(instance, device, answer)
    if violations:
        return violations, 0.0

    def timed(not_before: list[float]) -> list[float] | None:
        if not contention:
            return earliest_starts(instance, device, order)
        if listed:
            return ports.in_order(instance, device, order, answer, not_before)
        return ports.first_come(instance, device, order, not_before)

    start = timed([0.0] * instance.n)
    if start is None:
        return [("order", "the orders of the devices and the edges close a cycle")], 0.0
    if answer.start is not None:
        # Claimed starts are checked, never believed: the objective follows from the orders.
        claimed = [float(t) for t in answer.start]
        slack = START_TOLERANCE * finish(instance, device, start)
        violations = start_violations(instance, device, order, claimed, slack)
        if contention and not violations:
            held = timed(claimed)
            assert held is not None
            violations = port_violations(instance, claimed, held, slack)
    return violations, finish(instance, device, start)


def port_violations(
    instance: Instance, claimed: list[float], held: list[float], slack: float
) -> list[tuple[str, str]]:
    """Claimed starts that are too early where transfers wait for ports.

    Parameters
    ----------
    held : list of float
        Earliest starts if no node starts before its claim: as claimed, if the ports allow it.
    """
    for v, (t, possible) in enumerate(zip(claimed, held, strict=True)):
        if t < possible - slack:
            what = f"node {v} ({instance.names[v]!r}) starts at {t!r}, before {possible!r}:"
            return [("start", f"{what} its data wait for a port until then")]
    return []


def delay(instance: Instance, u: int, k: int, to: int) -> float:
    """Seconds that u's payload takes from device k to another one."""
    if k == to:
        return 0.0
    if instance.staged:
        out, into = instance.link_time[instance.port[[k, to]], u]
        return float(out + into)
    return float(instance.link_time[instance.wire[k, to], u])


def orders(answer: Answer) -> list[list[int]]:
    """The orders of an answer as plain lists."""
    assert answer.order is not None
    return [[int(v) for v in nodes] for nodes in answer.order]


def dispatch(instance: Instance, device: list[int]) -> list[list[int]]:
    """List scheduling by upward rank under the mapping, ties by node index."""
    rank = [0.0] * instance.n
    longest = [0.0] * instance.n
    for u, v in reversed(instance.edges.tolist()):  # sorted by u, and u < v: v is final before u
        rank[v] = float(instance.time[v, device[v]]) + longest[v]
        longest[u] = max(longest[u], delay(instance, u, device[u], device[v]) + rank[v])
    for v in range(instance.n):
        rank[v] = float(instance.time[v, device[v]]) + longest[v]
    sequence = sorted(range(instance.n), key=lambda v: (-rank[v], v))
    return [[v for v in sequence if device[v] == k] for k in range(instance.K)]


def order_violations(
    instance: Instance, device: list[int], order: list[list[int]]
) -> list[tuple[str, str]]:
    """Whether the orders list every node once, on its device."""
    listed: set[int] = set()
    for k, nodes in enumerate(order):
        for v in nodes:
            if not 0 <= v < instance.n:
                return [("order", f"device {k} lists node {v}, not one of 0..{instance.n - 1}")]
            if device[v] != k:
                return [("order", f"device {k} lists node {v}, which is on device {device[v]}")]
            if v in listed:
                return [("order", f"node {v} ({instance.names[v]!r}) is listed twice")]
            listed.add(v)
    for v in range(instance.n):
        if v not in listed:
            return [("order", f"node {v} ({instance.names[v]!r}) is listed on no device")]
    return []


def earliest_starts(
    instance: Instance, device: list[int], order: list[list[int]]
) -> list[float] | None:
    """Start whatever has all that it waits for; None where that leaves something out."""
    before: list[set[int]] = [set() for _ in range(instance.n)]  # what a node waits for
    after: list[list[int]] = [[] for _ in range(instance.n)]
    producers: list[set[int]] = [set() for _ in range(instance.n)]
    for u, v in instance.edges.tolist():
        producers[v].add(u)
        before[v].add(u)
        after[u].append(v)
    for k, nodes in enumerate(order):
        for a, b in pairwise(nodes) if not instance.unlimited[k] else ():
            before[b].add(a)
            after[a].append(b)
    start: dict[int, float] = {}
    missing = [len(each) for each in before]
    ready = [v for v in range(instance.n) if not before[v]]
    while ready:
        v = ready.pop()
        start[v] = 0.0
        for u in before[v]:
            free = start[u] + float(instance.time[u, device[u]])
            if u in producers[v]:
                free += delay(instance, u, device[u], device[v])
            start[v] = max(start[v], free)
        for w in set(after[v]):
            missing[w] -= 1
            if not missing[w]:
                ready.append(w)
    return [start[v] for v in range(instance.n)] if len(start) == instance.n else None


def start_violations(
    instance: Instance,
    device: list[int],
    order: list[list[int]],
    start: list[float],
    slack: float,
) -> list[tuple[str, str]]:
    """Claimed starts that come too early."""
    finish = [start[v] + float(instance.time[v, device[v]]) for v in range(instance.n)]

    def late(v: int, bound: float, why: str) -> list[tuple[str, str]]:
        what = f"node {v} ({instance.names[v]!r}) starts at {start[v]!r}, before {bound!r}: {why}"
        return [("start", what)] if start[v] < bound - slack else []

    for v in range(instance.n):
        if broken := late(v, 0.0, "time begins at 0"):
            return broken
    for u, v in instance.edges.tolist():
        arrival = finish[u] + delay(instance, u, device[u], device[v])
        if broken := late(v, arrival, f"the data of node {u} arrive then"):
            return broken
    for k, nodes in enumerate(order):
        if instance.unlimited[k]:
            continue
        for a, b in pairwise(nodes):
            if broken := late(b, finish[a], f"device {k} runs node {a} until then"):
                return broken
    return []


def finish(instance: Instance, device: list[int], start: list[float]) -> float:
    """Seconds until the last node is done."""
    return max(t + float(instance.time[v, device[v]]) for v, t in enumerate(start))
