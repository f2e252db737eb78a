"""Cut after cut until time is up: other devices, tolerances and seeds.

A partitioner cannot be interrupted. On a large graph the first cuts are therefore made of coarser
ones, which take little time and tell how much the next will take; what would not end in time is not
started. The course is fixed by the seed, and the clock only ends it.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Iterator
from hashlib import sha256
from itertools import count
from typing import NamedTuple, Protocol

import numpy as np

from heuristics.annealing import annealing
from heuristics.partition import network as network_
from heuristics.partition.network import Graph, Network
from heuristics.partition.place import offer_parts
from heuristics.shared import space as space_
from heuristics.shared import state as state_
from heuristics.shared.best import MARGIN, Best
from heuristics.shared.feasible import baseline
from heuristics.shared.space import Space
from problems.answer import Answer
from problems.instance import Instance
from solvers.method import REGISTRY, Context

# Cuts without a deadline and without a number of tries.
TRIES = 24
# Tolerated parts of a load above its target, in turn.
IMBALANCES = (0.05, 0.01, 0.2, 0.1, 0.4)
# Vertices of the first cut, and how many times more the next one has.
SMALL, GROWTH = 600, 3
# A cut takes at most so many times the longest of the last ones of its size; see also `_expected`.
SAFETY, LAST = 1.5, 8
# The first cut and all before it take at most so many times what the search space took.
FIRST = 2.0
# Share of the memory in the weights where it binds.
MIXED = 0.5
# Sets of devices tried in turn, at most.
SETS = 8
# Added to the costs of edges at random, in parts of them, in turn: a seed alone changes little in
# the cuts of small graphs.
NOISES = (0.0, 0.3, 1.0)
# Rounds of annealing with `polish`.
ROUNDS = 2


class Cut(Protocol):
    """A graph partitioner.

    ``cut(graph, share, imbalance, seed)``: the part of every vertex, int64 array of shape (V,) in
    0..P-1, for target shares of the load, shape (P,), which are positive and sum to 1. There are
    at least two parts and at least as many vertices.
    """

    def __call__(
        self, graph: Graph, share: np.ndarray, imbalance: float, seed: int, /
    ) -> np.ndarray:
        """Cut the graph."""


class Try(NamedTuple):
    """One cut: of how many vertices, for which devices, how even, and how much memory counts.

    Costs are made larger by random parts of up to `noise`.
    """

    size: int
    devices: np.ndarray
    imbalance: float
    memory: float
    noise: float


def partition(
    instance: Instance, context: Context, cut: Cut, tries: int, polish: bool
) -> Answer | None:
    """Answer an instance by cuts, `tries` of them (0: until time is up)."""
    best = Best(instance, context)
    begin = time.monotonic()
    space = space_.build(instance)
    clue = FIRST * (time.monotonic() - begin)
    baseline(instance, space, context, best)
    if tries == 0 and (polish or context.deadline == math.inf):
        tries = TRIES
    if instance.K > 1 and len(space.unit_bytes) > 1 and clue < context.time_left():
        _cuts(instance, context, space, best, cut, tries)
    if polish and best.answer is not None and not best.done():
        best.offer(_polished(instance, context, best.answer))
    return best.answer


def _polished(instance: Instance, context: Context, answer: Answer) -> Answer | None:
    """The answer after a few rounds of annealing; improvements are reported on the way."""
    if REGISTRY["annealing"].refusal(instance):
        return None
    own = Context(
        seed=context.seed,
        deadline=context.deadline,
        start=answer,
        bound=context.bound,
        on_answer=context.on_answer,
    )
    return annealing(instance, own, rounds=ROUNDS, start="single")


def _cuts(
    instance: Instance, context: Context, space: Space, best: Best, cut: Cut, tries: int
) -> None:
    network = network_.build(instance, space)
    state = state_.empty(space)
    cutting: dict[int, deque[float]] = {}
    placing: deque[float] = deque(maxlen=LAST)
    known: set[bytes] = set()
    for i, each in enumerate(_course(instance, space, network)):
        if best.done() or (tries and i >= tries):
            return
        # Drawn in any case, so that every try has its own, whatever became of others.
        seed = int(context.rng.integers(1, 2**30))
        if _expected(cutting, placing, each.size) > context.time_left() - MARGIN:
            return
        begin = time.monotonic()
        cost = network_.seconds(instance, space, network, each.devices)
        noisy = _noisy(network, cost, each.noise, seed)
        part = _part(instance, space, network, each, noisy, cut, seed)
        cut_at = time.monotonic()
        cutting.setdefault(each.size, deque(maxlen=LAST)).append(cut_at - begin)
        key = sha256(part.tobytes() + each.devices.tobytes()).digest()
        if key not in known:
            known.add(key)
            offer_parts(instance, space, state, best, network, cost, part, each.devices)
            placing.append(time.monotonic() - cut_at)


def _expected(cutting: dict[int, deque[float]], placing: deque[float], size: int) -> float:
    """Seconds that a cut of `size` vertices and its placements take at most; 0 without a clue.

    Placements are made of whole graphs always, whatever the size that is cut.
    """
    if not cutting:
        return 0.0
    known = size if size in cutting else max(cutting)
    grown = max(cutting[known]) * (size / known) ** 1.2
    return float(SAFETY * (grown + max(placing)))


def _course(instance: Instance, space: Space, network: Network) -> Iterator[Try]:
    """All tries, without end."""
    U = len(space.unit_bytes)
    groups = device_sets(instance, space)
    binds = bool((network.bytes.sum() > instance.memory[np.concatenate(groups)]).any())
    size = SMALL
    while size < U:
        yield Try(size, groups[0], IMBALANCES[0], 0.0, 0.0)
        size *= GROWTH
    for turn in count():
        for devices in groups:
            for memory in (0.0, MIXED) if binds else (0.0,):
                imbalance = IMBALANCES[turn % len(IMBALANCES)]
                yield Try(U, devices, imbalance, memory, NOISES[turn % len(NOISES)])


def device_sets(instance: Instance, space: Space) -> list[np.ndarray]:
    """Sets of devices that share the work, each sorted by falling speed.

    The accelerators first (as published), then all; then the fastest classes, and ever fewer
    devices by halves, since transfers may make more devices worse.
    """
    everything = np.arange(instance.K)
    speed = network_.work(space, everything)[1]
    order = np.argsort(-speed, kind="stable")
    found = [order[~instance.host[order]], order]
    classes = instance.device_class[order]
    ends = np.flatnonzero(classes[1:] != classes[:-1]) + 1
    found += [order[:end] for end in ends]
    for whole in (found[0], order):
        half = len(whole) // 2
        while half >= 2:
            found.append(whole[:half])
            half //= 2
    result: dict[bytes, np.ndarray] = {}
    for devices in found:
        # No more parts than units.
        devices = devices[: len(space.unit_bytes)]
        if len(devices) > 1:
            result.setdefault(np.sort(devices).tobytes(), devices)
    return list(result.values())[:SETS]


def _noisy(network: Network, cost: np.ndarray, noise: float, seed: int) -> np.ndarray:
    """The costs with random additions, the same in both rows of an edge."""
    if not noise:
        return cost
    factor = 1 + noise * np.random.default_rng(seed).random(len(cost) // 2)
    result: np.ndarray = cost * factor[network.edge]
    return result


def _part(
    instance: Instance,
    space: Space,
    network: Network,
    each: Try,
    cost: np.ndarray,
    cut: Cut,
    seed: int,
) -> np.ndarray:
    """Part of every unit."""
    load, speed = network_.work(space, each.devices)
    share = speed / speed.sum()
    total = network.bytes.sum()
    if each.memory and total:
        load = load / load.sum() if load.sum() else load
        load = (1 - each.memory) * load + each.memory * network.bytes / total
        room = np.minimum(instance.memory[each.devices], total)
        room = room / room.sum() if room.sum() else share
        share = (1 - each.memory) * share + each.memory * room
    share = np.maximum(share, 1e-6)
    share = share / share.sum()
    graph = network_.graph(network, load, cost)
    if each.size >= len(load):
        return cut(graph, share, each.imbalance, seed)
    small, label = network_.coarse(graph, each.size)
    if len(small.load) < len(share):  # a few units have nearly all the load
        return cut(graph, share, each.imbalance, seed)
    result: np.ndarray = cut(small, share, each.imbalance, seed)[label]
    return result
