"""Chips: every bound of contiguous `throughput`, for a chain of chips is a pipeline that pays more.

Let t_k(u) be the seconds of u's payload from chip k to the next. The pipeline has the same devices
and a staged topology in which device k's port takes

    tau_k(u) = min(t_{k-1}(u), t_k(u))      the links that chip k has: one at the ends of the chain

Any answer of `chips` is one of the pipeline. It is contiguous, since by C1 edges only go forward
along the chips; here all nodes count as forward ones, for the rule of `throughput` on backward
nodes is another one, and C1 speaks of all edges. Support, colocation and memory are the same rules.

And no device has a larger load in the pipeline. Chip k computes what device k does. With
S = the nodes on k, the pipeline sends tau_k(u) once for each u in S with a consumer elsewhere,
where consumers are on later chips: k pays t_k(u) >= tau_k(u) at least once, with through-traffic or
without. It receives tau_k(u) once for each u elsewhere, hence before k, with a consumer in S: k
pays t_{k-1}(u) >= tau_k(u) once. Every term of comp, in and out is in the chip's own, and the three
overlap modes do not fall in any of them. So the optimum of the pipeline, and what bounds it, is a
bound. It sees neither through-traffic, nor payloads that are sent to several chips, nor C2 and C3.
Own derivation.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

# Imported for their entries in the registry.
from problems.bounds import (
    block,
    block_position,
    load_lp,
    local_polytope,
    node_bound,
    node_cut,
    set_partition,
)
from problems.bounds.registry import bound
from problems.bounds.relaxed import largest
from problems.chips import hops, rules_of
from problems.instance import Instance
from problems.rules import ThroughputRules

RULES = ("overlap", "through_traffic", "memory", "colocate_tied")
CHEAP = (load_lp.load_lp, node_bound.node, node_cut.node_cut, local_polytope.local_polytope)
SEARCH = (block.block, block_position.block_position, set_partition.set_partition)


def as_pipeline(instance: Instance) -> Instance:
    """The contiguous `throughput` instance whose optimum is no more than that of `chips`.

    The links of `instance` keep their numbers; those of the ports come behind them.
    """
    rules = rules_of(instance)
    hop = hops(instance)
    times, port = list(instance.link_time), np.zeros(instance.K, np.int64)
    number: dict[tuple[int, ...], int] = {}
    for k in range(instance.K):
        mine = tuple(sorted({int(link) for link in hop[max(k - 1, 0) : k + 1]}))
        if not mine:  # a chip on its own
            continue
        if mine not in number:
            number[mine] = len(times) if len(mine) > 1 else mine[0]
            if len(mine) > 1:
                times.append(instance.link_time[list(mine)].min(axis=0))
        port[k] = number[mine]
    return replace(
        instance,
        problem="throughput",
        rules=ThroughputRules(
            contiguous=True,
            overlap=rules.overlap,
            memory=rules.memory,
            colocate_tied=rules.colocate_tied,
        ),
        phase=np.zeros_like(instance.phase),
        staged=True,
        link_time=np.array(times),
        port=port,
        wire=np.zeros_like(instance.wire),
    )


@bound("pipeline", problems=["chips"], rules=RULES)
def pipeline(instance: Instance) -> tuple[float, str]:
    """The largest cheap bound of the pipeline, in seconds."""
    return largest(as_pipeline(instance), CHEAP, 3 * instance.n + instance.m)


@bound("pipeline-search", problems=["chips"], rules=RULES, effort="search")
def pipeline_search(instance: Instance, seconds: float) -> tuple[float, str]:
    """The largest bound of the pipeline that is found by searching, in seconds."""
    return largest(as_pipeline(instance), SEARCH, 3 * instance.n + instance.m, seconds)
