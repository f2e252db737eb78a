"""Starts for `calls`: cuts and fills of a topological order, and the max-load pipeline's calls."""

from __future__ import annotations

import numpy as np

from heuristics.max_load import offer, refuses
from heuristics.orders import runs
from heuristics.shared.best import Best
from heuristics.shared.feasible import baseline
from heuristics.shared.space import Space
from problems import calls
from problems.answer import Answer
from problems.compiled import REHEARSAL
from problems.instance import Instance
from problems.placement import is_placeable
from solvers.method import Context
from solvers.start_calls import mappings

MOST = 6
# Passes over the labels of cuts.
PASSES = 4


def seeds(instance: Instance) -> list[Answer]:
    """Answers to walk out from, at most :data:`MOST`; those that exceed memory last."""
    found: dict[tuple[bool, float], Answer] = {}
    for device in mappings(instance):
        answer = calls.dispatch(instance, device)
        if calls.finishes(instance, answer) is not None:
            key = not is_placeable(instance, device), calls.makespan(instance, answer)
            found.setdefault(key, answer)
    return [found[key] for key in sorted(found)[:MOST]]


def starts(instance: Instance, space: Space, context: Context, best: Best) -> list[Answer]:
    """Different valid answers, at most :data:`MOST`, best first; each is offered to `best`."""
    baseline(instance, space, context, best)
    found: dict[tuple[float, bytes, bytes], Answer] = {}

    def keep(own: Best) -> None:
        if own.answer is not None:
            whole = calls.compact(instance, own.answer)
            assert whole.slot is not None
            found[own.value, whole.device.tobytes(), whole.slot.tobytes()] = whole
            best.offer(whole)

    def quiet() -> Best:
        return Best(instance, Context(seed=context.seed, deadline=context.deadline))

    def pipeline() -> None:
        if not best.done() and refuses(instance) is None:
            own = quiet()
            offer(instance, own.context, own, "dpl")
            keep(own)

    if instance.n <= REHEARSAL:  # it is to be compiled before the clock, so it comes first
        pipeline()
    if runs.refuses(instance) is None:
        runs.cut(instance, np.arange(instance.n), best, PASSES)
    for device in mappings(instance):
        if best.done():
            break
        own = quiet()
        own.offer_device(device)
        keep(own)
    if instance.n > REHEARSAL:
        pipeline()
    if best.answer is not None:
        own = quiet()
        own.offer(best.answer)
        keep(own)
    return [found[key] for key in sorted(found)[:MOST]]
