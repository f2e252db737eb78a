"""Latency: the least time between two nodes, for what lies between them.

For nodes a and b and the nodes N that must run after a and before b, S(k, l) is the least time from
the finish of a on k to the start of b on l in any schedule: the makespan of N alone, one node at a
time on every limited device, with transfers from a and to b. Everything else may be left out of the
schedule without making that longer, so that S is a bound wherever a and b stand.

CP-SAT is asked for it in integers, times and transfers rounded down. That relaxes: where a schedule
has starts s, their integer parts [s] keep every row of the model, as s_v >= s_u + p + t implies
[s_v] >= [s_u] + [p] + [t]; so do the redundant rows (earliest starts and least times to the end by
:mod:`problems.bounds.headtail` within the part, the load of each device, and each transfer's local
polytope), which only help the search.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from problems.cp_sat import keep_sound
from problems.instance import Instance

UNITS = 10**7  # a part's time in integers: what rounding down loses is a millionth
ANY = -1  # some device at an end of a part, whichever
WIDE = 4  # devices: up to so many, every transfer of a part has its local polytope
MOST = 80  # nodes of a part that CP-SAT is asked about


@dataclass(eq=False)
class Part:
    """Nodes between two others; -1 and n stand for the start and the end of all.

    Attributes
    ----------
    first, last : int
        The two others, a and b.
    nodes : list of int
        Those between, ascending.
    edges : list of (int, int)
        Among all of these.
    least : float64 array, shape (K, K)
        What is proved of S(k, l) with the prices in it, seconds.
    given : float64 array, shape (K, K)
        Seconds that CP-SAT was given for S(k, l); inf where no more is to be hoped for.
    anywhere : bool
        Whether it was asked about S for any devices at both ends.
    """

    first: int
    last: int
    nodes: list[int]
    edges: list[tuple[int, int]]
    least: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    given: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    anywhere: bool = False


@dataclass(frozen=True, eq=False)
class Costs:
    """What the parts of an instance are priced by.

    Attributes
    ----------
    times : float64 array, shape (n, K)
        Seconds; inf where a node cannot be.
    price : float64 array, shape (n, K)
        Seconds added for a node's place.
    delay : float64 array, shape (K, K, n)
        Seconds of a node's payload from device to device.
    """

    times: np.ndarray
    price: np.ndarray
    delay: np.ndarray


def paths(part: Part, costs: Costs) -> None:
    """Set what S begins as: longest paths for a start on every device, and the least prices."""
    n, K = costs.times.shape
    before, _ = _neighbours(part)
    arrival: dict[int, np.ndarray] = {}  # at [start, device]
    longest = np.zeros((K, K))
    if part.first >= 0:
        arrival[part.first] = costs.delay[:, :, part.first]
    for v in [*part.nodes, *([part.last] if part.last < n else [])]:
        head = np.zeros((K, K))
        for u in before.get(v, []):
            head = np.maximum(head, arrival[u])
        if v == part.last:
            longest = np.maximum(longest, head)
            break
        end = head + costs.times[v]
        longest = np.maximum(longest, end.min(axis=1)[:, None])
        arrival[v] = (end[:, :, None] + costs.delay[:, :, v]).min(axis=1)
    able = np.isfinite(costs.times)
    least = sum(float(np.where(able[v], costs.price[v], np.inf).min()) for v in part.nodes)
    part.least = longest + least
    closed = not part.nodes or len(part.nodes) > MOST
    part.given = np.full((K, K), np.inf if closed else 0.0)


def key(part: Part, costs: Costs, k: int, to: int) -> bytes:
    """Equal for parts that are the same problem."""
    n = len(costs.times)
    number = {v: i for i, v in enumerate(part.nodes)} | {part.first: -1, part.last: n}
    senders = [v for v in [part.first, *part.nodes] if v >= 0]
    shape = [(number[u], number[v]) for u, v in part.edges]
    numbers = costs.times[part.nodes], costs.price[part.nodes], costs.delay[:, :, senders]
    ends = part.first < 0, part.last >= n
    return repr((shape, k, to, ends)).encode() + b"".join(each.tobytes() for each in numbers)


def ask(
    instance: Instance, part: Part, costs: Costs, k: int, to: int, seconds: float
) -> tuple[float, bool]:
    """What CP-SAT proves of S(k, l) with its prices, in seconds, and whether that is all of it.

    Parameters
    ----------
    k, to : int
        Devices of both ends, or :data:`ANY` for both: then transfers at the ends are free.
    """
    from ortools.sat.python import cp_model  # a solver: heavy, and only this asks one

    times, price, delay = costs.times, costs.price, costs.delay
    able = np.isfinite(times)
    # One device after the other is a schedule: no best one is longer than this in integers.
    nodes = part.nodes
    whole = float(np.where(able[nodes], times[nodes] + price[nodes], 0.0).max(axis=1).sum())
    senders = [v for v in [part.first, *nodes] if v >= 0]
    whole += float(delay[:, :, senders].max(axis=(0, 1)).sum())
    if whole <= 0:
        return 0.0, True
    scale = UNITS / whole

    def units(value: float) -> int:
        return int(np.floor(value * scale * (1 - 1e-12)))

    model = cp_model.CpModel()
    one = model.new_constant(1)
    makespan = model.new_int_var(0, 2 * UNITS, "")
    at: dict[int, dict[int, Any]] = {}
    start: dict[int, Any] = {}
    lanes: list[list[Any]] = [[] for _ in range(instance.K)]
    paid = []
    head, tail = _ends(part, costs, k, to)
    for v in nodes:
        start[v] = model.new_int_var(0, 2 * UNITS, "")
        at[v] = {d: model.new_bool_var("") for d in np.flatnonzero(able[v]).tolist()}
        model.add_exactly_one(at[v].values())
        for d, here in at[v].items():
            length = units(float(times[v, d]))
            rest = length + units(float(tail[v][d]))
            model.add(start[v] >= units(float(head[v][d]))).only_enforce_if(here)
            model.add(makespan >= start[v] + rest).only_enforce_if(here)
            paid.append(units(float(price[v, d])) * here)
            if not instance.unlimited[d]:
                interval = model.new_optional_fixed_size_interval_var(start[v], length, here, "")
                lanes[d].append(interval)
    for d, lane in enumerate(lanes):
        model.add_no_overlap(lane)
        if lane:
            work = sum(units(float(times[v, d])) * at[v][d] for v in nodes if d in at[v])
            model.add(makespan >= work)
    for u, v in part.edges:
        first = {k: one} if u == part.first else at[u]
        last = {to: one} if v == part.last else at[v]
        begin = 0 if u == part.first else start[u]
        target = makespan if v == part.last else start[v]
        run = {d: 0 if u == part.first else units(float(times[u, d])) for d in first}
        moved = {
            (d, e): 0 if ANY in (d, e) else units(float(delay[d, e, u]))
            for d in first
            for e in last
        }
        for (d, e), sent in moved.items():
            when = [first[d], last[e]]
            model.add(target >= begin + (run[d] + sent)).only_enforce_if(when)
        if instance.K > WIDE:
            continue
        # Redundant, but with it the linear relaxation is that of the joint LP.
        flow = {pair: model.new_bool_var("") for pair in moved}
        for d, sends in first.items():
            model.add(sum(flow[d, e] for e in last) == sends)
        for e, receives in last.items():
            model.add(sum(flow[d, e] for d in first) == receives)
        spent = sum((run[d] + sent) * flow[d, e] for (d, e), sent in moved.items())
        model.add(target >= begin + spent)
    model.minimize(makespan + sum(paid))
    solver = cp_model.CpSolver()
    keep_sound(solver.parameters)
    solver.parameters.num_workers = 1
    solver.parameters.linearization_level = 2
    solver.parameters.max_time_in_seconds = max(seconds, 0.01)
    status = solver.solve(model)
    if status == cp_model.MODEL_INVALID:
        raise RuntimeError(f"CP-SAT refuses the part before node {part.last}: {model.validate()}")
    proved = max(0.0, float(np.ceil(solver.best_objective_bound - 1e-6)))
    return proved / scale * (1 - 1e-12), status == cp_model.OPTIMAL


def _neighbours(part: Part) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    """Producers and consumers within the part."""
    before: dict[int, list[int]] = {}
    after: dict[int, list[int]] = {}
    for u, v in part.edges:
        before.setdefault(v, []).append(u)
        after.setdefault(u, []).append(v)
    return before, after


def _ends(
    part: Part, costs: Costs, k: int, to: int
) -> tuple[dict[int, np.ndarray], dict[int, np.ndarray]]:
    """Earliest starts after a's finish and least times from a finish to b's start, by device."""
    before, after = _neighbours(part)
    times, delay = costs.times, costs.delay
    none = np.zeros(times.shape[1])
    head: dict[int, np.ndarray] = {}
    tail: dict[int, np.ndarray] = {}
    for v in part.nodes:
        head[v] = none
        for u in before.get(v, []):
            if u != part.first:
                there = ((head[u] + times[u])[:, None] + delay[:, :, u]).min(axis=0)
            else:
                there = none if k == ANY else delay[k, :, u]
            head[v] = np.maximum(head[v], there)
    for u in reversed(part.nodes):
        tail[u] = none
        for v in after.get(u, []):
            if v != part.last:
                rest = (delay[:, :, u] + (times[v] + tail[v])).min(axis=1)
            else:
                rest = none if to == ANY else delay[:, to, u]
            tail[u] = np.maximum(tail[u], rest)
    return head, tail
