"""Communities of atoms by modularity: Louvain and greedy modularity, edges weighted by traffic.

Both are networkx's, in plain Python, and heed no clock: about a second for 10,000 edges, and on a
chain of 4,000 things eight, as the square of their number. Beyond :data:`LARGEST` atoms, or fewer
where there are less than :data:`ENOUGH` seconds, consecutive ones of the topological order are
taken together first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from heuristics.modules.atoms import Atoms

LARGEST = {"louvain": 4_000, "greedy": 1_000}
"""Things among which communities are found at most; greedy modularity is the slower one."""
ENOUGH = 8.0
"""Seconds of the limit from which on there may be so many; in proportion below."""


def communities(atoms: Atoms, how: str, seed: int, limit: float = ENOUGH) -> np.ndarray:
    """Community of every atom, int64 array of shape (A,), numbered by first member.

    Parameters
    ----------
    how : {'louvain', 'greedy'}
    limit : float
        Seconds of the whole run.
    """
    import networkx as nx  # not small: out of start-up

    A = atoms.number
    most = max(1, int(LARGEST[how] * min(1.0, limit / ENOUGH)))
    run = np.arange(A) // -(-A // most)
    ends = run[atoms.flow]
    apart = ends[:, 0] != ends[:, 1]
    pairs, index = np.unique(ends[apart], axis=0, return_inverse=True)
    weight: np.ndarray = np.bincount(index.reshape(-1), atoms.traffic[apart], len(pairs))
    # Payloads that take no time still tie their ends together a little.
    weight = weight + 1e-6 * (weight.mean() if len(weight) else 0.0)
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(int(run[-1]) + 1))
    graph.add_weighted_edges_from(
        (int(a), int(b), float(w)) for (a, b), w in zip(pairs.reshape(-1, 2), weight, strict=True)
    )
    found: Sequence[Iterable[int]]
    if not len(pairs):
        found = [{r} for r in graph]
    elif how == "louvain":
        found = nx.community.louvain_communities(graph, weight="weight", seed=seed)
    else:
        found = nx.community.greedy_modularity_communities(graph, weight="weight")
    label = np.empty(graph.number_of_nodes(), np.int64)
    for i, members in enumerate(sorted(found, key=min)):
        label[sorted(members)] = i
    return label[run]
