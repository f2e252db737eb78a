"""The picture of the spread."""

from __future__ import annotations

import msgspec
import pytest

from problems import spread
from problems.catalogue import Library

pytest.importorskip("matplotlib", reason="the picture needs matplotlib (extra dev)")


def test_the_picture_is_the_same_each_time(tmp_path) -> None:
    catalogue = Library().catalogue()
    # One graph trains, one instance is held out: every branch of the legend.
    entries = list(catalogue.instances[:12])
    entries[0] = msgspec.structs.replace(entries[0], split="holdout")
    graphs = [
        msgspec.structs.replace(graph, training=graph.name == entries[0].graph)
        for graph in catalogue.graphs
    ]
    changed = msgspec.structs.replace(catalogue, instances=entries, graphs=graphs)
    paths = [tmp_path / name for name in ("a.svg", "b.svg")]
    for path, each in zip(paths, (changed, changed), strict=True):
        spread.draw(each, path)
    first, again = (path.read_bytes() for path in paths)
    assert first == again


def test_the_library_ships_its_picture() -> None:
    assert (Library().root / "spread.png").read_bytes().startswith(b"\x89PNG")
