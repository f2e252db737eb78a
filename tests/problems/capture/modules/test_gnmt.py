"""GNMT: causal, and every step of a layer is a module."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="extra `capture` is not installed: no torch")

from problems.capture.graph import export_graph  # noqa: E402
from problems.capture.modules.gnmt import Gnmt  # noqa: E402
from problems.coarsen import coarsen  # noqa: E402
from problems.graph import from_file  # noqa: E402


def test_gnmt_runs_and_later_words_do_not_change_earlier_scores() -> None:
    torch.manual_seed(0)
    model = Gnmt(layers=3, width=8, vocabulary=11).eval()
    source, target = torch.randint(11, (2, 4)), torch.randint(11, (2, 4))
    with torch.inference_mode():
        scores = model(source, target)
        assert scores.shape == (2, 4, 11)
        changed = target.clone()
        changed[:, 3] = (changed[:, 3] + 1) % 11
        again = model(source, changed)
    assert torch.equal(scores[:, :3], again[:, :3])
    assert not torch.equal(scores[:, 3], again[:, 3])


def test_steps_of_layers_and_layers_are_coarser_views() -> None:
    words = torch.zeros(1, 4, dtype=torch.int64)
    block = r"(encoder|decoder)\.(embedding|backwards|first|layers\.\d+|classifier)"
    file = export_graph("g", "f", Gnmt(3, 8, 11), (words, words), block=block)
    graph = from_file(file)
    parents = set(coarsen(graph, "parent").paths)
    for step in ("step", "step@1", "step@2", "step@3"):
        assert {f"encoder.layers.2.{step}", f"decoder.layers.1.{step}"} <= parents
    blocks = [p for p in coarsen(graph, "block").paths if p]
    assert len(blocks) == len(set(blocks)) == 2 * 1 + 1 + 3 + 3 + 1
