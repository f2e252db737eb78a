"""The network of the policy: encoder and head; needs torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from heuristics.rl import features
from heuristics.rl.encoder import Encoder
from heuristics.rl.features import NODE, PAIR, PLACE, UNIT, Seen
from heuristics.rl.head import Head
from heuristics.rl.task import Task


@dataclass(frozen=True)
class Config:
    """Sizes of the network; `inputs` are the columns of :mod:`heuristics.rl.features`."""

    hidden: int = 64
    layers: int = 3
    match: int = 16
    inputs: tuple[int, ...] = (len(NODE), len(UNIT), len(PLACE), len(PAIR))


class Policy(nn.Module):
    """Places that units are wished to, given a state."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.encoder = Encoder(config.inputs[0], config.hidden, config.layers)
        self.head = Head(config.hidden, config.match)


@dataclass(frozen=True)
class Graph:
    """The tensors of a task that no state changes.

    Attributes
    ----------
    node : float tensor, shape (U, 8)
    edges : int64 tensor, shape (2, E)
    allowed : bool tensor, shape (U, C)
    """

    node: torch.Tensor
    edges: torch.Tensor
    allowed: torch.Tensor


def graph_of(task: Task, device: torch.device) -> Graph:
    """The tensors of a task."""
    return Graph(
        torch.from_numpy(features.static(task)).to(device),
        torch.from_numpy(np.ascontiguousarray(task.edges.T)).to(device),
        torch.from_numpy(features.allowed(task)).to(device),
    )


def fresh(config: Config, seed: int, device: torch.device) -> Policy:
    """An untrained policy; the same seed gives the same one, whatever else draws numbers."""
    with torch.random.fork_rng(devices=[]):
        torch.random.manual_seed(seed)
        policy = Policy(config)
    policy.to(device)
    return policy


def vectors(policy: Policy, graph: Graph) -> torch.Tensor:
    """What the encoder makes of the units, shape (U, hidden), not to be learned from.

    It is most of what a proposal costs, and the same until the weights change.
    """
    with torch.no_grad():
        vector: torch.Tensor = policy.encoder(graph.node, graph.edges)
    return vector


def logits(
    policy: Policy, graph: Graph, states: Sequence[Seen], vector: torch.Tensor | None = None
) -> torch.Tensor:
    """Log-probabilities of places, shape (S, U, C); -inf where a unit cannot go.

    Parameters
    ----------
    vector : float tensor, shape (U, hidden)
        Of :func:`vectors`, if known.
    """
    device = graph.node.device
    parts = [
        torch.from_numpy(np.stack([getattr(each, name) for each in states])).to(device)
        for name in Seen._fields
    ]
    if vector is None:
        vector = policy.encoder(graph.node, graph.edges)
    # Where a unit is stays possible whatever else is said: the state is valid.
    able = graph.allowed | (parts[2][..., 0] > 0)
    scores = policy.head(vector, *parts).masked_fill(~able, -torch.inf)
    return torch.log_softmax(scores, dim=2)
