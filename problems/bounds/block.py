"""Throughput: some device that pays transfers works long, and pays for what it holds.

The load LP's multipliers say that sum_k share_k compute(k) >= least in every answer. If no load is
over t, the hosts add at most their shares times t, so that for some other device, of a class c,

    rest * compute(S) + hosts * t >= least      (rest, hosts: sums of the shares)

where S is what it holds; for like devices this is "some block holds work >= W/k". The bound is

    min over classes c and sets S of the least t >= load_c(S) that keeps this inequality,

S within the memory of c and, in a contiguous instance, convex: what two prefixes of the chain
(y before, a after) leave. One mixed-integer program for each class.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable, Sequence

import numpy as np

from problems.bounds.linear import LARGEST, TOLERANCE, Linear
from problems.bounds.nets import Nets, by_phases
from problems.bounds.node_bound import RULES
from problems.bounds.registry import bound
from problems.instance import Instance

FIRST_SECONDS = 2.0  # what the first look at each program may take


def refuses(instance: Instance) -> str | None:
    """Why no device is forced to pay, or why the programs would be too large."""
    if instance.host.all():
        return "no device pays transfers"
    if instance.n * len(np.unique(instance.device_class)) > LARGEST:
        return f"more than {LARGEST} nodes x kinds of devices"
    return None


@bound("block", problems=["throughput"], rules=RULES, refuses=refuses, effort="search")
def block(instance: Instance, seconds: float) -> tuple[float, str]:
    """Least load of a device that does its share of the work, in seconds."""
    return by_phases(instance, _block, seconds)


def _block(nets: Nets, seconds: float) -> tuple[float, str]:
    classes = np.flatnonzero(~nets.host).tolist()

    def solve(i: int, limit: float, above: float) -> float:
        model, t = Linear(), Period()
        t.variable = int(model.variables(1, lower=1.0 - TOLERANCE, upper=np.inf)[0])
        x = members(model, nets)[1] if nets.contiguous else _any(model, nets)
        hold(model, nets, classes[i], x, t)
        return least_period(model, t.variable, limit, above)

    return least_of(nets, len(classes), solve, seconds, "HiGHS: loads of one heavy device")


class Period:
    """The variable that stands for the period, in units of the load LP's bound."""

    variable: int = -1


def unit_cost(model: Linear, variable: int) -> np.ndarray:
    """The objective that is one variable."""
    cost = np.zeros(model.width)
    cost[variable] = 1.0
    return cost


def least_of(
    nets: Nets,
    programs: int,
    solve: Callable[[int, float, float], float],
    seconds: float,
    note: str,
) -> tuple[float, str]:
    """The least over programs of what each proves, the weakest one being worked at.

    Parameters
    ----------
    solve : callable
        (program, seconds it may take, value beyond which nobody asks) -> lower bound in units of
        the load LP's bound; inf where it has no solution.
    """
    unit = nets.work[0]
    if unit <= 0 or programs == 0:
        return 0.0, "no work to share"
    deadline = time.monotonic() + seconds
    # Nothing is under one unit, the load LP's bound.
    first_look = seconds if programs == 1 else min(FIRST_SECONDS, seconds / programs)
    heap = [(1.0, i, first_look) for i in range(programs)]
    done, stopped = math.inf, False
    while heap and heap[0][0] < done:
        value, i, limit = heapq.heappop(heap)
        left = deadline - time.monotonic()
        if left <= 0:
            done, stopped = value, True
            break
        begin = time.monotonic()
        found = max(value, solve(i, min(limit, left), done))
        if time.monotonic() - begin < 0.9 * min(limit, left):
            done = min(done, found)  # it ended by itself
        else:
            heapq.heappush(heap, (found, i, 4 * limit))
    if not math.isfinite(done):
        return unit, "no device can do its share: the instance has no answer"
    return unit * done, note + (" (stopped by the time limit)" if stopped else "")


def least_period(model: Linear, t: int, seconds: float, above: float) -> float:
    """Lower bound on variable `t`, not to be raised beyond `above`."""
    if not math.isfinite(above):
        return model.minimise(unit_cost(model, t), seconds)[0]
    cutoff = above * (1 + 2 * TOLERANCE)
    return min(above, model.minimise(unit_cost(model, t), seconds, {t: cutoff})[0])


def _any(model: Linear, nets: Nets) -> np.ndarray:
    return model.variables(len(nets.time), integer=True)


def members(model: Linear, nets: Nets) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Variables of what comes before a block, the block itself and what comes after it."""
    G = len(nets.time)
    before = model.variables(G, integer=True)
    after = model.variables(G, integer=True)
    x = model.variables(G)
    whole = model.rows(G, lower=1.0, upper=1.0)
    for part in (before, x, after):
        model.add(whole, part, 1.0)
    a, b = nets.order.T
    for earlier, later in ((before[a], before[b]), (after[b], after[a])):
        rows = model.rows(len(nets.order), lower=0.0)
        model.add(rows, earlier, 1.0)
        model.add(rows, later, -1.0)
    return before, x, after


def hold(model: Linear, nets: Nets, c: int, x: np.ndarray, t: Period) -> None:
    """One device of class c holds `x`, shape (G,), works its share and has a load of at most t."""
    unit, share = nets.work
    may = np.isfinite(nets.time[:, c])
    work = np.where(may, nets.time[:, c], 0.0) / unit
    hosts = float((nets.count * share)[nets.host].sum())
    heavy = model.rows(1, lower=1.0 - TOLERANCE)
    model.add(heavy, x[may], (1.0 - hosts) * work[may])
    model.add(heavy, t.variable, hosts)
    hold_no_more(model, nets, [c], x[None], t.variable, [1], x)


def hold_no_more(
    model: Linear,
    nets: Nets,
    classes: Sequence[int],
    parts: np.ndarray,
    t: int,
    count: Sequence[int],
    x: np.ndarray,
    ways: tuple[bool, bool] = (True, True),
) -> None:
    """`count` devices of some classes hold `x` together, with a load of at most t each.

    Parameters
    ----------
    parts : int array, shape (len(classes), G)
        Variables of what each class holds; their sum is `x`, shape (G,).
    ways : (bool, bool)
        Whether nets of the chain can come in, and go out.
    """
    unit = nets.work[0]
    devices = sum(count)
    total = model.rows(1, upper=0.0)  # all that they compute and pay, if transfers count on top
    for c, part, n in zip(classes, parts, count, strict=True):
        may = np.isfinite(nets.time[:, c])
        if not may.all():
            model.add(model.rows(int((~may).sum()), upper=0.0), part[~may], 1.0)
        work = np.where(may, nets.time[:, c], 0.0) / unit
        compute = model.rows(1, upper=0.0)
        model.add(compute, part, work)
        model.add(compute, t, -float(n))
        if nets.overlap == "none":
            model.add(total, part, work)
        if np.isfinite(nets.memory[c]):
            scale = max(float(nets.memory[c]), 1.0)
            model.add(
                model.rows(1, upper=n * float(nets.memory[c]) / scale), part, nets.bytes / scale
            )
    model.add(total, t, -float(devices))
    # Which of the devices pays is open: the one that pays least.
    receive = nets.receive[list(classes)].min(axis=0) / unit
    send = nets.send[list(classes)].min(axis=0) / unit
    rows = [total, total]
    if nets.overlap == "full":
        rows[1] = model.rows(1, upper=0.0)
        model.add(rows[1], t, -float(devices))
    for way, (seconds, row) in enumerate(zip((receive, send), rows, strict=True)):
        pays = (seconds > 0) & (ways[way] | ~nets.forward)
        number = np.cumsum(pays) - 1
        move = model.variables(int(pays.sum()))
        mine = pays[nets.pin_net]
        source, pin = x[nets.source[nets.pin_net[mine]]], x[nets.pin[mine]]
        plus, minus = (pin, source) if way == 0 else (source, pin)
        differ = model.rows(int(mine.sum()), lower=0.0)
        model.add(differ, move[number[nets.pin_net[mine]]], 1.0)
        model.add(differ, plus, -1.0)
        model.add(differ, minus, 1.0)
        model.add(row, move, seconds[pays])
