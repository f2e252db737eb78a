"""The mapping of least largest load, cut into calls."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from heuristics.shared import space as space_
from heuristics.shared.best import Best
from heuristics.shared.feasible import baseline
from problems import calls
from problems.answer import Answer
from problems.instance import Instance
from problems.rules import ThroughputRules
from solvers import catalogue
from solvers.ideals import _scope
from solvers.method import Context, method


def as_pipeline(instance: Instance) -> Instance:
    """The contiguous `throughput` instance of the same graph and platform."""
    rules = calls.rules_of(instance)
    loads = ThroughputRules(contiguous=True, memory=rules.memory, colocate_tied=rules.colocate_tied)
    return replace(instance, problem="throughput", rules=loads)


def refuses(instance: Instance) -> str | None:
    """Why no program over ideals takes the pipeline, or None."""
    return _scope.refuses(as_pipeline(instance))


@method(
    problems=["calls"], source="Tarnawski et al. 2020 (arXiv 2006.16423)", warm=True,
    refuses=refuses,
)  # fmt: skip
def max_load(
    instance: Instance, context: Context, *, by: Literal["both", "dp", "dpl"] = "both"
) -> Answer | None:
    """The max-load mapping re-scored: the best pipeline of the same graph, cut into calls.

    The pipeline comes from the program over the prefixes of one order (`dpl`), over all ideals
    (`dp`, cut off by the clock), or both are tried. It balances loads and knows no latency: what
    it gives is a reference, and a start for others. Pipelines of equal load may differ much in
    latency.
    """
    best = Best(instance, context)
    baseline(instance, space_.build(instance), context, best)
    for each in ("dpl", "dp") if by == "both" else (by,):
        if best.done():
            break
        offer(instance, context, best, each)
    return best.answer


def offer(instance: Instance, context: Context, best: Best, by: str) -> None:
    """Offer the pipeline's mapping by `dp` or `dpl`, and those that were best on the way to it."""
    quiet = Context(
        seed=context.seed,
        deadline=context.deadline,
        threads=context.threads,
        on_answer=lambda answer: _take(best, answer),
    )
    answer = catalogue.load(by).run(as_pipeline(instance), quiet)
    if answer is not None:
        _take(best, answer)


def _take(best: Best, answer: Answer) -> None:
    best.offer_device(answer.device)
