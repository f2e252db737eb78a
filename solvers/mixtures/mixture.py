"""`throughput` with ``replicate: mixture``: column generation with exact pricing (this suite).

See :mod:`_generate` for the bound, :mod:`_pricing` for the mappings, :mod:`_search` for memory and
:mod:`_begin` for what precedes it.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable

import numpy as np

from problems.answer import Answer
from problems.compiled import REHEARSAL
from problems.instance import Instance
from problems.mixture import mappings
from problems.rules import is_mixture
from problems.single import best_single
from solvers import objective
from solvers.formulations._floor import floor
from solvers.keeper import TOLERANCE, Keeper
from solvers.method import Context, Method, Unsupported, options_of
from solvers.mip import guess
from solvers.mixtures._begin import begin
from solvers.mixtures._chain import chain
from solvers.mixtures._columns import Columns
from solvers.mixtures._fill import fill
from solvers.mixtures._local import Local
from solvers.mixtures._pricing import Pricing
from solvers.mixtures._quick import quick
from solvers.mixtures._room import is_coupled
from solvers.mixtures._search import Search

RESERVE = 0.05, 0.5
"""What is kept of the time left for the last step: a share, at most so many seconds."""

FILL = 0.6
"""Share of the time left that goes into mixtures by walks alone, where memory is shared."""


def mixture(instance: Instance, context: Context, *, symmetry: bool = True) -> Answer | None:
    """Column generation over mappings, with the Lagrangian bound of every step.

    Parameters
    ----------
    symmetry : bool
        Give like devices equal weights, and take a mapping with its relabelled copies, as long as
        no memory is spent.
    """
    reason = refuses(instance)
    if reason is not None:
        raise Unsupported(reason)
    keeper = Keeper(context, lambda answer: objective.value(instance, answer), slack=TOLERANCE)
    alone = best_single(instance)
    for answer in (context.start, None if alone is None else alone[0]):
        if answer is not None and objective.value(instance, answer) is not None:
            keeper.take(answer)
    if keeper.value == 0.0:
        context.claim("optimal", 0.0, "the starting answer takes no time")
        return keeper.best
    tiny = instance.n <= REHEARSAL  # then nothing ends it before all parts have run
    keeper.bound_by(max(floor(instance, context.time_left(), keeper.value), context.bound))
    if keeper.proved() and not tiny:
        keeper.conclude("optimal", "the starting answer meets a known bound")
        return keeper.best
    if context.time_left() <= 0:
        keeper.conclude("stopped", "no time was left for a program")
        return keeper.best
    quick(instance, context, keeper)
    if keeper.proved() and not tiny:
        keeper.bound_by(keeper.bound)  # it came before the answer that it meets
        keeper.conclude("optimal", "one mapping meets a known bound")
        return keeper.best
    scale = keeper.value if math.isfinite(keeper.value) else guess(instance)
    coupled = is_coupled(instance)
    starts = begin(instance, context, keeper, scale) if coupled or tiny else []
    if keeper.proved() and not tiny:
        keeper.bound_by(keeper.bound)
        keeper.conclude("optimal", "a mixture meets what counts of groups bound")
        return keeper.best
    pricing = Pricing(instance, scale, context.seed, context.threads, context.time_left)
    columns = Columns(instance, scale)
    for device in first_mappings(instance, keeper.best):
        columns.add(device)
    context.built()
    kept = min(RESERVE[0] * context.time_left(), RESERVE[1])
    reserve = kept if math.isfinite(kept) else 0.0

    def time_left() -> float:
        return context.time_left() - reserve

    simple = pricing.cut is not None and not tiny
    local = None if simple else Local(instance, pricing.member, context.seed)
    if symmetry:
        columns.turn()
    search = Search(pricing, local, columns, keeper, time_left, coupled)
    if starts and (pricing.chain is not None or pricing.parts is not None):
        search.root()  # it takes little, and tells when to stop
    if starts and local is not None:
        end = time.monotonic() + FILL * time_left()
        grow(pricing, local, columns, keeper, starts, lambda: end - time.monotonic())
    ended = search.run()
    keeper.bound_by(keeper.bound)  # what came before the answer that it meets
    note = f"{len(columns.devices)} mappings, {search.nodes} nodes"
    if not ended:
        if time_left() > 0:
            note += "; the pricing has found nothing that pays, and its bound is below"
        keeper.conclude("stopped", note)
    else:
        keeper.conclude("infeasible" if keeper.best is None else "optimal", note)
    return keeper.best


def grow(
    pricing: Pricing,
    local: Local,
    columns: Columns,
    keeper: Keeper,
    starts: list[Answer],
    time_left: Callable[[], float],
) -> None:
    """Let mixtures grow from one answer after the other, by walks and with cuts of one order."""
    instance = pricing.instance
    line = pricing.chain or chain(instance, time_left, line=True)
    for answer, wide in itertools.product(starts, (True, False)):
        if time_left() <= 0 or (keeper.proved() and instance.n > REHEARSAL):
            return
        pool = Columns(instance, columns.scale)
        fill(pricing, local, pool, mappings(answer), line, wide, time_left, keeper.take)
        for device in pool.devices:
            columns.add(device)


def refuses(instance: Instance) -> str | None:
    """Why the method cannot take the instance, or None."""
    if not is_mixture(instance.rules):
        return "mixture is for `replicate: mixture`"
    return None


def first_mappings(instance: Instance, best: Answer | None) -> list[np.ndarray]:
    """What the master starts from: the known mappings, and every device alone that can."""
    found = [] if best is None else mappings(best)
    for k in range(instance.K):
        device = np.full(instance.n, k, np.int64)
        if objective.value(instance, Answer(device)) is not None:
            found.append(device)
    return found


METHOD = Method(
    name="mixture",
    run=mixture,
    problems=("throughput",),
    kind="exact",
    source="this suite",
    options=options_of(mixture),
    warm=True,
    needs=("highspy",),
    refuses=refuses,
    summary="Column generation over mappings, priced exactly",
    mixtures=True,
)
