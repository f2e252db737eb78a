"""METIS: multilevel graph partitioning."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from heuristics.partition.network import Graph
from heuristics.partition.quiet import quiet
from heuristics.partition.search import Cut, partition
from problems.answer import Answer
from problems.instance import Instance
from solvers.method import Context, Range, method

# Direct k-way partitioning leaves parts empty where there are few vertices a part.
FEW_EACH = 30


@method(
    problems=["throughput", "latency", "calls"],
    source="Karypis and Kumar 1998",
    warm=True,
    needs=("pymetis",),
)
def metis(
    instance: Instance,
    context: Context,
    *,
    tries: Annotated[int, Range(0, 1e6)] = 0,
    polish: bool = False,
) -> Answer | None:
    """METIS cuts of the graph of colocation groups, repaired to valid placements.

    `tries` cuts (0: until time is up) for several sets of devices, imbalances and seeds; see
    :mod:`heuristics.partition.search`. With `polish`, a little annealing from the best one.
    """
    return partition(instance, context, _cutter(), tries, polish)


def _cutter() -> Cut:
    import pymetis  # an optional package

    whole = np.dtype(pymetis.zero_copy_dtype())

    def cut(graph: Graph, share: np.ndarray, imbalance: float, seed: int) -> np.ndarray:
        few = len(graph.load) < FEW_EACH * len(share)
        uneven = share.max() > share.min() * (1 + imbalance)
        with quiet():
            found = pymetis.part_graph(
                len(share),
                pymetis.CSRAdjacency(graph.ptr.astype(whole), graph.neighbour.astype(whole)),
                vweights=graph.load.astype(whole),
                eweights=graph.cost.astype(whole),
                tpwgts=share.tolist(),
                recursive=bool(few or uneven or len(share) <= 8),
                options=pymetis.Options(seed=seed, ufactor=max(1, round(1000 * imbalance))),
            )
        return np.array(found.vertex_part, np.int64)

    return cut
