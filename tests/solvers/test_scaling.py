"""Numbers that are legal and far apart."""

from __future__ import annotations

import msgspec
import pytest

from problems.checker import check
from problems.generate.random import random_bundle
from problems.graph import Node
from problems.resolve import from_bundle
from solvers.catalogue import load
from solvers.method import Context
from tests.brute_force import optimum

replace = msgspec.structs.replace


def with_a_huge_payload(node: Node) -> Node:
    return replace(node, output_bytes=10**13) if node.name == "v0" else node


@pytest.mark.parametrize("topology", ["staged", "direct"])
@pytest.mark.parametrize("backend", ["highs", "scip"])
@pytest.mark.parametrize("formulation", ["assign", "prefix"])
def test_a_payload_that_takes_years(formulation, backend, topology):
    bundle = random_bundle(
        5, n=5, topology=topology, rules={"contiguous": True} if formulation == "prefix" else {}
    )
    graph = replace(bundle.graph, nodes=[with_a_huge_payload(v) for v in bundle.graph.nodes])
    instance = from_bundle(replace(bundle, graph=graph))
    claims = []
    context = Context(on_claim=lambda claim, objective, note: claims.append(claim))
    answer = load(f"{formulation}@{backend}").run(instance, context)
    assert check(instance, answer).objective == pytest.approx(optimum(instance).objective)
    assert claims == ["optimal"]
