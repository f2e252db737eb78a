"""AmoebaNet-D: the sizes that GPipe published, and a run."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="extra `capture` is not installed: no torch")

from problems.capture.modules.amoebanet import AmoebaNet  # noqa: E402


def test_parameters_are_those_of_gpipe() -> None:
    """Table 1 of arXiv 1811.06965: AmoebaNet-D (18, 208) has 82 million, (36, 544) 1.05 billion."""
    with torch.device("meta"):
        models = [AmoebaNet(18, 208), AmoebaNet(36, 544)]
    small, large = (sum(p.numel() for p in model.parameters()) for model in models)
    assert small == pytest.approx(82e6, rel=0.02)
    assert large == pytest.approx(1.05e9, rel=0.02)


def test_it_runs_at_a_32nd_of_the_resolution() -> None:
    model = AmoebaNet(layers=3, filters=32, classes=5).eval()
    with torch.inference_mode():
        assert model(torch.rand(2, 3, 64, 64)).shape == (2, 5)
