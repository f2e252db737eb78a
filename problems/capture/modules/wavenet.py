"""WaveNet of van den Oord et al., arXiv 1609.03499: dilated causal convolutions, gates, skips.

30 layers in 3 cycles of dilations 1..512 are those of Tacotron 2 (arXiv 1712.05884); the widths
are not published.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class WaveNet(nn.Module):
    """A long chain whose every layer also feeds one sum.

    Parameters
    ----------
    cycles, layers : int
        Layers of a cycle have dilations 1, 2, 4, ...
    width, skip, levels : int
        Channels of the chain and of the sum; quantization levels of a sample.
    """

    def __init__(
        self,
        cycles: int = 3,
        layers: int = 10,
        width: int = 128,
        skip: int = 256,
        levels: int = 256,
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(levels, width)
        dilations = [2**i for _ in range(cycles) for i in range(layers)]
        self.layers = nn.ModuleList(Layer(width, skip, dilation) for dilation in dilations)
        self.head = nn.Sequential(
            nn.ReLU(), nn.Conv1d(skip, skip, 1), nn.ReLU(), nn.Conv1d(skip, levels, 1)
        )

    def forward(self, samples: Tensor) -> Tensor:
        """Scores (batch, levels, length) of quantized samples (batch, length), int64."""
        x = self.embedding(samples).transpose(1, 2)
        x, total = self.layers[0](x)
        for layer in list(self.layers)[1:]:
            x, skip = layer(x)
            total = total + skip
        scores: Tensor = self.head(total)
        return scores


class Layer(nn.Module):
    """Gated dilated convolution of two taps; residual and skip."""

    def __init__(self, width: int, skip: int, dilation: int) -> None:
        super().__init__()
        self.dilation = dilation
        self.filter = nn.Conv1d(width, width, 2, dilation=dilation)
        self.gate = nn.Conv1d(width, width, 2, dilation=dilation)
        self.residual = nn.Conv1d(width, width, 1)
        self.skip = nn.Conv1d(width, skip, 1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Give the next x, of the same shape (batch, width, length), and the skip."""
        past = functional.pad(x, (self.dilation, 0))
        y = torch.tanh(self.filter(past)) * torch.sigmoid(self.gate(past))
        return x + self.residual(y), self.skip(y)
