"""The shipped graphs, devices and links: they load, fit together and stay small."""

from __future__ import annotations

import pytest

from problems import files
from problems.capture.table import collect_signatures
from problems.catalogue import ROOT, Library
from problems.files import FileError
from problems.graph import GraphFile, Node, Signature, from_file
from problems.platform import DeviceFile, LinkFile

GRAPHS = sorted((ROOT / "graphs").glob("*.json.gz"))
DEVICES = sorted((ROOT / "devices").glob("*.json.gz"))
LINKS = sorted((ROOT / "links").glob("*.json"))


@pytest.mark.parametrize("path", GRAPHS, ids=lambda p: p.name)
def test_graphs_load_and_are_named_by_their_file(path) -> None:  # type: ignore[no-untyped-def]
    file = files.read(path, GraphFile)
    graph = from_file(file, str(path))
    assert path.name == f"{file.name}.json.gz"
    assert graph.n > 30
    assert file.block
    assert graph.flops.sum() > 1e7
    assert {"network", "source", "batch", "torch"} <= set(file.provenance)
    assert all(members for members in graph.members)
    # edges follow the order of the file, which is that of execution
    assert all(u < v for u, v in file.edges)


@pytest.mark.parametrize("path", DEVICES, ids=lambda p: p.name)
def test_devices_load_and_say_where_their_times_are_from(path) -> None:  # type: ignore[no-untyped-def]
    file = files.read(path, DeviceFile)
    assert path.name == f"{file.name}.json.gz"
    for timing in file.times.values():
        assert timing is None or 0 < timing.min_s <= timing.median_s <= timing.max_s
    if file.kind == "measured":
        assert set(collect_signatures(GRAPHS)) <= set(file.times)
        assert {"cpu", "threads", "torch", "date", "method"} <= set(file.provenance)
        assert min(t.repeats for t in file.times.values() if t) >= 3
    elif file.kind == "modelled":
        assert set(collect_signatures(GRAPHS)) <= set(file.times)
        assert {"rule", "source"} <= set(file.provenance)
    else:
        assert {"package", "licence"} <= set(file.provenance)
        assert set(file.kinds) <= set(file.times)


def test_a_device_answers_every_graph_that_is_placed_on_it() -> None:
    library = Library()
    asked: dict[str, set[str]] = {}
    for spec in library.index().instances:
        for device in library.platform(spec.platform).devices:
            asked.setdefault(device.device, set()).add(spec.graph)
    assert {path.name.split(".json")[0] for path in DEVICES} == set(asked)
    stored = set(library.names("graph"))
    for name, graphs in asked.items():
        paths = [ROOT / "graphs" / f"{graph}.json.gz" for graph in graphs & stored]
        missing = set(collect_signatures(paths)) - set(library.device(name).times)
        assert not missing, f"{name} lacks {len(missing)} signatures"


def test_no_operator_computes_faster_than_a_core_can() -> None:
    # 32 fp32 operations a cycle (two multiply-adds of 8) at 3.7 GHz at most; a wrong count shows.
    times = Library().device("epyc3-1t").times
    for key, signature in collect_signatures(GRAPHS).items():
        timing = times[key]
        assert timing is not None
        assert signature.flops / timing.median_s < 120e9, (key, signature.op)


@pytest.mark.parametrize("path", LINKS, ids=lambda p: p.name)
def test_links_load_and_grow(path) -> None:  # type: ignore[no-untyped-def]
    file = files.read(path, LinkFile)
    assert path.name == f"{file.name}.json"
    for backward in (False, True):
        assert 0 < file.time(2**8, backward) < file.time(2**20, backward)
        assert file.time(2**20, backward) < file.time(2**26, backward) < 1
    if file.kind == "measured":
        assert [p.bytes for p in file.forward] == [2**k for k in range(8, 27)]
        assert [p.bytes for p in file.backward] == [2**k for k in range(8, 27)]


def test_the_library_is_small() -> None:
    assert sum(p.stat().st_size for p in GRAPHS) < 8_000_000
    assert sum(p.stat().st_size for p in ROOT.rglob("*") if p.is_file()) < 40_000_000


def _graph(name: str, op: str) -> GraphFile:
    return GraphFile(
        format="placebench-graph/1",
        name=name,
        family="f",
        nodes=[Node(name="x", op=op, signature="s")],
        edges=[],
        signatures={"s": Signature(op=op)},
    )


def test_a_signature_has_one_meaning(tmp_path) -> None:  # type: ignore[no-untyped-def]
    files.write(tmp_path / "a.json", _graph("a", "add"))
    files.write(tmp_path / "b.json", _graph("b", "add"))
    assert list(collect_signatures(tmp_path.glob("*.json"))) == ["s"]
    files.write(tmp_path / "c.json", _graph("c", "mul"))
    with pytest.raises(FileError, match=r"c\.json: signature 's' differs"):
        collect_signatures(tmp_path.glob("*.json"))


def test_a_signature_without_description_is_refused(tmp_path) -> None:  # type: ignore[no-untyped-def]
    bare = GraphFile("placebench-graph/1", "a", "f", [Node("x", "add", "s")], [])
    files.write(tmp_path / "a.json", bare)
    with pytest.raises(FileError, match=r"'s' is not described - at `\$\.nodes\[0\]"):
        collect_signatures([tmp_path / "a.json"])
