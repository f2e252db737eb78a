"""A resolved instance as a bundle is the same instance."""

from __future__ import annotations

import numpy as np
import pytest

from problems import files
from problems.catalogue import Library
from problems.formats.resolved import _points, to_bundle
from problems.instance import Bundle
from problems.platform import LinkFile
from problems.resolve import from_bundle
from tests.heuristics.samples import KINDS, of_every_kind, sample


def test_digest_is_kept_on_instances_of_every_kind(tmp_path):
    seen = 0
    for instance in of_every_kind(40, n=9, uneven=True):
        files.write(tmp_path / "it.json", to_bundle(instance))
        again = from_bundle(files.read(tmp_path / "it.json", Bundle))
        assert again.digest == instance.digest, (instance.id, instance.rules)
        assert again.names == instance.names
        assert again.device_names == instance.device_names
        seen += bool(instance.shared_bytes.size)
    assert seen > 20


@pytest.mark.parametrize(
    "name",
    [
        "clip:block/duo-eth1g/latency",
        "clip:operator/server/latency",
        "gnmt:block/quad-eth1g/latency[contention=ports]",
    ],
)
def test_digest_is_kept_on_instances_of_the_library(name):
    instance = Library().load(name)
    bundle = to_bundle(instance)
    assert from_bundle(bundle).digest == instance.digest
    assert bundle.graph.provenance["digest"] == instance.digest
    assert bundle.graph.provenance["instance"] == name


def test_nodes_keep_their_numbers():
    instance = sample(5, n=40, devices=3, **KINDS[1])
    bundle = to_bundle(instance)
    assert [node.name for node in bundle.graph.nodes] == list(instance.names)
    assert np.array_equal(np.array(bundle.graph.edges).reshape(-1, 2), instance.edges)


def test_the_seconds_of_the_largest_payload_are_kept_to_the_last_bit():
    """Between its last two points a curve is a + (b - a), which is not b for these."""
    first, last = 0.3, 0.9
    assert first + (last - first) != last
    points = _points(np.array([0.0, first, last]))
    link = LinkFile("placebench-link/1", "it", "modelled", {}, points)
    assert link.times([0, 1, 2]) == [0.0, first, last]
