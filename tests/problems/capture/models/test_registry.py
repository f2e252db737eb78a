"""The networks by name: those that are quick to build, and the properties of random wiring."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="extra `capture` is not installed: no torch")
pytest.importorskip("transformers", reason="extra `capture` is not installed: no transformers")
pytest.importorskip("pytorchcv", reason="extra `capture` is not installed: no pytorchcv")

from problems import files  # noqa: E402
from problems.capture.models import BUILDERS, capture_graph, find  # noqa: E402
from problems.capture.modules.experts import Mixture  # noqa: E402
from problems.capture.modules.gnmt import Gnmt  # noqa: E402
from problems.capture.modules.randwire import RandWire, random_edges  # noqa: E402
from problems.catalogue import ROOT  # noqa: E402
from problems.graph import GraphFile  # noqa: E402


def test_every_network_is_in_the_library_and_the_other_way_round() -> None:
    shipped = {path.name.removesuffix(".json.gz") for path in (ROOT / "graphs").glob("*.gz")}
    assert set(BUILDERS) <= shipped


@pytest.mark.parametrize("name", ["resnet50", "bert-base", "moe"])
def test_a_new_capture_has_the_structure_of_the_shipped_file(name: str) -> None:
    shipped = files.read(ROOT / "graphs" / f"{name}.json.gz", GraphFile)
    fresh = capture_graph(name)
    if fresh.provenance != shipped.provenance:
        pytest.skip("captured with other versions of torch or transformers")
    assert fresh == shipped


def test_unknown_networks_are_refused_with_those_there_are() -> None:
    with pytest.raises(ValueError, match=r"no network 'vgg'; the networks are resnet50, .*moe"):
        find("vgg")


@pytest.mark.parametrize(("rule", "edges"), [("ws", 64), ("ba", 135), ("er", None)])
def test_random_wiring_is_connected_forward_and_repeatable(rule: str, edges: int | None) -> None:
    for seed in range(20):
        drawn = random_edges(rule, seed)  # type: ignore[arg-type]
        assert all(0 <= u < v < 32 for u, v in drawn)
        assert {v for edge in drawn for v in edge} == set(range(32))
        assert drawn == random_edges(rule, seed)  # type: ignore[arg-type]
        assert edges is None or len(drawn) == edges


def test_a_randomly_wired_network_runs() -> None:
    model = RandWire("ws", (1, 2, 3), channels=4, classes=5).eval()
    with torch.inference_mode():
        assert model(torch.rand(2, 3, 64, 64)).shape == (2, 5)


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


def test_a_mixture_uses_only_the_chosen_experts() -> None:
    torch.manual_seed(0)
    mixture = Mixture(width=8, experts=4, hidden=6, chosen=2).eval()
    x = torch.rand(1, 5, 8)
    with torch.inference_mode():
        scores = torch.softmax(mixture.gate(x), -1)
        expected = torch.zeros_like(x)
        for t in range(5):
            for e in scores[0, t].topk(2).indices.tolist():
                expected[0, t] += scores[0, t, e] * mixture.experts[e](x[0, t])
        torch.testing.assert_close(mixture(x), expected)
