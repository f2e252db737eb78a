"""The large LSTM language model of Zaremba et al., arXiv 1409.2329, unrolled."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class LstmLanguageModel(nn.Module):
    """Embedding, LSTM layers, classifier; every cell is one operator a time step.

    Parameters
    ----------
    layers, width, vocabulary
        LSTM layers; units of each and of the embedding; words.
    """

    def __init__(self, layers: int = 2, width: int = 1500, vocabulary: int = 10000) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList(Layer(width) for _ in range(layers))
        self.classifier = nn.Linear(width, vocabulary)

    def forward(self, tokens: Tensor) -> Tensor:
        """Scores of shape (batch, steps, vocabulary) of int64 token ids (batch, steps)."""
        steps = list(self.embedding(tokens).unbind(1))
        for layer in self.layers:
            steps = layer(steps)
        scores: Tensor = self.classifier(torch.stack(steps, 1))
        return scores


class Layer(nn.Module):
    """One LSTM cell over all time steps."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(width, width)

    def forward(self, steps: list[Tensor]) -> list[Tensor]:
        """Map tensors (batch, width), one a step, to as many of that shape."""
        zero = torch.zeros_like(steps[0])
        state, out = (zero, zero), []
        for step in steps:
            state = self.cell(step, state)
            out.append(state[0])
        return out
