"""The diffusion U-Net: published size, shape kept, time matters."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="extra `capture` is not installed: no torch")

from problems.capture.modules.diffusion import DiffusionUNet  # noqa: E402


def test_parameters_are_those_of_the_paper() -> None:
    """Section 4 of arXiv 2006.11239, appendix B: 35.7 million for CIFAR-10."""
    with torch.device("meta"):
        model = DiffusionUNet()
    assert sum(p.numel() for p in model.parameters()) == pytest.approx(35.7e6, rel=0.005)


def test_it_predicts_noise_that_depends_on_the_time_step() -> None:
    torch.manual_seed(0)
    model = DiffusionUNet(channels=32, multiples=(1, 2), blocks=1).eval()
    image = torch.rand(1, 3, 8, 8)
    with torch.inference_mode():
        early, late = (model(image, torch.tensor([t])) for t in (1.0, 900.0))
    assert early.shape == image.shape
    assert not torch.allclose(early, late)
