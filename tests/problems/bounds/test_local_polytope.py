import dataclasses

import msgspec
import pytest

from problems.bounds.local_polytope import local_polytope
from problems.bounds.registry import REGISTRY
from problems.bounds.theoretical import theoretical  # noqa: F401 - for the entries
from tests.tiny import instance


class ReplicatedRules(msgspec.Struct, frozen=True, omit_defaults=True):
    replicate: str = "none"


def test_weighs_the_cut_against_the_faster_device():
    # Each is ten times as fast on its own device, and the payload between them takes 4 both ways.
    case = instance(
        [[1, 10], [10, 1]], [(0, 1)], problem="throughput", payload=[1, 0], delay=[3, 3]
    )
    # x = share of a that moves along with b, by symmetry the same for b: 1 - x + 10 x + 4 (1 - 2x)
    assert local_polytope(case).value == pytest.approx(5, rel=1e-6)
    assert local_polytope(case).value <= 5


def test_is_the_only_new_one_that_replication_leaves():
    case = instance([[1.0, 2.0]], problem="throughput")
    replicated = dataclasses.replace(case, rules=ReplicatedRules("mixture"))
    assert local_polytope.valid_for(replicated) is None
    for name in ("node-cut", "block", "block-position", "set-partition", "node"):
        assert "replicate" in (REGISTRY[name].valid_for(replicated) or "")
