"""Generated graphs in a library: loaded by name like any other."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import numpy as np
import pytest

from bench.transport import handed_over, read_instance
from problems import files
from problems.catalogue import Library
from problems.checker import check
from problems.files import FileError
from problems.generate.scaling import Generated, GeneratedFile, Layered, Transformer
from problems.generate.scaling_library import refreshed
from problems.resolve import from_bundle
from problems.single import best_single
from tests.bench.library import write


def library_with(root: Path, **graphs: Generated) -> Library:
    """A library of one captured graph, with generated ones on the platform of that graph."""
    library = write(root, graphs=1)
    spec = library.index().instances[0]
    specs = [
        msgspec.structs.replace(spec, graph=name, problem=problem, rules={})
        for name in graphs
        for problem in ("throughput", "latency")
    ]
    index = library.index()
    files.write(
        root / "index.json",
        msgspec.structs.replace(index, instances=[*index.instances, *specs]),
    )
    files.write(root / "generated.json", GeneratedFile("placebench-generated/1", graphs))
    return library


def how(rule=None, n: int = 60, palette: str = "random0-8-t", digest: str = "") -> Generated:
    return Generated(rule or Layered(), n, 1, [palette], digest)


def test_a_generated_graph_loads_by_name(tmp_path):
    library = library_with(tmp_path, mine=how())
    spec = library.index().instances[-2]
    instance = library.load(spec.id)
    assert spec.id.startswith("mine:operator/")
    assert (instance.n, instance.K, instance.family) == (60, 3, "scaling-layered")
    assert instance.provenance["graph"]["kind"] == "modelled"
    assert instance.provenance["graph"]["rule"] == "layered"
    captured = {tuple(row) for row in library.resolve(library.index().instances[0]).time.tolist()}
    assert {tuple(row) for row in instance.time.tolist()} <= captured
    single = best_single(instance)
    assert single is not None
    assert check(instance, single[0]).objective == pytest.approx(single[1], rel=1e-9)
    again = Library(tmp_path).load(spec.id)
    assert again.digest == instance.digest


def test_its_bundle_is_the_same_instance(tmp_path):
    library = library_with(tmp_path, mine=how(Transformer(), n=50))
    for spec in library.index().instances[-2:]:
        instance = library.load(spec.id)
        files.write(tmp_path / "bundle.json.gz", library.bundle(spec))
        assert library.load_path(tmp_path / "bundle.json.gz").digest == instance.digest
        assert from_bundle(library.bundle(spec)).names == instance.names


def test_a_run_gets_it_whole(tmp_path):
    library = library_with(tmp_path, mine=how())
    instance = library.load(library.index().instances[-1].id)
    with handed_over(instance) as descriptor:
        same = read_instance(os.dup(descriptor), instance.digest)
    assert np.array_equal(same.time, instance.time)
    assert same.names == instance.names


def test_coarser_levels_follow_the_parts(tmp_path):
    library = library_with(tmp_path, mine=how(Transformer(towers=1, experts=1), n=14 * 4 + 1))
    spec = msgspec.structs.replace(library.index().instances[-1], level="leaf")
    assert library.resolve(spec).names == tuple(f"part{i}" for i in range(5))


def test_digests_are_written_and_held(tmp_path):
    library = library_with(tmp_path, mine=how())
    fresh = refreshed(library).graphs["mine"]
    assert len(fresh.digest) == 64
    (tmp_path / "right").mkdir()
    (tmp_path / "wrong").mkdir()
    right = library_with(tmp_path / "right", mine=fresh)
    assert right.graph("mine").n == 60
    wrong = library_with(tmp_path / "wrong", mine=how(digest="0" * 64))
    with pytest.raises(FileError, match="generated graph 'mine'"):
        wrong.graph("mine")


def test_palettes_are_of_captured_graphs(tmp_path):
    library = library_with(tmp_path, mine=how(palette="other"), other=how())
    with pytest.raises(FileError, match="'other' is generated itself"):
        library.graph("mine")
    (tmp_path / "none").mkdir()
    library = library_with(tmp_path / "none", mine=how(palette="x"))
    with pytest.raises(FileError, match=r"unknown graph 'x'; there are random0-8-l, .*mine"):
        library.graph("mine")
