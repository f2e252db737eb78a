"""Starts for `throughput`: chunks of several orders, a short walk from many, contiguous optima.

A free placement takes the best chains as starts too. Programs over ideals get so many looks at
their clock, not so many seconds: each look comes after a fixed amount of work.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace

import numpy as np
from msgspec.structs import replace as with_rules
from numba import njit
from scipy.sparse import coo_array, diags_array
from scipy.sparse.linalg import ArpackError, eigsh

from heuristics.shared.best import MARGIN, Best
from heuristics.shared.chunks import device_orders, offer_chunks
from heuristics.shared.feasible import baseline
from heuristics.shared.space import Space, topological
from problems.answer import Answer
from problems.instance import Instance
from problems.rules import ThroughputRules
from solvers import start
from solvers.ideals._lattice import OutOfTime
from solvers.ideals._program import Setting, setting, solve, solve_linear
from solvers.ideals._scope import refuses
from solvers.ideals.dp import value_of
from solvers.keeper import Keeper
from solvers.method import Context

# Answers handed over at most.
MOST = 6
# Nodes x device orders of the chunks in all, and device orders at most.
WORK, ORDERS = 20_000, 6
# Nodes up to which vectors of the Laplacian are computed; up to which programs over ideals are run.
SPECTRAL, IDEALS = 4_000, 2_500
# Steps of the walk from the solvers' start, in all and a node and device; nodes up to which it is
# taken.
STEPS, STEPS_PER_PLACE, WALKED = 3_000_000, 5_000, 20_000
# Looks at the clock, about a tenth of a second each, for one order and for all ideals; memory.
LINEAR, ALL, GIB = 12, 40, 1.0


def starts(instance: Instance, space: Space, context: Context, best: Best) -> list[Answer]:
    """Different valid answers, at most :data:`MOST`, best first; each is offered to `best`."""
    baseline(instance, space, context, best)
    found: dict[tuple[float, bytes], Answer] = {}

    def keep(answer: Answer | None, value: float) -> None:
        if answer is not None and value < math.inf:
            found[value, answer.device.tobytes()] = answer
            best.offer(answer)

    keep(best.answer, best.value)
    limit = max(1, min(ORDERS, WORK // instance.n))
    devices = device_orders(instance, limit)
    for order in _orders(instance, space):
        own = _quiet(instance, context)
        for each in devices:
            if not best.done():
                offer_chunks(instance, space, own, order, each)
        keep(own.answer, own.value)
    if not best.done() and instance.n <= WALKED:
        own = _quiet(instance, context)
        steps = min(STEPS, STEPS_PER_PLACE * instance.n * instance.K)
        own.offer(start.throughput_start(instance, steps=steps))
        keep(own.answer, own.value)
    if not best.done() and instance.n <= IDEALS:
        for answer in _chains(instance, context, best):
            own = _quiet(instance, context)
            own.offer(answer)
            keep(own.answer, own.value)
    return [found[key] for key in sorted(found)[:MOST]]


def _quiet(instance: Instance, context: Context) -> Best:
    return Best(instance, Context(seed=context.seed, deadline=context.deadline))


def _orders(instance: Instance, space: Space) -> list[np.ndarray]:
    """Orders of units, topological along a chain: by number, depth first, by layers, spectral."""
    n = instance.n
    keys = [np.arange(n), *_walks(space.succ_ptr, space.succ, space.pred_ptr)]
    if not space.contiguous and 2 < n <= SPECTRAL and instance.m:
        keys += _fiedler(instance)
    orders, known = [], set()
    for key in keys:
        least = np.full(len(space.unit_bytes), math.inf)
        np.minimum.at(least, space.unit, key.astype(float))
        order = topological(space.after_ptr, space.after, least)
        if order.tobytes() not in known:
            known.add(order.tobytes())
            orders.append(order)
    return orders


@njit(cache=True)
def _walks(succ_ptr, succ, pred_ptr):  # type: ignore[no-untyped-def]
    """Place of each node in a depth-first topological order; its layer."""
    n = len(succ_ptr) - 1
    missing, depth, layer = np.empty(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)
    stack, top, place = np.empty(n, np.int64), 0, 0
    for u in range(n - 1, -1, -1):
        missing[u] = pred_ptr[u + 1] - pred_ptr[u]
        if missing[u] == 0:
            stack[top] = u
            top += 1
    while top > 0:
        top -= 1
        u = stack[top]
        depth[u] = place
        place += 1
        for i in range(succ_ptr[u + 1] - 1, succ_ptr[u] - 1, -1):
            v = succ[i]
            layer[v] = max(layer[v], layer[u] + 1)
            missing[v] -= 1
            if missing[v] == 0:
                stack[top] = v
                top += 1
    return depth, layer


def _fiedler(instance: Instance) -> list[np.ndarray]:
    """The second vector of the Laplacian whose weights are seconds of transfer."""
    n, (u, v) = instance.n, instance.edges.T
    seconds = instance.link_time.mean(axis=0)
    weight = seconds / (seconds.max() or 1.0) + 1e-3
    matrix = coo_array(
        (np.concatenate([weight[u]] * 2), (np.append(u, v), np.append(v, u))), (n, n)
    )
    laplacian = diags_array(matrix.sum(axis=1)) - matrix.tocsr()
    begin = np.random.default_rng(0).random(n)
    try:
        _, vectors = eigsh(laplacian.tocsc(), k=2, sigma=-1e-3, v0=begin, maxiter=200)
    except (ArpackError, RuntimeError):
        return []  # it did not converge
    return [vectors[:, 1]]


class _Looks(Context):
    """A context whose time is up after so many looks, or when the other's is."""

    def __init__(self, context: Context, looks: int) -> None:
        super().__init__(seed=context.seed, deadline=context.deadline)
        self.looks = looks

    def time_left(self) -> float:
        self.looks -= 1
        return super().time_left() - MARGIN if self.looks >= 0 else -1.0


def _chains(instance: Instance, context: Context, best: Best) -> list[Answer]:
    """The best chains along two orders, and over all ideals if that is done soon."""
    rules = instance.rules
    assert isinstance(rules, ThroughputRules)
    twin = (
        instance
        if rules.contiguous
        else replace(instance, rules=with_rules(rules, contiguous=True))
    )
    if refuses(twin) is not None:
        return []
    result: list[Answer] = []

    def prepared(looks: int, answer: Answer | None) -> Setting:
        own = _Looks(context, looks)
        own.on_answer = result.append
        keeper = Keeper(own, lambda answer: value_of(twin, answer))
        if answer is not None:
            keeper.take(answer)
            result.clear()
        return setting(twin, keeper, own)

    for order in ("depth-first", "by number"):
        if best.done():
            return result
        with suppress(OutOfTime):
            solve_linear(prepared(LINEAR, best.answer if rules.contiguous else None), order)
    known = result[-1] if result else best.answer if rules.contiguous else None
    kept = list(result)
    if not best.done():
        solve(prepared(ALL, known), GIB)
    return kept + [each for each in result if each not in kept]
