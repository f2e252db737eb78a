"""Instances on their way to the process of a run."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from bench.transport import read_instance, write_instance
from bench.warm import tiny_like
from tests.bench import harness


@pytest.mark.parametrize("rules", [{}, {"contiguous": True, "overlap": "full"}])
def test_instances_travel(tmp_path, rules):
    instance = harness.instance(rules=rules, topology="direct")
    path = write_instance(instance, tmp_path)
    got = read_instance(path, instance.digest)
    for each in fields(instance):
        a, b = getattr(instance, each.name), getattr(got, each.name)
        assert np.array_equal(a, b), each.name
        if isinstance(a, np.ndarray):
            assert not b.flags.writeable
            assert (a.dtype, a.flags.c_contiguous) == (b.dtype, b.flags.c_contiguous)
    assert write_instance(instance, tmp_path) == path
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_another_instance_is_not_taken(tmp_path):
    path = write_instance(harness.instance(), tmp_path)
    with pytest.raises(ValueError, match="does not have the digest"):
        read_instance(path, harness.instance("latency").digest)


def test_tiny_twin():
    instance = harness.instance(rules={"contiguous": True}, topology="direct")
    tiny = tiny_like(instance)
    assert (tiny.problem, tiny.rules, tiny.staged) == ("throughput", instance.rules, False)
    assert tiny.n < 10
    assert tiny_like(instance) is tiny
