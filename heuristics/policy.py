"""A learned policy: a graph network proposes, search repairs, PPO learns."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Literal

from heuristics.greedy import construct
from heuristics.shared import space as space_
from heuristics.shared.best import Best
from heuristics.shared.feasible import baseline
from problems.answer import Answer
from problems.instance import Instance
from solvers.method import Context, Range, method

SAMPLES = 2_000
"""Proposals without a deadline and without a number of them."""


@method(
    problems=["throughput", "chips"],
    source="after Xie et al. 2022 (arXiv 2112.04041)",
    warm=True,
    needs=("torch", "safetensors"),
)
def policy(
    instance: Instance,
    context: Context,
    *,
    variant: Literal["fine-tuned", "zero-shot", "scratch"] = "fine-tuned",
    checkpoint: str = "",
    samples: Annotated[int, Range(0, 10**9)] = 0,
) -> Answer | None:
    """Proposals of a GraphSAGE policy, repaired; trained by PPO before or under the clock.

    From the greedy answer on, every round proposes places for all units given the places they
    have; FIX (`chips`) or the repair of partitions (`throughput`) makes proposals valid, and the
    best one goes on. `zero-shot` leaves the policy as it is in the checkpoint, `fine-tuned`
    continues PPO on the instance, `scratch` begins with an untrained one. `checkpoint` is a file
    of :mod:`heuristics.rl.train`; empty: the suite's own. `samples` proposals at most (0: until
    time is up).
    """
    # An optional package, and slow to load.
    from heuristics.rl import run

    # Before there is any answer: a checkpoint that cannot be used is no run of this entry.
    trained = run.trained(variant, Path(checkpoint) if checkpoint else None)
    best = Best(instance, context)
    if instance.problem == "chips":
        from heuristics.chips import entries as chips_  # slow to load: for those who need it

        _, best = chips_.begin(instance, context)
    else:
        space = space_.build(instance)
        if baseline(instance, space, context, best):
            construct(instance, space, best)
    if samples == 0 and context.deadline == math.inf:
        samples = SAMPLES
    run.improve(best, trained, samples, learn=variant != "zero-shot")
    return best.answer
