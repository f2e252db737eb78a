"""The library on disk: what it holds is what the catalogue says."""

from __future__ import annotations

import pytest

from problems import files
from problems.catalogue import Library
from problems.describe import describe
from problems.files import FileError
from problems.resolve import from_bundle

LIBRARY = Library()
SPECS = {spec.id: spec for spec in LIBRARY.index().instances}


def test_files_have_the_digests_of_the_catalogue() -> None:
    listed = LIBRARY.catalogue().files
    folders = [LIBRARY.folder(kind) for kind in ("graph", "device", "link", "platform")]
    on_disk = {
        p.relative_to(LIBRARY.root).as_posix(): p for f in folders for p in f.glob("*.json*")
    }
    assert set(on_disk) == set(listed)
    for name, path in on_disk.items():
        assert files.content_digest(path) == listed[name], name


def test_catalogue_lists_the_index() -> None:
    assert [entry.id for entry in LIBRARY.entries()] == list(SPECS)


@pytest.mark.parametrize("entry", LIBRARY.entries(), ids=lambda entry: entry.id)
def test_instance_is_as_the_catalogue_says(entry) -> None:
    fresh = describe(LIBRARY.load(entry.id), SPECS[entry.id])
    assert fresh.digest == entry.digest
    assert fresh.best_single_s == pytest.approx(entry.best_single_s, rel=1e-9)
    assert fresh.lower_bound_s == pytest.approx(entry.lower_bound_s, rel=1e-6)
    assert (fresh.n, fresh.edges, fresh.devices, fresh.parts) == (
        entry.n, entry.edges, entry.devices, entry.parts,
    )  # fmt: skip


def test_most_instances_are_worth_splitting() -> None:
    entries = LIBRARY.entries()
    assert len(entries) >= 30
    assert {entry.problem for entry in entries} == {"throughput", "latency"}
    assert {"tiny", "small", "medium"} <= {entry.tier for entry in entries}
    worth = [entry for entry in entries if entry.headroom is None or entry.headroom > 1.2]
    assert len(worth) > 0.8 * len(entries)


def test_selections_name_instances() -> None:
    for name, ids in LIBRARY.selections().items():
        assert ids, name
        assert set(ids) <= set(SPECS), name
        assert len(set(ids)) == len(ids), name


def test_a_bundle_resolves_to_the_same_instance(tmp_path) -> None:
    entry = LIBRARY.entries()[0]
    path = tmp_path / "bundle.json.gz"
    files.write(path, LIBRARY.bundle(SPECS[entry.id]))
    assert LIBRARY.load_path(path).digest == entry.digest
    assert from_bundle(LIBRARY.bundle(SPECS[entry.id])).digest == entry.digest


def test_unknown_names_are_refused_with_the_valid_ones() -> None:
    with pytest.raises(FileError, match="did you mean 'clip:operator/server/latency'"):
        LIBRARY.load("clip:operator/server/latencie")
    with pytest.raises(FileError, match="default, full, latency, smoke"):
        LIBRARY.selection("nightly")
    with pytest.raises(FileError, match="unknown platform 'x'; there are duo-eth1g"):
        LIBRARY.platform("x")
