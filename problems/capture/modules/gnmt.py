"""GNMT: the encoder-decoder LSTM translator of Wu et al., arXiv 1609.08144, unrolled.

Every LSTM cell is one operator a time step, so that layers can run as a wavefront; the weights of
a layer are the same at all steps. A layer is a module and a time step of it a module in that, so
that coarser views are layers over steps and layers.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class Gnmt(nn.Module):
    """Encoder (first layer bidirectional), additive attention, decoder with teacher forcing.

    Parameters
    ----------
    layers : int
        LSTM layers of the encoder and of the decoder.
    width : int
        Units of every layer and of the embeddings.
    vocabulary : int
        Words of both languages.
    """

    def __init__(self, layers: int = 8, width: int = 1024, vocabulary: int = 32000) -> None:
        super().__init__()
        self.encoder = Encoder(layers, width, vocabulary)
        self.decoder = Decoder(layers, width, vocabulary)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Scores of shape (batch, steps, vocabulary) of int64 token ids (batch, steps)."""
        scores: Tensor = self.decoder(target, self.encoder(source))
        return scores


class Encoder(nn.Module):
    """First layer in both directions, the others forwards, residual from the third on."""

    def __init__(self, layers: int, width: int, vocabulary: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.backwards = Layer(width, width)
        inputs = [width, 2 * width] + [width] * (layers - 2)
        self.layers = nn.ModuleList(Layer(n, width, residual=i > 1) for i, n in enumerate(inputs))

    def forward(self, source: Tensor) -> Tensor:
        """Memory of shape (batch, steps, width)."""
        steps = list(self.embedding(source).unbind(1))
        back = self.backwards(steps[::-1])[::-1]
        for i, layer in enumerate(self.layers):
            steps = layer(steps, back if i == 1 else None)
        return torch.stack(steps, 1)


class Decoder(nn.Module):
    """The first layer asks the memory; its answer goes to every layer above."""

    def __init__(self, layers: int, width: int, vocabulary: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.first = AttentiveLayer(width)
        self.layers = nn.ModuleList(
            Layer(2 * width, width, residual=i > 0) for i in range(layers - 1)
        )
        self.classifier = nn.Linear(width, vocabulary)

    def forward(self, target: Tensor, memory: Tensor) -> Tensor:
        """Scores of shape (batch, steps, vocabulary)."""
        steps, contexts = self.first(list(self.embedding(target).unbind(1)), memory)
        for layer in self.layers:
            steps = layer(steps, contexts)
        scores: Tensor = self.classifier(torch.stack(steps, 1))
        return scores


class Layer(nn.Module):
    """One LSTM cell over all time steps."""

    def __init__(self, inputs: int, width: int, *, residual: bool = False) -> None:
        super().__init__()
        self.width = width
        self.step = Step(inputs, width, residual=residual)

    def forward(self, steps: list[Tensor], beside: list[Tensor] | None = None) -> list[Tensor]:
        """Map tensors (batch, n), one a step, to (batch, width); `beside` is joined to them."""
        zero = steps[0].new_zeros(steps[0].shape[0], self.width)
        state, out = (zero, zero), []
        for i, x in enumerate(steps):
            state, y = self.step(x, state, beside[i] if beside else None)
            out.append(y)
        return out


class Step(nn.Module):
    """One time step of a layer: join, cell, shortcut."""

    def __init__(self, inputs: int, width: int, *, residual: bool) -> None:
        super().__init__()
        self.join = Join()
        self.cell = nn.LSTMCell(inputs, width)
        self.shortcut = Add() if residual else None

    def forward(
        self, x: Tensor, state: tuple[Tensor, Tensor], beside: Tensor | None
    ) -> tuple[tuple[Tensor, Tensor], Tensor]:
        """Give the next state and the output."""
        state = self.cell(x if beside is None else self.join(x, beside), state)
        return state, state[0] if self.shortcut is None else self.shortcut(state[0], x)


class AttentiveLayer(nn.Module):
    """The decoder's first layer: what it read from the memory is part of its next input."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.keys = nn.Linear(width, width, bias=False)
        self.step = AttentiveStep(width)

    def forward(self, words: list[Tensor], memory: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        """Outputs and contexts, (batch, width) each, one a step."""
        zero = torch.zeros_like(words[0])
        keys = self.keys(memory)
        context, state = zero, (zero, zero)
        steps, contexts = [], []
        for word in words:
            state, context = self.step(word, context, state, keys, memory)
            steps.append(state[0])
            contexts.append(context)
        return steps, contexts


class AttentiveStep(nn.Module):
    """Cell, then additive attention of Bahdanau et al., arXiv 1409.0473."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.join = Join()
        self.cell = nn.LSTMCell(2 * width, width)
        self.attention = Attention(width)

    def forward(
        self,
        word: Tensor,
        context: Tensor,
        state: tuple[Tensor, Tensor],
        keys: Tensor,
        memory: Tensor,
    ) -> tuple[tuple[Tensor, Tensor], Tensor]:
        """Give the next state and the next context."""
        state = self.cell(self.join(word, context), state)
        return state, self.attention(state[0], keys, memory)


class Attention(nn.Module):
    """Weights by a perceptron over query and keys."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.query = nn.Linear(width, width, bias=False)
        self.score = nn.Linear(width, 1, bias=False)

    def forward(self, query: Tensor, keys: Tensor, memory: Tensor) -> Tensor:
        """Context of shape (batch, width) for a query of that shape."""
        score = self.score(torch.tanh(self.query(query).unsqueeze(1) + keys))
        weight = functional.softmax(score.transpose(1, 2), -1)
        return torch.bmm(weight, memory).squeeze(1)


class Join(nn.Module):
    """Concatenation of features; a module, so that it belongs to its step."""

    def forward(self, x: Tensor, beside: Tensor) -> Tensor:
        """Map (batch, n) and (batch, m) to (batch, n + m)."""
        return torch.cat((x, beside), 1)


class Add(nn.Module):
    """Sum; a module for the same reason."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """Add tensors of equal shape."""
        return x + y
