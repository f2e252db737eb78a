"""Width of an order: its largest antichain, by Dilworth's theorem.

The largest antichain has as many nodes as the fewest chains that cover the order (Dilworth 1950,
Ann. Math. 51), and these are n - f for the largest flow f of the bipartite graph of the transitive
closure (Fulkerson 1956, Proc. AMS 7). The closure is never written down: a unit of flow that comes
in at v may go on to v's consumers, which leaves a sparse network of 2 n vertices.
"""

from __future__ import annotations

import numpy as np
from numba import njit

# Arcs looked at before the search gives up, so that the answer does not depend on the machine.
MOST_STEPS = 1_000_000_000


def width(
    n: int, edges: np.ndarray, level: np.ndarray, most_steps: int = MOST_STEPS
) -> tuple[int, bool]:
    """Nodes of the largest antichain, and whether that is exact.

    Parameters
    ----------
    n : int
        Number of nodes.
    edges : int64 array, shape (m, 2)
        Sorted pairs (u, v) without cycles.
    level : int64 array, shape (n,)
        Nodes before each node on the longest path to it.
    most_steps : int
        Arcs to look at; beyond, the answer is the largest level, a lower bound.
    """
    backwards = np.lexsort((edges[:, 0], edges[:, 1]))
    counts = np.arange(n + 1)
    flow = _largest_flow(
        np.searchsorted(edges[:, 0], counts),
        np.ascontiguousarray(edges[:, 1]),
        np.searchsorted(edges[backwards, 1], counts),
        edges[backwards, 0],
        backwards,
        most_steps,
    )
    if flow < 0:
        return int(np.bincount(level).max()), False
    return n - flow, True


@njit(cache=True)
def _largest_flow(succ_ptr, succ, pred_ptr, pred, pred_edge, most_steps):  # type: ignore[no-untyped-def]
    """Flow of the network; -1 after `most_steps`.

    Vertex u sends (one unit from the source), vertex n + v receives (one unit to the sink). Arcs
    u -> n + v for every edge, n + v -> v, both of any capacity. Depth-first augmentation in rounds
    that visit each vertex once; a round without success proves that the flow is the largest.
    """
    n = len(succ_ptr) - 1
    flow = np.zeros(len(succ), np.int64)
    through = np.zeros(n, np.int64)
    sends, receives = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    seen = np.zeros(2 * n, np.int64)
    position = np.zeros(2 * n, np.int64)
    previous = np.zeros(2 * n, np.int64)
    by_edge = np.zeros(2 * n, np.int64)  # the edge that led here, -1 for the arc of a vertex
    total, steps, turn = 0, 0, 0
    while True:
        turn += 1
        before = total
        for root in range(n - 1, -1, -1):
            if sends[root]:
                continue
            x = root
            seen[x] = turn
            position[x] = 0
            while x >= 0:
                steps += 1
                to, edge = -1, -1
                i = position[x]
                position[x] += 1
                if x < n:
                    begin, count = succ_ptr[x], succ_ptr[x + 1] - succ_ptr[x]
                    if i < count:  # first whoever can take the unit at once
                        edge = begin + i
                        if not receives[succ[edge]] and seen[n + succ[edge]] != turn:
                            to = n + succ[edge]
                    elif i < 2 * count:
                        edge = begin + i - count
                        to = n + succ[edge]
                    elif i == 2 * count:
                        if through[x] > 0:
                            to = n + x
                    else:
                        x = previous[x] if x != root else -1
                        continue
                else:
                    v = x - n
                    begin, count = pred_ptr[v], pred_ptr[v + 1] - pred_ptr[v]
                    if i == 0:
                        to = v
                    elif i <= count:
                        edge = pred_edge[begin + i - 1]
                        if flow[edge] > 0:
                            to = pred[begin + i - 1]
                    else:
                        x = previous[x]
                        continue
                if to < 0 or seen[to] == turn:
                    continue
                seen[to] = turn
                position[to] = 0
                previous[to] = x
                by_edge[to] = edge
                x = to
                if x < n or receives[x - n]:
                    continue
                receives[x - n] = True
                sends[root] = True
                total += 1
                while x != root:
                    if x >= n:
                        if by_edge[x] >= 0:
                            flow[by_edge[x]] += 1
                        else:
                            through[x - n] -= 1
                    elif by_edge[x] >= 0:
                        flow[by_edge[x]] -= 1
                    else:
                        through[x] += 1
                    x = previous[x]
                x = -1
            if steps > most_steps:
                return -1
        if total == before:
            return total
