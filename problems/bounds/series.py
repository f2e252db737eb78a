"""Latency: the graph cut into a series at the nodes that everything passes through.

A node that is comparable with every other one (all others are producers or consumers of it, direct
or indirect) parts every schedule: what is before it is finished when it starts, what is after it
starts when it is finished. With a_0, a_1, ... these nodes and N_i the nodes between a_i and a_i+1,

    makespan >= min over devices k_0, k_1, ... of
                sum_i p(a_i, k_i) + S_i(k_i, k_i+1)  + (memory prices) - sum_k mu_k M_k

where S_i(k, l) is the least time from the finish of a_i on k to the start of a_i+1 on l, and mu_k
>= 0 prices the memory of every node where it is; mu comes from the joint LP. Edges that skip an
a_i and colocation count for nothing here. S_i begins as the longest path over devices; on the way
of the least sum it is replaced by what CP-SAT proves (its times rounded down to integers), until
that way is proved throughout or the time is over.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from problems.bounds.allowed import allowed_times
from problems.bounds.joint_lp import LARGEST, prices
from problems.bounds.joint_model import size
from problems.bounds.registry import bound, round_down, slack
from problems.cp_sat import keep_sound
from problems.instance import Instance
from problems.latency import communication

UNITS = 10**7  # a segment's time in integers: what rounding down loses is a millionth
EACH = 3.0  # seconds for a part: what is not solved by then keeps what is proved
DELAYS = 5_000_000  # of every payload between all devices: more take many seconds to go through
ANY = -1  # some device at an end of a part, whichever
WIDE = 4  # devices: up to so many, every transfer of a part has its local polytope
MOST = 80  # nodes of a segment that CP-SAT is asked about


@dataclass(eq=False)
class Segment:
    """Nodes between two of the series; -1 and n stand for the start and the end.

    Attributes
    ----------
    least : float64 array, shape (K, K)
        What is proved of S(k, l) with the prices in it, seconds.
    exact : bool array, shape (K, K)
        Whether no more is to be hoped for.
    asked : bool
        Whether CP-SAT was asked about it at all.
    """

    first: int
    last: int
    nodes: list[int]
    edges: list[tuple[int, int]]
    least: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    exact: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), bool))
    asked: bool = False


def _refuses(instance: Instance) -> str | None:
    if not passages(instance):
        return "series needs a node that everything passes through"
    if instance.n * instance.K**2 > DELAYS:
        return f"series would hold {instance.n * instance.K**2} delays"
    return None


@bound(
    "series",
    problems=["latency"],
    rules=["contention", "memory", "colocate_tied"],
    refuses=_refuses,
    effort="search",
)
def series(instance: Instance, seconds: float) -> tuple[float, str]:
    """Least sum over the series, in seconds."""
    end = time.monotonic() + seconds
    best, solved = 0.0, 0
    priced = np.isfinite(instance.memory).any() and size(instance) <= LARGEST
    # Without prices the memory is ignored, and with them all depends on how good they are: both.
    for mu in ([prices(instance, seconds / 4)] if priced else []) + [np.zeros(instance.K)]:
        half = time.monotonic() + (end - time.monotonic()) / (2 if mu.any() else 1)
        value, count = _least(instance, mu, half)
        best, solved = max(best, value), solved + count
    return best, f"{len(passages(instance))} passages, {solved} parts between them proved"


def passages(instance: Instance) -> list[int]:
    """The nodes that are comparable with every other one, ascending."""
    n = instance.n
    # v is one iff every node before it has a consumer at v or before, and every node after it a
    # producer at v or after.
    consumer = [int(instance.succ[i]) if i < j else n for i, j in _spans(instance.succ_ptr)]
    producer = [int(instance.pred[j - 1]) if i < j else -1 for i, j in _spans(instance.pred_ptr)]
    before = np.maximum.accumulate([-1, *consumer])[:-1]
    after = np.minimum.accumulate([*producer, n][::-1])[::-1][1:]
    v = np.arange(n)
    return np.flatnonzero((before <= v) & (after >= v)).tolist()


def _spans(pointer: np.ndarray) -> list[tuple[int, int]]:
    return list(zip(pointer[:-1].tolist(), pointer[1:].tolist(), strict=True))


def _segments(instance: Instance) -> list[Segment]:
    ends = [-1, *passages(instance), instance.n]
    found = []
    for first, last in pairwise(ends):
        inside = range(max(first, 0), min(last + 1, instance.n))
        edges = [(u, int(v)) for u in inside
                 for v in instance.succ[instance.succ_ptr[u] : instance.succ_ptr[u + 1]]
                 if v <= last]  # fmt: skip
        found.append(Segment(first, last, list(range(first + 1, last)), edges))
    return found


def _least(instance: Instance, mu: np.ndarray, end: float) -> tuple[float, int]:
    """The bound in seconds, and how many parts CP-SAT was asked about."""
    times = allowed_times(instance)
    cost = mu * instance.node_bytes[:, None]
    links = communication(instance)
    delay = instance.link_time[links[:, :, 0]] + instance.link_time[links[:, :, 1]]  # (K, K, n)
    segments = _segments(instance)
    for each in segments:
        _paths(each, times, cost, delay)
    has_limit = np.isfinite(instance.memory)
    paid = float((mu[has_limit] * instance.memory[has_limit]).sum())
    seen: dict[bytes, float] = {}
    best, asked = 0.0, 0
    while True:
        total, way = _way(instance, segments, times, cost)
        # Every term has a few roundings; the prices that are taken off add their own.
        value = round_down(total, 4 * instance.n + 8) - paid - slack(paid + total, instance.n + 8)
        best = max(best, value)
        open_ = [i for i, ends in enumerate(way) if not segments[i].exact[ends]]
        if not open_ or time.monotonic() > end:
            return best, asked
        for i in open_:
            left = end - time.monotonic()
            if left <= 0:
                break
            # First for any devices at the ends, with free transfers there: that raises all at once.
            anywhere = not segments[i].asked
            k, to = (ANY, ANY) if anywhere else way[i]
            segments[i].asked = True
            key = _key(segments[i], times, cost, delay, k, to)
            if key not in seen:
                seen[key] = _ask(instance, segments[i], times, cost, delay, k, to, min(left, EACH))
                asked += 1
            if anywhere:
                segments[i].least = np.maximum(segments[i].least, seen[key])
                continue
            # Alike devices have alike values.
            a, b = instance.device_class[[k, to]]
            like = (instance.device_class[:, None] == a) & (instance.device_class == b)
            like &= np.eye(instance.K, dtype=bool) == (k == to)
            if segments[i].first < 0 or segments[i].last >= instance.n:
                like[k, to] = True
            raised = np.maximum(segments[i].least, seen[key])
            segments[i].least = np.where(like, raised, segments[i].least)
            segments[i].exact |= like


def _paths(each: Segment, times: np.ndarray, cost: np.ndarray, delay: np.ndarray) -> None:
    """Longest paths for a start on every device, and the least prices: what S begins as."""
    n, K = times.shape
    into: dict[int, list[int]] = {}
    for u, v in each.edges:
        into.setdefault(v, []).append(u)
    arrival: dict[int, np.ndarray] = {}  # at [start, device]
    longest = np.zeros((K, K))
    if each.first >= 0:
        arrival[each.first] = delay[:, :, each.first]
    for v in [*each.nodes, *([each.last] if each.last < n else [])]:
        head = np.zeros((K, K))
        for u in into.get(v, []):
            head = np.maximum(head, arrival[u])
        if v == each.last:
            longest = np.maximum(longest, head)
            break
        end = head + times[v]
        longest = np.maximum(longest, end.min(axis=1)[:, None])
        arrival[v] = (end[:, :, None] + delay[:, :, v]).min(axis=1)
    able = np.isfinite(times)
    least = sum(float(np.where(able[v], cost[v], np.inf).min()) for v in each.nodes)
    each.least = longest + least
    each.exact = np.full((K, K), not each.nodes or len(each.nodes) > MOST)


def _way(
    instance: Instance, segments: list[Segment], times: np.ndarray, cost: np.ndarray
) -> tuple[float, list[tuple[int, int]]]:
    """The least sum, and the devices at both ends of every segment on its way."""
    so_far = np.zeros(instance.K)
    back = []
    for each in segments:
        through = so_far[:, None] + each.least
        back.append(through.argmin(axis=0))
        so_far = through.min(axis=0)
        if each.last < instance.n:
            so_far = so_far + times[each.last] + cost[each.last]
    to = int(so_far.argmin())
    total = float(so_far[to])
    way = []
    for choice in back[::-1]:
        k = int(choice[to])
        way.append((k, to))
        to = k
    return total, way[::-1]


def _key(
    each: Segment, times: np.ndarray, cost: np.ndarray, delay: np.ndarray, k: int, to: int
) -> bytes:
    """Equal for segments that are the same problem."""
    inner = slice(each.first + 1, each.last)
    senders = slice(max(each.first, 0), each.last)
    shape = [(u - each.first, v - each.first) for u, v in each.edges]
    parts = times[inner].tobytes(), cost[inner].tobytes(), delay[:, :, senders].tobytes()
    ends = each.first < 0, each.last >= len(times)
    return repr((shape, k, to, ends)).encode() + b"".join(parts)


def _ask(
    instance: Instance,
    each: Segment,
    times: np.ndarray,
    cost: np.ndarray,
    delay: np.ndarray,
    k: int,
    to: int,
    seconds: float,
) -> float:
    """What CP-SAT proves of S(k, l) with its prices, in seconds."""
    from ortools.sat.python import cp_model  # a solver: heavy, and only this bound needs it

    able = np.isfinite(times)
    # One device after the other is a schedule: no best one is longer than this in integers.
    nodes = each.nodes
    whole = float(np.where(able[nodes], times[nodes] + cost[nodes], 0.0).max(axis=1).sum())
    senders = [v for v in [each.first, *nodes] if v >= 0]
    whole += float(delay[:, :, senders].max(axis=(0, 1)).sum())
    if whole <= 0:
        return 0.0
    scale = UNITS / whole

    def units(value: float) -> int:
        return int(np.floor(value * scale * (1 - 1e-12)))

    model = cp_model.CpModel()
    one = model.new_constant(1)
    makespan = model.new_int_var(0, 2 * UNITS, "")
    at: dict[int, dict[int, Any]] = {}
    start: dict[int, Any] = {}
    lanes: list[list[Any]] = [[] for _ in range(instance.K)]
    price = []
    for v in nodes:
        start[v] = model.new_int_var(0, 2 * UNITS, "")
        at[v] = {d: model.new_bool_var("") for d in np.flatnonzero(able[v]).tolist()}
        model.add_exactly_one(at[v].values())
        for d, here in at[v].items():
            length = units(float(times[v, d]))
            model.add(makespan >= start[v] + length).only_enforce_if(here)
            price.append(units(float(cost[v, d])) * here)
            if not instance.unlimited[d]:
                interval = model.new_optional_fixed_size_interval_var(start[v], length, here, "")
                lanes[d].append(interval)
    for d, lane in enumerate(lanes):
        model.add_no_overlap(lane)
        if lane:
            work = sum(units(float(times[v, d])) * at[v][d] for v in nodes if d in at[v])
            model.add(makespan >= work)
    for u, v in each.edges:
        first = {k: one} if u == each.first else at[u]
        last = {to: one} if v == each.last else at[v]
        begin = 0 if u == each.first else start[u]
        target = makespan if v == each.last else start[v]
        run = {d: 0 if u == each.first else units(float(times[u, d])) for d in first}
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
    model.minimize(makespan + sum(price))
    solver = cp_model.CpSolver()
    keep_sound(solver.parameters)
    solver.parameters.num_workers = 1
    solver.parameters.linearization_level = 2
    solver.parameters.max_time_in_seconds = max(seconds, 0.01)
    status = solver.solve(model)
    if status == cp_model.MODEL_INVALID:
        raise RuntimeError(f"CP-SAT refuses the part before node {each.last}: {model.validate()}")
    proved = max(0.0, float(np.ceil(solver.best_objective_bound - 1e-6)))
    return proved / scale * (1 - 1e-12)
