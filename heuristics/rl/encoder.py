"""GraphSAGE (Hamilton, Ying and Leskovec 2017) over units; needs torch.

A layer adds three linear maps: of a unit, of the mean over what it reads, and of the mean over what
reads it. Means are sums by ``index_add``, so that a layer costs what the edges cost.
"""

from __future__ import annotations

import torch
from torch import nn


class Encoder(nn.Module):
    """Numbers of units to vectors of units.

    Parameters
    ----------
    inputs, hidden, layers : int
        Columns of the input, of the output, and rounds of messages.
    """

    def __init__(self, inputs: int, hidden: int, layers: int) -> None:
        super().__init__()
        self.first = nn.Linear(inputs, hidden)
        self.own = nn.ModuleList(nn.Linear(hidden, hidden) for _ in range(layers))
        self.above = nn.ModuleList(nn.Linear(hidden, hidden, bias=False) for _ in range(layers))
        self.below = nn.ModuleList(nn.Linear(hidden, hidden, bias=False) for _ in range(layers))
        self.norm = nn.ModuleList(nn.LayerNorm(hidden) for _ in range(layers))

    def forward(self, node: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        """Vectors of the units.

        Parameters
        ----------
        node : float tensor, shape (U, inputs)
        edges : int64 tensor, shape (2, E)
            Producers and readers.

        Returns
        -------
        float tensor, shape (U, hidden)
        """
        state = torch.relu(self.first(node))
        producer, reader = edges
        for own, above, below, norm in zip(
            self.own, self.above, self.below, self.norm, strict=True
        ):
            new = own(state) + above(_mean(state, producer, reader))
            new = new + below(_mean(state, reader, producer))
            state = state + torch.relu(norm(new))
        return state


def _mean(state: torch.Tensor, origin: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Mean of the states at `origin` for each row of `target`; 0 where there are none."""
    total = torch.zeros_like(state).index_add(0, target, state[origin])
    count = torch.zeros(len(state), 1, dtype=state.dtype, device=state.device)
    count = count.index_add(0, target, torch.ones_like(target, dtype=state.dtype)[:, None])
    return total / count.clamp(min=1)
