"""`throughput`, contiguous, direct links: the program over ideals with every load at its least.

Over direct links a producer sends once to each device that reads it, and links may differ. This
program counts one transfer over the best link. Its optimum is a lower bound, proved optimal where
the answer behind it costs no more, which is common: few payloads go to several devices.
"""

from __future__ import annotations

from problems.answer import Answer
from problems.instance import Instance
from solvers.ideals._scope import refuses
from solvers.ideals.dp import run
from solvers.method import Context, Gib, Method, options_of


def dp_relaxed(instance: Instance, context: Context, *, max_gib: Gib = 4.0) -> Answer | None:
    """Dynamic program over ideals, direct links at their least."""
    return run(instance, context, max_gib, refuses(instance))


METHOD = Method(
    name="dp-relaxed",
    run=dp_relaxed,
    problems=("throughput",),
    kind="heuristic",
    source="this suite; after Tarnawski et al. 2020 (arXiv 2006.16423)",
    options=options_of(dp_relaxed),
    warm=True,
    refuses=refuses,
    summary="Dynamic program over ideals; a bound, and often a proof, over direct links",
)
