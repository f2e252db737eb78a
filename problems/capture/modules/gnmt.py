"""GNMT: the encoder-decoder LSTM translator of Wu et al., arXiv 1609.08144, unrolled.

Every LSTM cell is one operator a time step, so that layers can run as a wavefront; the weights of
a layer are the same at all steps.
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
        self.backwards = nn.LSTMCell(width, width)
        inputs = [width, 2 * width] + [width] * (layers - 2)
        self.cells = nn.ModuleList(nn.LSTMCell(n, width) for n in inputs)

    def forward(self, source: Tensor) -> Tensor:
        """Memory of shape (batch, steps, width)."""
        steps = list(self.embedding(source).unbind(1))
        back = _run(self.backwards, steps[::-1])[::-1]
        steps = [torch.cat(pair, 1) for pair in zip(_run(self.cells[0], steps), back, strict=True)]
        for i, cell in enumerate(self.cells):
            if i > 0:
                steps = _layer(cell, steps, residual=i > 1)
        return torch.stack(steps, 1)


class Decoder(nn.Module):
    """The first layer asks the memory; its answer goes to every layer above."""

    def __init__(self, layers: int, width: int, vocabulary: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.attention = Attention(width)
        self.cells = nn.ModuleList(nn.LSTMCell(2 * width, width) for _ in range(layers))
        self.classifier = nn.Linear(width, vocabulary)

    def forward(self, target: Tensor, memory: Tensor) -> Tensor:
        """Scores of shape (batch, steps, vocabulary)."""
        inputs = self.embedding(target).unbind(1)
        zero = torch.zeros_like(inputs[0])
        keys = self.attention.keys(memory)
        context, state = zero, (zero, zero)
        steps, contexts = [], []
        for word in inputs:
            state = self.cells[0](torch.cat((word, context), 1), state)
            context = self.attention(state[0], keys, memory)
            steps.append(state[0])
            contexts.append(context)
        for i, cell in enumerate(self.cells):
            if i > 0:
                steps = _layer(cell, steps, contexts, residual=i > 1)
        scores: Tensor = self.classifier(torch.stack(steps, 1))
        return scores


class Attention(nn.Module):
    """Additive attention of Bahdanau et al., arXiv 1409.0473."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.keys = nn.Linear(width, width, bias=False)
        self.query = nn.Linear(width, width, bias=False)
        self.score = nn.Linear(width, 1, bias=False)

    def forward(self, query: Tensor, keys: Tensor, memory: Tensor) -> Tensor:
        """Context of shape (batch, width) for a query of that shape."""
        score = self.score(torch.tanh(self.query(query).unsqueeze(1) + keys))
        weight = functional.softmax(score.transpose(1, 2), -1)
        return torch.bmm(weight, memory).squeeze(1)


def _run(cell: nn.LSTMCell, steps: list[Tensor]) -> list[Tensor]:
    zero = steps[0].new_zeros(steps[0].shape[0], cell.hidden_size)
    state, out = (zero, zero), []
    for step in steps:
        state = cell(step, state)
        out.append(state[0])
    return out


def _layer(
    cell: nn.LSTMCell,
    steps: list[Tensor],
    contexts: list[Tensor] | None = None,
    *,
    residual: bool,
) -> list[Tensor]:
    """Run a layer over all steps, with the context beside each input where there is one."""
    if contexts is None:
        inputs = steps
    else:
        inputs = [torch.cat(pair, 1) for pair in zip(steps, contexts, strict=True)]
    out = _run(cell, inputs)
    return [o + given for o, given in zip(out, steps, strict=True)] if residual else out
