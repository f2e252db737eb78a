"""Random wiring: connected, forwards, repeatable; the sizes of the paper."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="extra `capture` is not installed: no torch")

from problems.capture.modules.randwire import RandWire, random_edges  # noqa: E402


@pytest.mark.parametrize(("rule", "edges"), [("ws", 64), ("ba", 135), ("er", None)])
def test_random_wiring_is_connected_forward_and_repeatable(rule: str, edges: int | None) -> None:
    for seed in range(20):
        drawn = random_edges(rule, seed)  # type: ignore[arg-type]
        assert all(0 <= u < v < 32 for u, v in drawn)
        assert {v for edge in drawn for v in edge} == set(range(32))
        assert drawn == random_edges(rule, seed)  # type: ignore[arg-type]
        assert edges is None or len(drawn) == edges


@pytest.mark.parametrize("seeds", [(1, 2, 3), (1, 2, 3, 4)])
def test_a_randomly_wired_network_runs(seeds: tuple[int, ...]) -> None:
    model = RandWire("ws", seeds, channels=4, classes=5).eval()
    with torch.inference_mode():
        assert model(torch.rand(2, 3, 32, 32)).shape == (2, 5)


@pytest.mark.parametrize(
    ("seeds", "channels", "millions"), [((1, 2, 3), 78, 5.6), ((1, 2, 3, 4), 109, 31.9)]
)
def test_parameters_are_those_of_the_paper(
    seeds: tuple[int, ...], channels: int, millions: float
) -> None:
    """Tables 2 and 3 of arXiv 1904.01569, mean over five seeds (5.6 +- 0.1, 31.9 +- 0.2)."""
    with torch.device("meta"):
        model = RandWire("ws", seeds, channels)
    count = sum(p.numel() for p in model.parameters()) / 1e6
    assert count == pytest.approx(millions, rel=0.03)
