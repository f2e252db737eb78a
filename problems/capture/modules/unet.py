"""U-Net of Ronneberger et al., arXiv 1505.04597; convolutions are padded, as is now usual."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor, nn


class UNet(nn.Module):
    """Contracting and expanding path with a skip at every resolution.

    Parameters
    ----------
    channels : tuple of int
        Of the resolutions, finest first.
    classes : int
        Of a pixel.
    """

    def __init__(
        self, channels: tuple[int, ...] = (64, 128, 256, 512, 1024), classes: int = 2
    ) -> None:
        super().__init__()
        self.down = nn.ModuleList([double(3, channels[0])])
        self.up = nn.ModuleList()
        for fine, coarse in itertools.pairwise(channels):
            self.down.append(nn.Sequential(nn.MaxPool2d(2), double(fine, coarse)))
            self.up.insert(0, Up(coarse, fine))
        self.classifier = nn.Conv2d(channels[0], classes, 1)

    def forward(self, image: Tensor) -> Tensor:
        """Scores (batch, classes, h, w) of images (batch, 3, h, w); sides multiples of 16."""
        x, skips = image, []
        for block in self.down:
            x = block(x)
            skips.append(x)
        for block, skip in zip(self.up, skips[-2::-1], strict=True):
            x = block(x, skip)
        scores: Tensor = self.classifier(x)
        return scores


class Up(nn.Module):
    """Twice the resolution, joined with the skip, then two convolutions."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.grow = nn.ConvTranspose2d(inputs, outputs, 2, 2)
        self.convolve = double(inputs, outputs)

    def forward(self, x: Tensor, skip: Tensor) -> Tensor:
        """Map (batch, inputs, h, w) and (batch, outputs, 2h, 2w) to the shape of the skip."""
        y: Tensor = self.convolve(torch.cat((skip, self.grow(x)), 1))
        return y


def double(inputs: int, outputs: int) -> nn.Sequential:
    """Two 3x3 convolutions, each with a ReLU."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, padding=1),
        nn.ReLU(inplace=True),
        nn.Conv2d(outputs, outputs, 3, padding=1),
        nn.ReLU(inplace=True),
    )
