"""A decoder with a mixture of experts in every layer (Shazeer et al., arXiv 1701.06538).

All experts are evaluated on all tokens and weighted by the gate, which zeroes those that a token
did not choose: the branches are then real operators of fixed shape.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class MixtureDecoder(nn.Module):
    """Decoder of `layers` blocks with `experts` experts each.

    Parameters
    ----------
    layers, width, heads, experts, hidden
        Blocks; model width; attention heads; experts a block; hidden units of an expert.
    chosen : int
        Experts whose answers a token uses.
    vocabulary, positions : int
        Words, and the longest sequence.
    """

    def __init__(
        self,
        layers: int = 6,
        width: int = 512,
        heads: int = 8,
        experts: int = 8,
        hidden: int = 1024,
        chosen: int = 2,
        vocabulary: int = 32000,
        positions: int = 512,
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.position = nn.Embedding(positions, width)
        self.layers = nn.ModuleList(
            Block(width, heads, experts, hidden, chosen) for _ in range(layers)
        )
        self.norm = nn.LayerNorm(width)
        self.classifier = nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        """Scores of shape (batch, length, vocabulary) of int64 token ids (batch, length)."""
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.embedding(tokens) + self.position(positions)
        for layer in self.layers:
            x = layer(x)
        scores: Tensor = self.classifier(self.norm(x))
        return scores


class Block(nn.Module):
    """Causal self-attention, then the mixture, each behind a layer norm and a shortcut."""

    def __init__(self, width: int, heads: int, experts: int, hidden: int, chosen: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.norm2 = nn.LayerNorm(width)
        self.mixture = Mixture(width, experts, hidden, chosen)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, length, width) to the same shape."""
        x = x + self.attention(self.norm1(x))
        mixed: Tensor = x + self.mixture(self.norm2(x))
        return mixed


class Attention(nn.Module):
    """Multi-head causal attention with separate projections."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.output = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, length, width) to the same shape."""
        shape = (x.shape[0], x.shape[1], self.heads, -1)
        q, k, v = (
            each(x).view(shape).transpose(1, 2) for each in (self.query, self.key, self.value)
        )
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        projected: Tensor = self.output(y.transpose(1, 2).reshape(x.shape))
        return projected


class Mixture(nn.Module):
    """Gate and experts; the answers of the `chosen` best are summed by their gate weight."""

    def __init__(self, width: int, experts: int, hidden: int, chosen: int) -> None:
        super().__init__()
        self.chosen = chosen
        self.gate = nn.Linear(width, experts, bias=False)
        self.experts = nn.ModuleList(Expert(width, hidden) for _ in range(experts))

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, length, width) to the same shape."""
        scores = functional.softmax(self.gate(x), -1)
        best, index = scores.topk(self.chosen, -1)
        weights = torch.zeros_like(scores).scatter(-1, index, best).split(1, -1)
        total = weights[0] * self.experts[0](x)
        for weight, expert in zip(weights[1:], list(self.experts)[1:], strict=True):
            total = total + weight * expert(x)
        return total


class Expert(nn.Module):
    """Two linear layers with a GELU between."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.up = nn.Linear(width, hidden)
        self.down = nn.Linear(hidden, width)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, length, width) to the same shape."""
        y: Tensor = self.down(functional.gelu(self.up(x)))
        return y
