"""The library on disk is what is composed; its parts fit together."""

from __future__ import annotations

from collections import Counter

import pytest

from problems import files
from problems.catalogue import Library
from problems.compose.__main__ import main
from problems.compose.instances import HOLDOUT, index
from problems.compose.platforms import platforms
from problems.generate.platforms import chain, cluster, staged
from problems.platform import link_names, validate

LIBRARY = Library()
PLATFORMS = {platform.name: platform for platform in platforms()}


@pytest.mark.parametrize("name", PLATFORMS)
def test_platform_is_valid_and_shipped_as_composed(name):
    platform = PLATFORMS[name]
    validate(platform)
    assert LIBRARY.platform(name) == platform
    assert {device.device for device in platform.devices} <= set(LIBRARY.names("device"))
    assert link_names(platform) <= set(LIBRARY.names("link"))
    assert platform.provenance["description"]


def test_there_are_platforms_of_every_wanted_kind():
    sizes = Counter(len(platform.devices) for platform in PLATFORMS.values())
    assert {2, 3, 4, 8, 16, 32, 36, 64} <= set(sizes)
    assert len(PLATFORMS) == sum(sizes.values())
    kinds = {p.provenance["kind"] for p in PLATFORMS.values()}
    assert kinds == {"measured", "modelled"}


def test_index_is_shipped_as_composed():
    assert LIBRARY.index() == index()


def test_holdout_is_apart_and_every_holdout_graph_is_asked_for():
    made = index()
    for spec in made.instances:
        held = spec.graph in HOLDOUT
        assert (spec.split == "holdout") == held, spec.id
    assert {spec.graph for spec in made.instances} >= HOLDOUT
    public = {spec.id for spec in made.instances if spec.split == "public"}
    for name, ids in made.selections.items():
        assert set(ids) <= public if name != "holdout" else not set(ids) & public, name


def test_every_shipped_graph_is_asked_for():
    assert set(LIBRARY.names("graph")) <= {spec.graph for spec in index().instances}


def test_writing_again_gives_the_same_files(tmp_path):
    (tmp_path / "graphs").symlink_to(LIBRARY.folder("graph"))
    main(tmp_path)
    for path in sorted(tmp_path.rglob("*.json*")):
        if "graphs" not in path.parts:
            shipped = LIBRARY.root / path.relative_to(tmp_path)
            assert files.content_digest(path) == files.content_digest(shipped), path.name


def test_staged_servers_number_like_gpus_and_take_sizes():
    made = staged("x", ["a100", "a100", "t4"], "test", memory=[1, 2, 3])
    assert [device.name for device in made.devices] == ["cpu", "a100-0", "a100-1", "t4"]
    assert [device.memory_bytes for device in made.devices] == [None, 1, 2, 3]


def test_cluster_joins_servers_inside_and_leaves_the_rest_to_the_network():
    made = cluster("x", [("a100", 3, "nvlink3"), ("t4", 2, "pcie3-x16")], "ethernet-1g", "test")
    assert Counter(wire.link for wire in made.wires) == {"nvlink3": 3, "pcie3-x16": 1}
    assert made.default_link == "ethernet-1g"
    validate(made)


def test_a_chain_counts_hops():
    made = chain("x", 4, None, "test")
    hops = {(wire.source, wire.target): wire.link for wire in made.wires}
    assert len(hops) == 6
    assert hops["chip00", "chip03"] == "chip-hop03"
    assert hops["chip02", "chip03"] == "chip-hop01"
