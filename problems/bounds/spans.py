"""Latency: longest paths whose steps may be whole parts of the graph.

For a before b, direct or indirect, and S(k, l) of all that must run between them
(:mod:`problems.bounds.part`), b on l starts S(k, l) or more after the finish of a on k. So a pair
is a step of the longest path over devices as an edge is, and heads and tails
(:mod:`problems.bounds.headtail`) become

    H(b, l) = max over edges and pairs into b of  min over k of  H(a, k) + p_k(a) + S_ab(k, l)

and likewise T; makespan >= max over v of min over k of H(v, k) + p_k(v) + T(v, k) as before. This
needs no node that everything passes through, as :mod:`problems.bounds.series` does; the start and
the end of all count as such a and b.

Which pairs: on the way that attains the bound, those that hold the most work which could still make
it longer; small ones first, for a short time first. What heads and tails are reached in the end is
where :mod:`problems.bounds.destructive` begins anew.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from problems.bounds import part
from problems.bounds.allowed import allowed_times
from problems.bounds.destructive import LARGEST, refute
from problems.bounds.part import ANY, Costs, Part
from problems.bounds.propagation import Case, State, case_of, start
from problems.bounds.registry import bound, round_down
from problems.bounds.series import DELAYS, FIRST, GROWTH
from problems.instance import Instance
from problems.latency import communication

SIZES = (12, 24, 48, part.MOST)  # nodes of a pair's part at most, in the order of trying
SHARE = 0.6  # of the time for parts; the rest is for refuting with what they gave
ROUNDED = 1e-12  # how far heads and tails are lowered: more than their rounding
WORTH = 1e-6  # relative to the bound: less to be gained is not asked for


@dataclass(eq=False)
class Steps:
    """Pairs that were asked about, with heads and tails over them.

    Attributes
    ----------
    parts : dict of (int, int) to Part
        By a and b.
    into, out : dict of int to list of Part
        By b, and by a.
    head, tail : float64 arrays, shape (n, K)
    """

    instance: Instance
    case: Case
    costs: Costs
    parts: dict[tuple[int, int], Part] = field(default_factory=dict)
    into: dict[int, list[Part]] = field(default_factory=dict)
    out: dict[int, list[Part]] = field(default_factory=dict)
    head: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    tail: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    seen: dict[bytes, tuple[float, float]] = field(default_factory=dict)
    asked: int = 0

    def value(self) -> tuple[float, int]:
        """The bound in seconds before rounding down, and the node that attains it."""
        self._heads()
        self._tails()
        through = (self.head + self.costs.times + self.tail).min(axis=1)
        return float(through.max()), int(through.argmax())

    def before(self, v: int) -> list[tuple[int, np.ndarray]]:
        """(a, earliest arrival at v by a's device and v's) for edges and pairs into v."""
        case, costs = self.instance, self.costs
        edges = case.pred[case.pred_ptr[v] : case.pred_ptr[v + 1]].tolist()
        found = [(u, costs.delay[:, :, u]) for u in edges]
        found += [(each.first, each.least) for each in self.into.get(v, [])]
        end = self.head + costs.times
        return [(a, step if a < 0 else end[a][:, None] + step) for a, step in found]

    def after(self, u: int) -> list[tuple[int, np.ndarray]]:
        """(b, least time from u's finish to the end by u's device and b's), likewise."""
        case, costs = self.instance, self.costs
        edges = case.succ[case.succ_ptr[u] : case.succ_ptr[u + 1]].tolist()
        found = [(v, costs.delay[:, :, u]) for v in edges]
        found += [(each.last, each.least) for each in self.out.get(u, [])]
        return [
            (b, step if b >= case.n else step + costs.times[b] + self.tail[b]) for b, step in found
        ]

    def _heads(self) -> None:
        self.head = np.zeros(self.costs.times.shape)
        for v in range(self.instance.n):
            for _, arrival in self.before(v):
                self.head[v] = np.maximum(self.head[v], arrival.min(axis=0))

    def _tails(self) -> None:
        self.tail = np.zeros(self.costs.times.shape)
        for u in range(self.instance.n - 1, -1, -1):
            for _, rest in self.after(u):
                self.tail[u] = np.maximum(self.tail[u], rest.min(axis=1))

    def way(self, v: int) -> list[tuple[int, int]]:
        """(node, device) on the way through v that attains the bound; -1 and n at its ends."""
        k = int((self.head[v] + self.costs.times[v] + self.tail[v]).argmin())
        found = [(v, k)]
        while found[0][0] >= 0:
            b, to = found[0]
            steps = [(float(x[:, to].min()), a, int(x[:, to].argmin())) for a, x in self.before(b)]
            found.insert(0, max(steps)[1:] if steps else (-1, 0))
        while found[-1][0] < self.instance.n:
            a, k = found[-1]
            steps = [(float(x[k].min()), b, int(x[k].argmin())) for b, x in self.after(a)]
            found.append(max(steps)[1:] if steps else (self.instance.n, 0))
        return found

    def between(self, a: int, b: int) -> np.ndarray:
        """Which nodes are after a and before b, shape (n,)."""
        inside = np.ones(self.instance.n, bool)
        if a >= 0:
            inside &= self.case.below[a]
        if b < self.instance.n:
            inside &= self.case.above[b]
        return inside

    def worth_asking(
        self, way: list[tuple[int, int]], value: float, size: int, limit: float
    ) -> list[tuple[tuple[int, int], tuple[int, int]]]:
        """Pairs on the way, none overlapping another, that hold most; ((a, k), (b, l)).

        What a pair can gain is at most the time of all its nodes one after another on one device,
        less the time that the way has for them.
        """
        n, times = self.instance.n, self.costs.times
        begin = [0.0 if a < 0 else value if a >= n else float(self.head[a, k]) for a, k in way]
        run = [0.0 if a < 0 or a >= n else float(times[a, k]) for a, k in way]
        best, choice = [0.0] * len(way), [-1] * len(way)
        for j in range(1, len(way)):
            best[j] = best[j - 1]
            for i in range(j - 1, -1, -1):
                (a, k), (b, to) = way[i], way[j]
                inside = self.between(a, b)
                count = int(inside.sum())
                if count > size:
                    break
                known = self.parts.get((a, b))
                if count < 2 or (known is not None and known.given[k, to] >= limit):
                    continue
                most = float(times[inside].sum(axis=0).min())
                gain = most - (begin[j] - begin[i] - run[i])
                if gain > WORTH * value and best[i] + gain > best[j]:
                    best[j], choice[j] = best[i] + gain, i
        found, j = [], len(way) - 1
        while j > 0:
            i = choice[j]
            if i >= 0:
                found.append((way[i], way[j]))
            j = i if i >= 0 else j - 1
        return found

    def ask(self, first: tuple[int, int], last: tuple[int, int], limit: float, end: float) -> None:
        """Ask about a pair, at first for any devices, then for those of the way."""
        (a, k), (b, to) = first, last
        each = self.parts.get((a, b))
        if each is None:
            each = self._new(a, b)
            each.least = np.maximum(each.least, self._proved(each, ANY, ANY, limit, end)[0])
            return
        proved, given = self._proved(each, k, to, limit, end)
        # Alike devices have alike values, and what has no node at an end has no device there.
        kind = self.instance.device_class
        rows = kind == kind[k] if a >= 0 else np.full(len(kind), True)
        columns = kind == kind[to] if b < self.instance.n else np.full(len(kind), True)
        like = rows[:, None] & columns
        if a >= 0 and b < self.instance.n:
            like &= np.eye(len(kind), dtype=bool) == (k == to)
        each.least = np.where(like, np.maximum(each.least, proved), each.least)
        each.given = np.where(like, np.maximum(each.given, given), each.given)

    def _new(self, a: int, b: int) -> Part:
        nodes = np.flatnonzero(self.between(a, b)).tolist()
        among = {*nodes, *([a] if a >= 0 else []), *([b] if b < self.instance.n else [])}
        case = self.instance
        edges = [(u, v) for u in sorted(among)
                 for v in case.succ[case.succ_ptr[u] : case.succ_ptr[u + 1]].tolist()
                 if v in among]  # fmt: skip
        each = Part(a, b, nodes, edges)
        part.paths(each, self.costs)
        self.parts[a, b] = each
        self.into.setdefault(b, []).append(each)
        self.out.setdefault(a, []).append(each)
        return each

    def _proved(self, each: Part, k: int, to: int, limit: float, end: float) -> tuple[float, float]:
        """What is proved of a part, and what CP-SAT was given for it."""
        name = part.key(each, self.costs, k, to)
        known = self.seen.get(name, (0.0, 0.0))
        if known[1] < limit:
            seconds = min(limit, end - time.monotonic())
            proved, closed = part.ask(self.instance, each, self.costs, k, to, seconds)
            self.seen[name] = max(proved, known[0]), np.inf if closed else limit
            self.asked += 1
        return self.seen[name]


def _refuses(instance: Instance) -> str | None:
    if instance.n > LARGEST:
        return f"spans stops at {LARGEST} nodes"
    if instance.n * instance.K**2 > DELAYS:
        return f"spans would hold {instance.n * instance.K**2} delays"
    return None


@bound(
    "spans",
    problems=["latency"],
    rules=["contention", "memory", "colocate_tied"],
    refuses=_refuses,
    effort="search",
)
def spans(instance: Instance, seconds: float) -> tuple[float, str]:
    """Longest path over edges and parts, or what its heads and tails refute, in seconds."""
    now = time.monotonic()
    links = communication(instance)
    delay = instance.link_time[links[:, :, 0]] + instance.link_time[links[:, :, 1]]
    times = allowed_times(instance)
    costs = Costs(times, np.zeros(times.shape), delay)
    steps = Steps(instance, case_of(instance), costs)
    value, v = steps.value()
    limit, level, end = FIRST, 0, now + SHARE * seconds
    while time.monotonic() < end:
        pairs = steps.worth_asking(steps.way(v), value, SIZES[level], limit)
        for first, last in pairs:
            if time.monotonic() < end:
                steps.ask(first, last, limit, end)
        value, v = steps.value()
        if not pairs and level + 1 < len(SIZES):
            level += 1
        elif not pairs:
            if all(given == np.inf for _, given in steps.seen.values()):
                break
            level, limit = 0, limit * GROWTH
    # Every term has a few roundings.
    reached = round_down(value, 4 * instance.n + 8)
    note = f"longest path over {len(steps.parts)} parts"
    if reached <= 0:
        return 0.0, note
    better, how = refute(instance, reached, now + seconds, _state(steps))
    if better <= reached:
        return reached, note
    return better, f"{how}, from heads and tails of the {note}"


def _state(steps: Steps) -> State:
    """Heads and tails where propagation begins."""
    one = np.unique(steps.instance.device_class, return_index=True)[1]
    left = start(steps.case)
    able = left.allowed[left.cluster]
    head, tail = ((1 - ROUNDED) * np.where(able, x[:, one], 0.0) for x in (steps.head, steps.tail))
    return State(left.cluster, left.allowed, left.held, head, tail)
