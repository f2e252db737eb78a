"""KaHIP: Karlsruhe high quality partitioning."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from heuristics.partition.network import Graph
from heuristics.partition.quiet import quiet
from heuristics.partition.search import Cut, partition
from problems.answer import Answer
from problems.instance import Instance
from solvers.method import Context, Range, method

# Blocks for every device at most, where devices are to get unlike shares.
BLOCKS = 4


@method(
    problems=["throughput", "latency", "calls"],
    source="Sanders and Schulz 2013",
    warm=True,
    needs=("kahip",),
)
def kahip(
    instance: Instance,
    context: Context,
    *,
    tries: Annotated[int, Range(0, 1e6)] = 0,
    polish: bool = False,
    mode: Literal["fast", "eco", "strong"] = "eco",
) -> Answer | None:
    """KaHIP cuts of the graph of colocation groups, repaired to valid placements.

    `tries` cuts (0: until time is up) for several sets of devices, imbalances and seeds; see
    :mod:`heuristics.partition.search`. With `polish`, a little annealing from the best one. KaHIP
    cuts into equal blocks only: unlike devices get unlike numbers of consecutive ones.
    """
    return partition(instance, context, _cutter(mode), tries, polish)


def _cutter(mode: str) -> Cut:
    import kahip as library  # an optional package

    kind = {"fast": library.FAST, "eco": library.ECO, "strong": library.STRONG}[mode]

    def cut(graph: Graph, share: np.ndarray, imbalance: float, seed: int) -> np.ndarray:
        blocks = blocks_of(share, min(len(graph.load), BLOCKS * len(share)), imbalance)
        with quiet():
            _, found = library.kaffpa(
                graph.load.tolist(),
                graph.ptr.tolist(),
                graph.cost.tolist(),
                graph.neighbour.tolist(),
                int(blocks.sum()),
                imbalance,
                True,
                seed,
                kind,
            )
        block = np.array(found, np.int64)
        # Blocks by their mean vertex, which numbers along the graph.
        members = np.bincount(block, minlength=int(blocks.sum()))
        mean = np.bincount(block, np.arange(len(block)), len(members)) / np.maximum(members, 1)
        rank = np.empty(len(members), np.int64)
        rank[np.argsort(mean, kind="stable")] = np.arange(len(members))
        result: np.ndarray = np.repeat(np.arange(len(share)), blocks)[rank[block]]
        return result

    return cut


def blocks_of(share: np.ndarray, most: int, imbalance: float) -> np.ndarray:
    """How many of equal blocks each part gets, shape (P,); two blocks or more in all.

    The least number of blocks up to `most` for which every share is met within the imbalance, or
    the one that comes closest.
    """
    best, least = np.ones(len(share), np.int64), np.inf
    for total in range(2, most + 1):
        exact = share * total
        blocks = np.floor(exact + 1e-9).astype(np.int64)
        rest = np.argsort(blocks - exact, kind="stable")[: total - int(blocks.sum())]
        blocks[rest] += 1
        error = float((blocks / total / share).max()) - 1
        if error < least - 1e-9:
            best, least = blocks, error
        if least <= imbalance:
            break
    return best
