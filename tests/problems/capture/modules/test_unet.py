"""U-Net: published size, same resolution out as in."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="extra `capture` is not installed: no torch")

from problems.capture.modules.unet import UNet  # noqa: E402


def test_it_answers_for_every_pixel() -> None:
    model = UNet((2, 4, 8), classes=3).eval()
    with torch.inference_mode():
        assert model(torch.rand(1, 3, 16, 24)).shape == (1, 3, 16, 24)


def test_23_convolutions_and_31_million_parameters() -> None:
    with torch.device("meta"):
        model = UNet()
    kinds = (torch.nn.Conv2d, torch.nn.ConvTranspose2d)
    assert sum(isinstance(m, kinds) for m in model.modules()) == 23  # arXiv 1505.04597, section 2
    assert sum(p.numel() for p in model.parameters()) == pytest.approx(31.0e6, rel=0.01)
