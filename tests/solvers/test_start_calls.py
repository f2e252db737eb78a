"""Simple answers for `calls`: the order that accelerators are filled along."""

import networkx as nx

from solvers.start_calls import _sequence
from tests.heuristics.samples import samples


def test_blocks_follow_in_topological_order_by_least_member():
    circles = 0
    for _, case in samples(40, problem="calls", n=12, groups=4):
        graph = nx.DiGraph(case.group[case.edges].tolist())
        graph.add_nodes_from(case.group.tolist())
        whole = nx.condensation(graph)
        members = {block: sorted(whole.nodes[block]["members"]) for block in whole}
        order = nx.lexicographical_topological_sort(whole, key=lambda block: members[block][0])
        assert _sequence(case) == [members[block] for block in order]
        circles += len(whole) < len(graph)
    assert circles > 5
