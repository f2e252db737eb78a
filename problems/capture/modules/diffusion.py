"""The noise predictor of Ho et al., arXiv 2006.11239 (CIFAR-10 size): a U-Net with attention.

Every residual block reads the same embedding of the time step, and every block on the way up the
output of one on the way down.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

GROUPS = 32


class DiffusionUNet(nn.Module):
    """Residual blocks at four resolutions, attention at one of them.

    Parameters
    ----------
    channels : int
        Of the finest resolution.
    multiples : tuple of int
        Channels of each resolution in multiples of that.
    blocks : int
        Residual blocks a resolution on the way down; one more on the way up.
    attentive : int
        Which resolution has attention after every block, 0 the finest.
    """

    def __init__(
        self,
        channels: int = 128,
        multiples: tuple[int, ...] = (1, 2, 2, 2),
        blocks: int = 2,
        attentive: int = 1,
    ) -> None:
        super().__init__()
        self.time = TimeEmbedding(channels)
        self.first = nn.Conv2d(3, channels, 3, padding=1)
        widths = [channels * m for m in multiples]
        skips, x = [channels], channels
        self.down = nn.ModuleList()
        for level, width in enumerate(widths):
            for _ in range(blocks):
                self.down.append(Block(x, width, 4 * channels, attention=level == attentive))
                x = width
                skips.append(x)
            if level < len(widths) - 1:
                self.down.append(Resize(x, 2))
                skips.append(x)
        self.middle = nn.ModuleList(
            [Block(x, x, 4 * channels, attention=True), Block(x, x, 4 * channels, attention=False)]
        )
        self.up = nn.ModuleList()
        for level, width in reversed(list(enumerate(widths))):
            for _ in range(blocks + 1):
                inputs = x + skips.pop()
                self.up.append(Block(inputs, width, 4 * channels, attention=level == attentive))
                x = width
            if level:
                self.up.append(Resize(x, 1))
        self.last = nn.Sequential(nn.GroupNorm(GROUPS, x), nn.SiLU(), nn.Conv2d(x, 3, 3, padding=1))

    def forward(self, image: Tensor, step: Tensor) -> Tensor:
        """Predict the noise in images (batch, 3, h, w) at time steps (batch,)."""
        time = self.time(step)
        x = self.first(image)
        skips = [x]
        for module in self.down:
            x = module(x) if isinstance(module, Resize) else module(x, time)
            skips.append(x)
        for module in self.middle:
            x = module(x, time)
        for module in self.up:
            x = module(x) if isinstance(module, Resize) else module(x, time, skips.pop())
        noise: Tensor = self.last(x)
        return noise


class TimeEmbedding(nn.Module):
    """Sines and cosines of the time step, then a perceptron."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        half = torch.arange(channels // 2)
        self.register_buffer("frequencies", torch.exp(-math.log(1e4) * half / (channels // 2 - 1)))
        self.perceptron = nn.Sequential(
            nn.Linear(channels, 4 * channels), nn.SiLU(), nn.Linear(4 * channels, 4 * channels)
        )

    def forward(self, step: Tensor) -> Tensor:
        """Map (batch,) to (batch, 4 * channels)."""
        angle = step[:, None] * self.frequencies
        embedding: Tensor = self.perceptron(torch.cat((angle.sin(), angle.cos()), 1))
        return embedding


class Block(nn.Module):
    """Two convolutions with the time between, a shortcut, and attention where wanted."""

    def __init__(self, inputs: int, outputs: int, time: int, *, attention: bool) -> None:
        super().__init__()
        self.norm1 = nn.GroupNorm(GROUPS, inputs)
        self.conv1 = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.time = nn.Sequential(nn.SiLU(), nn.Linear(time, outputs))
        self.norm2 = nn.GroupNorm(GROUPS, outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1)
        self.shortcut = nn.Identity() if inputs == outputs else nn.Conv2d(inputs, outputs, 1)
        self.attention = Attention(outputs) if attention else nn.Identity()

    def forward(self, x: Tensor, time: Tensor, skip: Tensor | None = None) -> Tensor:
        """Map (batch, inputs, h, w), the skip's channels among them, to (batch, outputs, h, w)."""
        if skip is not None:
            x = torch.cat((x, skip), 1)
        y = self.conv1(functional.silu(self.norm1(x))) + self.time(time)[:, :, None, None]
        y = self.conv2(functional.silu(self.norm2(y)))
        z: Tensor = self.attention(self.shortcut(x) + y)
        return z


class Attention(nn.Module):
    """Every pixel asks every other, one head."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(GROUPS, channels)
        self.query = nn.Conv2d(channels, channels, 1)
        self.key = nn.Conv2d(channels, channels, 1)
        self.value = nn.Conv2d(channels, channels, 1)
        self.output = nn.Conv2d(channels, channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, channels, h, w) to the same shape."""
        y = self.norm(x)
        q, k, v = (
            each(y).flatten(2).transpose(1, 2) for each in (self.query, self.key, self.value)
        )
        mixed = functional.scaled_dot_product_attention(q, k, v)
        return x + self.output(mixed.transpose(1, 2).reshape(x.shape))


class Resize(nn.Module):
    """Half the resolution (stride 2) or twice (stride 1, after repeating pixels)."""

    def __init__(self, channels: int, stride: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, stride, 1)
        self.grow = nn.Upsample(scale_factor=2) if stride == 1 else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, channels, h, w) to another resolution."""
        y: Tensor = self.conv(self.grow(x))
        return y
