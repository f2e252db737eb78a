"""Multilevel search: contract, solve what is small, refine on the way back."""

from __future__ import annotations

import math
import time
from itertools import pairwise
from typing import Annotated

import numpy as np

from heuristics.annealing import anneal, constructive
from heuristics.levels import schedule
from heuristics.levels.hierarchy import hierarchy
from heuristics.modules.reduced import part_nodes, reduced
from heuristics.shared import space as space_
from heuristics.shared.best import Best
from heuristics.shared.feasible import baseline
from heuristics.shared.space import Space
from heuristics.starts.dispatch import starts
from problems import latency
from problems.answer import Answer
from problems.instance import Instance
from solvers.method import Context, Range, method

LEAST, EACH = 400, 20
"""Parts of the coarsest level: at least, and a device."""
CONSTRUCTING, CONTRACTING, COARSEST, LEVEL = 0.25, 0.3, 0.5, 0.4
"""Of the time left: constructive answers; contracting; starts and walks on the coarsest level;
walks on each level."""
SETTING_UP = 0.3
"""Of the time left that making a level may take, by what the one before took, or it is left out."""
STARTS = 0.4
"""Of the time of the coarsest level: starts."""
ROUNDS = 4
"""Rounds of walks on a level where there is no clock."""


@method(problems=["throughput", "latency"], source="this suite", warm=True)
def multilevel(
    instance: Instance,
    context: Context,
    *,
    coarsest: Annotated[int, Range(0, 1_000_000)] = 0,
    rounds: Annotated[int, Range(0, 1_000_000)] = 0,
) -> Answer | None:
    """Multilevel: contract along heavy edges, search on few parts, anneal on every level back.

    The constructive answers come first. Then colocation groups are contracted, round by round, to
    about `coarsest` parts (0: by the number of devices), so that what has an order keeps one
    (:mod:`heuristics.levels.matching`). On the coarsest level several starts are annealed; the
    best answer of each level is where walks on the next finer one begin. An answer of parts is one
    of their nodes: for `throughput` of the same objective, for `latency` of one that is no worse.
    Each level has `rounds` rounds of walks (0: a share of the time).
    """
    best = Best(instance, context)
    space = space_.build(instance)
    baseline(instance, space, context, best)
    short = Context(
        seed=context.seed, deadline=time.monotonic() + CONSTRUCTING * context.time_left()
    )
    found = constructive(instance, space, short, best)
    end = time.monotonic() + CONTRACTING * context.time_left()
    parts = hierarchy(
        instance, coarsest or max(LEAST, EACH * instance.K), context.rng,
        lambda: end - time.monotonic(),
    )  # fmt: skip
    known: Answer | None = None
    each = 0.0  # seconds a part that making the last level took
    for i, part in enumerate(reversed(parts)):
        if best.done() or each * int(part.max() + 1) > SETTING_UP * context.time_left():
            break
        share, begin = COARSEST if i == 0 else LEVEL, time.monotonic()
        level = _level(instance, part)
        each = (time.monotonic() - begin) / int(part.max() + 1)
        known = _solve(instance, level, part, known, best, share, rounds) or known
        best.offer(known)
    if not parts:
        found += starts(instance, space, context, best)
    if best.answer is not None and not best.done():
        first = [best.answer] if parts else found
        anneal(instance, space, context, best, first, rounds=_rounds(best, rounds))
    return best.answer


def _rounds(best: Best, rounds: int) -> int:
    return rounds or (ROUNDS if best.context.deadline == math.inf else 0)


def _level(instance: Instance, part: np.ndarray) -> tuple[Instance, Space]:
    """The instance whose nodes are parts, and its space."""
    if instance.problem == "latency":
        small = schedule.coarse(instance, part)
    else:
        small = reduced(instance, part, np.full(int(part.max()) + 1, -1))
    return small, space_.build(small)


def _solve(
    instance: Instance,
    level: tuple[Instance, Space],
    part: np.ndarray,
    known: Answer | None,
    best: Best,
    share: float,
    rounds: int,
) -> Answer | None:
    """The best answer whose parts stay together; what is `known` is where to begin."""
    ordered = instance.problem == "latency"
    P = int(part.max()) + 1
    small, space = level
    first = np.unique(part, return_index=True)[1]
    of = np.arange(P) if ordered else part_nodes(small, P)
    context = best.context
    left = context.time_left()
    own = Best(
        small,
        Context(
            seed=int(context.rng.integers(2**31)), deadline=time.monotonic() + share * left,
            threads=context.threads, bound=context.bound,
        ),
    )  # fmt: skip
    if known is None:
        baseline(small, space, own.context, own)
        some = Best(
            small,
            Context(
                seed=own.context.seed, deadline=time.monotonic() + STARTS * share * left,
                bound=context.bound,
            ),
        )  # fmt: skip
        found = starts(small, space, some.context, some)
    else:
        found = [_down(small, known, first, of, part)]
    for each in found:
        own.offer(each)
    if own.answer is not None:
        anneal(small, space, own.context, own, found or [own.answer], rounds=_rounds(own, rounds))
    if own.answer is None:
        return None
    device = own.answer.device[of][part]
    if not ordered:
        return Answer.of(device)
    place = schedule.sequence_of(small, own.answer)
    return latency.answer_of(instance, device, np.argsort(place[part], kind="stable"))


def _down(
    small: Instance, known: Answer, first: np.ndarray, of: np.ndarray, part: np.ndarray
) -> Answer:
    """An answer of the whole instance whose parts stay together, as one of the parts."""
    of_part = known.device[first]
    if small.problem == "latency":
        assert known.order is not None
        # A part stands where its first node does: its nodes follow each other on their device.
        place = np.empty(len(part), np.int64)
        for nodes in known.order:
            place[nodes] = np.arange(len(nodes))
        parts = np.lexsort((place[first], of_part))
        split = np.searchsorted(of_part[parts], np.arange(small.K + 1))
        order = tuple(parts[a:b] for a, b in pairwise(split))
        return Answer(of_part, order)
    of_group = np.empty(int(small.group.max()) + 1, np.int64)
    of_group[small.group[of]] = of_part
    return Answer.of(of_group[small.group])
