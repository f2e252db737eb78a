"""Throughput: column generation over what one device can hold.

Suppose that the optimum is at most a level t. Then every device of class c holds a set S of groups
that fits it, with load_c(S) <= t (convex where the instance is contiguous), and the sets of all
devices partition the groups. For multipliers lambda_c >= 0 with sum_c n_c lambda_c = 1 and pi_g,

    OPT >= sum_g pi_g + sum_c n_c min over such S of  lambda_c load_c(S) - pi(S)

and so OPT >= min(t, that). Like devices take their sets from one pool, which leaves no symmetry.
The minimum over S is :mod:`problems.bounds.pricing`'s (or that of
:mod:`problems.bounds.chain_pricing`); its dual bound is what counts, so that one
stopped early is as sound. Before it goes what :mod:`problems.bounds.supposing` says of answers
under t.

Multipliers begin as those of the local polytope (:mod:`problems.bounds.local_polytope`), which lie
near the best ones; :mod:`problems.bounds.column_generation` goes on from there. A level that is
reached is proved, and the next one is higher; one whose best multipliers stay below it was too
high.
"""

from __future__ import annotations

import time

import numpy as np

from problems.bounds.column_generation import CONVERGED, Known, Search
from problems.bounds.local_polytope import local
from problems.bounds.nets import Nets, by_phases
from problems.bounds.node_bound import RULES
from problems.bounds.node_cut import Effort, least
from problems.bounds.registry import bound
from problems.bounds.supposing import supposing
from problems.instance import Instance

MOST_NODES = 1_500
# Of the level above the proved bound, relative: a level near it has the fewest sets.
FIRST_STEP, LAST_STEP, LARGEST_STEP = 0.02, 0.001, 0.1
# Of what a level is above the best bound for it: a box that promises less is not worth the wait,
# as a lower level goes on from the same multipliers and has fewer sets. The lowest one waits.
PROMISE = 0.15
CUTS = 6_000_000  # arcs x minimum cuts to see what a level implies: about a second
CHUNKS = 6  # first sets: that many runs of the topological order, at as many sizes


def _refuses(instance: Instance) -> str | None:
    if instance.host.all():
        return "no device pays transfers"
    if instance.n > MOST_NODES:
        return f"more than {MOST_NODES} nodes"
    return None


@bound(
    "set-partition",
    problems=["throughput"],
    rules=RULES,
    refuses=_refuses,
    effort="search",
)
def set_partition(instance: Instance, seconds: float) -> tuple[float, str]:
    """Lagrangian bound over partitions into sets that devices can hold, in seconds."""
    return by_phases(instance, _generate, seconds)


def _generate(nets: Nets, seconds: float) -> tuple[float, str]:
    deadline = time.monotonic() + seconds
    unit = nets.work[0]
    if unit <= 0:
        return 0.0, "no work to share"
    proved = max(1.0, least(nets)[0] / unit, local(nets)[0] / unit)
    first, steps, step, most = proved, 0, FIRST_STEP, _most(nets)
    known = Known(None, _first_sets(nets))
    while proved < most and time.monotonic() < deadline:
        level = proved * (1 + step)
        left = supposing(nets, unit * level, Effort(CUTS))
        if left is None:
            reached = level
        else:
            search = Search(nets, *left, level, known)
            reached = search.run(deadline, PROMISE if step > LAST_STEP else 0.0)
            steps += search.steps
            # Above the best bound multipliers only grow: those of a level that was reached lead
            # astray, its sets do not.
            known = Known(
                known.multipliers if reached >= level else search.multipliers(), search.sets()
            )
        if reached >= level:
            step = min(2 * step, LARGEST_STEP)
        elif step > LAST_STEP:
            step = max(step / 3, LAST_STEP)
        elif reached <= proved + CONVERGED:
            break
        proved = max(proved, min(level, reached))
    if proved >= most:
        return (
            unit * most,
            "stopped beyond all work and transfers on one device: most likely nothing fits",
        )
    if proved <= first:
        return unit * proved, "no more than the cheap bounds that it starts from"
    return unit * proved, f"Lagrangian of column generation, {steps} steps"


def _most(nets: Nets) -> float:
    """Everything on the slowest device, and each transfer once, in units: beyond, nothing fits."""
    slowest = np.where(np.isfinite(nets.time), nets.time, 0.0).max(axis=1).sum()
    return (
        float(slowest + nets.send.max(axis=0).sum() + nets.receive.max(axis=0).sum()) / nets.work[0]
    )


def _first_sets(nets: Nets) -> list[np.ndarray]:
    """Single groups, and runs of the topological order at several sizes."""
    G = len(nets.time)
    runs = [np.arange(g, g + 1) for g in range(G)]
    for parts in range(2, CHUNKS + 2):
        runs += [r for r in np.array_split(np.arange(G), parts * nets.count.sum()) if len(r) > 1]
    return runs
