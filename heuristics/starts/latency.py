"""Starts for `latency`: list schedules, chunks, pairs of devices, beams."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np

from heuristics.shared import ranks
from heuristics.shared.best import Best, objective
from heuristics.shared.chunks import device_orders, offer_chunks
from heuristics.shared.feasible import baseline
from heuristics.shared.lists import offer_schedule, offer_sequence
from heuristics.shared.space import Space
from heuristics.starts import latency_memory
from problems.answer import Answer
from problems.compiled import REHEARSAL
from problems.instance import Instance
from solvers.beam import MOST as BEAM
from solvers.beam import WEIGHTS, Beams
from solvers.method import Context

# Answers handed over at most, in all and of one kind.
MOST, SAME = 6, 3
# Nodes x device orders of the chunks in all, and device orders at most.
WORK, ORDERS = 20_000, 6
BEAM_NODES = 100_000
# Pairs of devices that are tried.
PAIRS = 6
# Nodes up to which chunks and pairs are tried: beyond, lists alone take seconds.
MANY = 20_000
# Widths of beams in the first look and around the best; factors of prices there.
# Wide ones have so many nodes at most in all their schedules together.
NARROW, WIDE, FACTORS = 12, 96, (0.6, 0.75, 0.87, 1.0, 1.15, 1.3, 1.6)


def starts(instance: Instance, space: Space, context: Context, best: Best) -> list[Answer]:
    """Different valid answers, at most :data:`MOST`, best first; each is offered to `best`."""
    rank = ranks.mean_rank(instance, space)
    sequence = np.argsort(-rank, kind="stable").astype(np.int64)
    if context.start is None and space.unit_bytes.sum() > space.memory.max():
        # No device holds it all. A list knows how to deal with that as well as a first fit does,
        # which may take long.
        offer_sequence(instance, space, best, sequence)
    baseline(instance, space, context, best)
    if best.answer is None:
        return []
    # By kind and value: like answers of one kind would crowd out the rest.
    found: dict[str, dict[float, Answer]] = {"single": {best.value: best.answer}}
    fallback = best.answer

    def fresh() -> Best:
        # Quiet: only what beats the best so far is reported. Lists take their way out from it.
        own = Best(instance, replace(context))
        own.context.deadline, own.context.on_answer = context.deadline, lambda answer: None
        own.answer = fallback
        return own

    def keep(kind: str, own: Best) -> None:
        if own.answer is not None and own.value < math.inf:
            found.setdefault(kind, {}).setdefault(own.value, own.answer)
            best.offer(own.answer)

    _, between = ranks.averages(instance, space)
    table = np.minimum(ranks.optimistic_costs(space, between), 1e30)
    lists: list[Callable[[Best], bool]] = [
        lambda own: offer_sequence(instance, space, own, sequence),
        lambda own: offer_sequence(instance, space, own, sequence, bias=table),
        lambda own: offer_schedule(
            instance, space, own, -np.arange(instance.n, dtype=float), False
        ),
    ]
    for make in lists:
        if best.done():
            break
        own = fresh()
        make(own)
        keep("list", own)
    if not best.done() and latency_memory.binds(space):

        def take(answer: Answer) -> None:
            own = fresh()
            own.offer(answer)
            keep("memory", own)

        latency_memory.placements(instance, context, take)
    if instance.n <= REHEARSAL and not best.done():
        # Not kept: to have it compiled before beams, which may take all the time of a warm-up.
        units, devices = np.arange(len(space.unit_bytes)), np.arange(instance.K)
        offer_chunks(instance, space, fresh(), units, devices)
    if instance.n <= BEAM:
        for answer in _beams(instance, space, best, sequence):
            own = fresh()
            own.offer(answer)
            keep("beam", own)
    if instance.n <= MANY:
        _chunks(instance, space, best, fresh, keep, rank)
    for pair in _pairs(instance):
        if best.done():
            break
        own, bias = fresh(), np.full(space.time.shape, 1e30)
        bias[:, pair] = table[:, pair]
        offer_sequence(instance, space, own, sequence, bias=bias)
        keep("pair", own)
    some = {v: each[v] for each in found.values() for v in sorted(each)[:SAME]}
    return [some[value] for value in sorted(some)[:MOST]]


def _beams(instance: Instance, space: Space, best: Best, sequence: np.ndarray) -> Iterator[Answer]:
    """Beams of several orders, weights and, where memory is short, prices; then near the best."""
    short = space.memory.min() < space.unit_bytes.sum() + space.shared_bytes.sum()
    known: list[tuple[float, int, float, float]] = []
    beams = Beams(instance)

    def look(order: int, weight: float, price: float, width: int) -> Answer | None:
        if best.done():
            return None
        answer = beams.search((sequence, natural)[order], weight, price, width, best.done)
        if answer is not None:
            known.append((objective(instance, answer), order, weight, price))
        return answer

    natural, value = np.arange(instance.n), best.value
    prices = [0.0, *(value * 2.0**i for i in range(-8, 3))] if short else [0.0]
    tries = [(o, w, p, NARROW) for p in prices for o in (0, 1) for w in WEIGHTS]
    for each in tries:
        answer = look(*each)
        if answer is not None:
            yield answer
    wide = min(WIDE, max(NARROW, BEAM_NODES // instance.n))
    # Each setting once: neighbours in price of the best ones, wide.
    for _, order, weight, price in sorted(known)[:3]:
        for factor in FACTORS if price > 0.0 else (1.0,):
            answer = look(order, weight, price * factor, wide)
            if answer is not None:
                yield answer


def _chunks(
    instance: Instance,
    space: Space,
    best: Best,
    fresh: Callable[[], Best],
    keep: Callable[[str, Best], None],
    rank: np.ndarray,
) -> None:
    """Consecutive pieces of topological orders of units, one piece a device."""
    by_rank = np.full(len(space.unit_bytes), -np.inf)
    np.maximum.at(by_rank, space.unit, rank)
    orders = [np.arange(len(by_rank)), np.argsort(-by_rank, kind="stable")]
    if best.done():
        return
    each = device_orders(instance, max(1, min(ORDERS, WORK // instance.n)))
    for order in orders:
        own = fresh()
        for devices in each:
            if best.done():
                return
            offer_chunks(instance, space, own, order, devices)
        keep("chunks", own)


def _pairs(instance: Instance) -> list[list[int]]:
    """Pairs of devices, unlike ones once, at most :data:`PAIRS`; fastest first."""
    if instance.K < 3 or instance.n > MANY:
        return []
    total = np.where(np.isfinite(instance.time), instance.time, 0.0).sum(axis=0)
    classes = instance.device_class
    pairs: dict[tuple[int, ...], list[int]] = {}
    for pair in combinations(np.argsort(total, kind="stable")[:8].tolist(), 2):
        pairs.setdefault(tuple(sorted(classes[list(pair)].tolist())), list(pair))
    return list(pairs.values())[:PAIRS]
