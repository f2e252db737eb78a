"""The library on disk: what it holds is what the catalogue says."""

from __future__ import annotations

import msgspec
import pytest

from problems import files
from problems.catalogue import CatalogueEntry, Index, Library
from problems.compose.selections import TRIVIAL
from problems.describe import build, describe, describe_graph
from problems.files import FileError
from problems.resolve import from_bundle
from problems.selections import check

LIBRARY = Library()
SPECS = {spec.id: spec for spec in LIBRARY.index().instances}


def test_files_have_the_digests_of_the_catalogue() -> None:
    listed = LIBRARY.catalogue().files
    folders = [LIBRARY.folder(kind) for kind in ("graph", "device", "link", "platform")]
    on_disk = {
        p.relative_to(LIBRARY.root).as_posix(): p for f in folders for p in f.glob("*.json*")
    }
    generated = LIBRARY.root / "generated.json"
    on_disk |= {generated.name: generated} if generated.exists() else {}
    assert set(on_disk) == set(listed)
    for name, path in on_disk.items():
        assert files.content_digest(path) == listed[name], name


def test_catalogue_lists_the_index() -> None:
    assert [entry.id for entry in LIBRARY.entries()] == list(SPECS)


def sample() -> list[CatalogueEntry]:
    """The smallest instance of each family and problem, and the largest of all."""
    entries = sorted(LIBRARY.entries(), key=lambda entry: entry.n * entry.devices)
    first = {(entry.family, entry.problem): entry for entry in reversed(entries)}
    return [*first.values(), entries[-1]]


@pytest.mark.parametrize("entry", sample(), ids=lambda entry: entry.id)
def test_instance_is_as_the_catalogue_says(entry) -> None:
    instance = LIBRARY.load(entry.id)
    assert instance.digest == entry.digest
    # The numbers of larger ones take seconds: one in four of them, by a digest that stays.
    size, drawn = instance.n * instance.K, int(entry.digest[-4:], 16) % 4 == 0
    costly = size > 200_000 or (size > 800 and not drawn)
    fresh = describe(instance, SPECS[entry.id], entry if costly else None)
    if entry.best_single_s is None:
        assert fresh.best_single_s is None
    else:
        assert fresh.best_single_s == pytest.approx(entry.best_single_s, rel=1e-9)
    assert fresh.lower_bound_s == pytest.approx(entry.lower_bound_s, rel=1e-6)
    told, expected = map(msgspec.to_builtins, (fresh.features, entry.features))
    assert told.keys() == expected.keys()
    for name, value in expected.items():
        near = pytest.approx(value, rel=2e-6) if isinstance(value, float) else value
        assert told[name] == near, name
    assert (fresh.n, fresh.edges, fresh.devices, fresh.parts) == (
        entry.n, entry.edges, entry.devices, entry.parts,
    )  # fmt: skip


def test_labels_are_those_of_the_index() -> None:
    for entry in LIBRARY.entries():
        spec = SPECS[entry.id]
        assert (entry.graph, entry.level, entry.platform) == (spec.graph, spec.level, spec.platform)
        assert (entry.problem, entry.rules, entry.split) == (spec.problem, spec.rules, spec.split)


def test_graphs_are_as_the_catalogue_says() -> None:
    graphs = {graph.name: graph for graph in LIBRARY.catalogue().graphs}
    assert set(graphs) == {*LIBRARY.names("graph"), *LIBRARY.generated()}
    for name in LIBRARY.names("graph")[::12]:
        assert describe_graph(LIBRARY.graph(name)) == graphs[name]


def test_what_is_unchanged_is_not_computed_again(monkeypatch) -> None:
    catalogue = LIBRARY.catalogue()
    few = Index("placebench-index/1", LIBRARY.index().instances[:2], {})
    monkeypatch.setattr(Library, "index", lambda self: few)
    monkeypatch.setattr(Library, "generated", lambda self: {})
    for name in ("theoretical", "measure", "describe_graph"):
        monkeypatch.setattr(f"problems.describe.{name}", None)  # called, it would fail
    assert build(LIBRARY, catalogue).instances == catalogue.instances[:2]
    known = msgspec.structs.replace(catalogue.instances[0], digest="another")
    changed = msgspec.structs.replace(catalogue, instances=[known])
    with pytest.raises(TypeError):
        build(LIBRARY, changed)


def test_most_instances_are_worth_splitting() -> None:
    entries = LIBRARY.entries()
    assert len(entries) >= 30
    assert {entry.problem for entry in entries} == {"throughput", "latency", "calls", "chips"}
    assert {"tiny", "small", "medium"} <= {entry.tier for entry in entries}
    worth = [entry for entry in entries if entry.headroom is None or entry.headroom > 1.2]
    assert len(worth) > 0.8 * len(entries)


def test_selections_keep_the_splits_apart() -> None:
    named = LIBRARY.selections()
    check(list(SPECS.values()), named)
    assert {"smoke", "default", "full", "latency", "throughput", "calls", "chips"} <= set(named)
    public = [name for name, spec in SPECS.items() if spec.split == "public"]
    assert named["full"] == [
        name for name in public if name not in TRIVIAL and name not in named["mixtures"]
    ]
    assert set(TRIVIAL) <= set(named["smoke"])
    for name, ids in named.items():
        assert name == "smoke" or not set(ids) & set(TRIVIAL), name
    assert named.get("holdout", []) == [name for name in SPECS if name not in public]


def test_a_bundle_resolves_to_the_same_instance(tmp_path) -> None:
    entry = LIBRARY.entries()[0]
    path = tmp_path / "bundle.json.gz"
    files.write(path, LIBRARY.bundle(SPECS[entry.id]))
    assert LIBRARY.load_path(path).digest == entry.digest
    assert from_bundle(LIBRARY.bundle(SPECS[entry.id])).digest == entry.digest


def test_unknown_names_are_refused_with_the_valid_ones() -> None:
    with pytest.raises(FileError, match="did you mean 'clip:operator/server/latency'"):
        LIBRARY.load("clip:operator/server/latencie")
    with pytest.raises(FileError, match=r"the selections are .*default.*full.*smoke"):
        LIBRARY.selection("nightly")
    with pytest.raises(FileError, match=r"unknown platform 'x'; there are .*duo-eth1g"):
        LIBRARY.platform("x")
