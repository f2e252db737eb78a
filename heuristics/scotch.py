"""Scotch: dual recursive bipartitioning."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Literal

import numpy as np

from heuristics.partition.network import Graph
from heuristics.partition.quiet import quiet
from heuristics.partition.search import Cut, partition
from problems.answer import Answer
from problems.instance import Instance
from solvers.method import Context, Range, method

# Target shares as whole numbers: parts in so many.
SHARES = 1_000_000
_THREADS = "SCOTCH_PTHREAD_NUMBER"


@method(
    problems=["throughput", "latency", "calls"],
    source="Pellegrini and Roman 1996",
    warm=True,
    needs=("scotchpy",),
)
def scotch(
    instance: Instance,
    context: Context,
    *,
    tries: Annotated[int, Range(0, 1e6)] = 0,
    polish: bool = False,
    strategy: Literal["default", "quality", "speed"] = "quality",
) -> Answer | None:
    """Scotch cuts of the graph of colocation groups, repaired to valid placements.

    `tries` cuts (0: until time is up) for several sets of devices, imbalances and seeds; see
    :mod:`heuristics.partition.search`. With `polish`, a little annealing from the best one.
    """
    return partition(instance, context, _cutter(strategy), tries, polish)


def _cutter(strategy: str) -> Cut:
    import scotchpy  # an optional package

    flag = {
        "default": scotchpy.STRATDEFAULT,
        "quality": scotchpy.STRATQUALITY,
        "speed": scotchpy.STRATSPEED,
    }[strategy]

    def cut(graph: Graph, share: np.ndarray, imbalance: float, seed: int) -> np.ndarray:
        part = np.zeros(len(graph.load), np.int64)
        with quiet(), _one_thread():
            scotchpy.common.random_seed(seed)
            scotchpy.common.random_reset()
            plan = scotchpy.Strat()
            plan.graph_map_build(flag, len(share), imbalance)
            target = scotchpy.Arch()
            target.cmpltw(np.maximum(np.rint(share * SHARES), 1).astype(np.int64))
            source = scotchpy.build_graph(
                verttab=graph.ptr, edgetab=graph.neighbour, velotab=graph.load, edlotab=graph.cost
            )
            source.map(target, plan, part)
        return part

    return cut


@contextmanager
def _one_thread() -> Iterator[None]:
    """Several threads would make the cut depend on their race, whatever the seed."""
    before = os.environ.get(_THREADS)
    os.environ[_THREADS] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_THREADS]
        else:
            os.environ[_THREADS] = before
