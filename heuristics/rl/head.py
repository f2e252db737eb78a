"""From the vectors of units and a state to wishes of places; needs torch.

A wish is scored by what the pair of unit and place looks like, with weights that depend on the unit
and the state, and by how vectors of unit and place match. Nothing depends on the number of places.
"""

from __future__ import annotations

import math

import torch
from torch import nn

from heuristics.rl.features import PAIR, PLACE, UNIT

MOVES = 2.0
"""Units that an untrained policy wishes elsewhere, on average."""


class Head(nn.Module):
    """Scores of places.

    Parameters
    ----------
    hidden : int
        Columns of the vectors of units.
    match : int
        Columns of the vectors that are matched.
    """

    def __init__(self, hidden: int, match: int) -> None:
        super().__init__()
        self.inner = nn.Linear(hidden + len(UNIT), hidden)
        self.weights = nn.Linear(hidden, len(PAIR))
        self.key = nn.Linear(hidden, match)
        self.place = nn.Sequential(
            nn.Linear(len(PLACE), hidden), nn.ReLU(), nn.Linear(hidden, match)
        )
        self.moves = nn.Parameter(torch.tensor(math.log(MOVES)))
        # An untrained policy has no preferences.
        for layer in (self.weights, self.key):
            nn.init.zeros_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(
        self, vector: torch.Tensor, unit: torch.Tensor, place: torch.Tensor, pair: torch.Tensor
    ) -> torch.Tensor:
        """Logits of S states.

        Parameters
        ----------
        vector : float tensor, shape (U, hidden)
        unit, place, pair : float tensors, shapes (S, U, .), (S, C, .), (S, U, C, .)
            See :class:`heuristics.rl.features.Seen`.

        Returns
        -------
        float tensor, shape (S, U, C)
        """
        _, U, C, _ = pair.shape
        both = torch.cat([vector.expand(len(unit), -1, -1), unit], dim=2)
        inner = torch.relu(self.inner(both))
        match = self.key(inner) @ self.place(place).transpose(1, 2)
        scores = (pair @ self.weights(inner)[..., None])[..., 0]
        scores = scores + match / math.sqrt(self.key.out_features)
        # So that as many units move in a large graph as in a small one.
        stay = math.log(U * max(1, C - 1)) - self.moves
        return scores + stay * pair[..., 0]
