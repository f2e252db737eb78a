"""DLRM, the recommender of Naumov et al., arXiv 1906.00091: two towers that meet in products."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor, nn

# Distinct values of the 26 categorical features of the Criteo Kaggle data, on which the paper's
# program runs by default; it can fold them into fewer rows (its option max-ind-range), as here.
CRITEO = (
    1460, 583, 10131227, 2202608, 305, 24, 12517, 633, 3, 93145, 5683, 8351593, 3194, 27, 14992,
    5461306, 10, 5652, 2173, 4, 7046547, 18, 15, 286181, 105, 142572,
)  # fmt: skip
MOST_ROWS = 1_000_000
ROWS = tuple(min(values, MOST_ROWS) for values in CRITEO)


class Dlrm(nn.Module):
    """Dense features through a perceptron, categories through tables, pairwise products, top.

    Parameters
    ----------
    rows : tuple of int
        Rows of the embedding tables.
    width : int
        Of the embeddings and of the bottom perceptron's output.
    bottom, top : tuple of int
        Hidden units of the perceptrons.
    dense : int
        Dense features.
    """

    def __init__(
        self,
        rows: tuple[int, ...] = ROWS,
        width: int = 16,
        bottom: tuple[int, ...] = (512, 256, 64),
        top: tuple[int, ...] = (512, 256),
        dense: int = 13,
    ) -> None:
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(n, width) for n in rows)
        self.bottom = perceptron((dense, *bottom, width), nn.ReLU())
        count = len(rows) + 1
        self.top = perceptron((width + count * (count - 1) // 2, *top, 1), nn.Sigmoid())
        first, second = torch.tril_indices(count, count, -1)
        self.register_buffer("first", first, persistent=False)
        self.register_buffer("second", second, persistent=False)

    def forward(self, dense: Tensor, *categories: Tensor) -> Tensor:
        """Click probabilities (batch, 1) of features (batch, dense) and one id (batch,) a table."""
        x = self.bottom(dense)
        rows = [table(ids) for table, ids in zip(self.tables, categories, strict=True)]
        vectors = torch.stack([x, *rows], 1)
        products = torch.bmm(vectors, vectors.transpose(1, 2))
        pairs = products[:, self.first, self.second]
        probability: Tensor = self.top(torch.cat((x, pairs), 1))
        return probability


def perceptron(sizes: tuple[int, ...], last: nn.Module) -> nn.Sequential:
    """Linear layers with ReLU between and `last` at the end."""
    layers: list[nn.Module] = []
    for inputs, outputs in itertools.pairwise(sizes):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers[:-1], last)
