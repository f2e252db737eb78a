import dataclasses

import msgspec
import pytest

from problems.bounds.registry import REGISTRY, bound, round_down
from problems.bounds.theoretical import theoretical
from tests.tiny import instance

KNOWN = {"critical-path", "head-tail", "head-tail-load", "joint-lp", "load-lp", "node"}


class FutureThroughputRules(msgspec.Struct, frozen=True, omit_defaults=True):
    """Rules with one that no bound was proved for."""

    overlap: str = "none"
    recompute: str = "none"


def test_names():
    assert set(REGISTRY) >= KNOWN


def test_a_name_is_taken_once():
    with pytest.raises(ValueError, match=r"'node' is taken"):
        bound("node", problems=["throughput"], rules=[])(lambda instance: (0.0, ""))


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_a_rule_of_the_future_is_refused(name):
    entry = REGISTRY[name]
    known = instance([[1.0, 2.0]], problem=entry.problems[0])
    assert entry.valid_for(known) is None
    future = dataclasses.replace(known, rules=FutureThroughputRules(recompute="all"))
    assert "recompute" in (entry.valid_for(future) or "")
    with pytest.raises(ValueError, match="recompute"):
        entry(future)
    harmless = dataclasses.replace(known, rules=FutureThroughputRules())
    assert entry.valid_for(harmless) is None


def test_another_problem_is_refused():
    latency = instance([[1.0, 2.0]])
    assert REGISTRY["node"].valid_for(latency) == "node bounds throughput, not latency"


def test_theoretical_takes_the_largest_and_tells_refusals():
    found = theoretical(instance([[1.0, 2.0], [3.0, 1.0]], [(0, 1)], delay=[0.0, 0.25]))
    names = [each.name for each in found.bounds]
    assert names[0] == "head-tail"
    assert set(names) == {"head-tail", "critical-path", "load-lp", "head-tail-load"}
    assert "joint-lp" in found.left_out
    assert found.value == found.bounds[0].value == pytest.approx(2.25, rel=1e-12)
    assert "node" in dict(found.refused)
    assert all(each.seconds >= 0 and each.note for each in found.bounds)


def test_no_valid_bound_gives_zero():
    known = instance([[1.0, 2.0]])
    future = dataclasses.replace(known, rules=FutureThroughputRules(recompute="all"))
    found = theoretical(future)
    assert (found.value, found.bounds) == (0.0, ())
    assert {name for name, _ in found.refused} == set(REGISTRY)


def test_rounding_is_downwards_and_small():
    assert 1.0 - 1e-11 < round_down(1.0, 10_000) < 1.0
    assert round_down(0.0, 5) == 0.0
