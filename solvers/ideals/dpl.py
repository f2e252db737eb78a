"""`throughput`, contiguous: the program over ideals on one linear order, whose ideals are prefixes.

DPL of Tarnawski et al. 2020 (arXiv 2006.16423): the best of all chains along that order.
"""

from __future__ import annotations

import time
from typing import Literal

from problems.answer import Answer
from problems.instance import Instance
from problems.single import best_single
from solvers import start
from solvers.ideals._lattice import OutOfTime
from solvers.ideals._program import setting, solve_linear
from solvers.ideals._scope import refuses
from solvers.ideals.dp import value_of
from solvers.keeper import Keeper
from solvers.method import Context, Method, Unsupported, options_of

SHARE = 0.3
"""Of the time that simple chunks may take."""


def dpl(
    instance: Instance,
    context: Context,
    *,
    order: Literal["depth-first", "by-number"] = "depth-first",
) -> Answer | None:
    """Dynamic program over the prefixes of one topological order."""
    reason = refuses(instance)
    if reason is not None:
        raise Unsupported(reason)
    keeper = Keeper(context, lambda answer: value_of(instance, answer))
    single = best_single(instance)
    for known in (context.start, None if single is None else single[0]):
        if known is not None:
            keeper.take(known)
    until = time.monotonic() + SHARE * context.time_left()
    simple = start.throughput_start(instance, steps=0, deadline=until)
    if simple is not None:
        keeper.take(simple)
    note = f"{order} order"
    if keeper.value != 0.0:
        try:
            solve_linear(setting(instance, keeper, context), order)
        except OutOfTime:
            note += ", out of time"
    keeper.conclude("stopped", note)
    return keeper.best


METHOD = Method(
    name="dpl",
    run=dpl,
    problems=("throughput",),
    kind="heuristic",
    source="Tarnawski et al. 2020 (arXiv 2006.16423)",
    options=options_of(dpl),
    warm=True,
    refuses=refuses,
    summary="Dynamic program over the prefixes of one topological order",
)
