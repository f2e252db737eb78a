"""Randomly wired networks of Xie et al., arXiv 1904.01569: small regime (C = 78) and regular."""

from __future__ import annotations

from typing import Literal

import networkx as nx
import torch
from torch import Tensor, nn

Rule = Literal["ws", "er", "ba"]
NODES = 32  # of a stage


def random_edges(rule: Rule, seed: int, n: int = NODES) -> list[tuple[int, int]]:
    """Edges (u, v), u < v, of a connected random graph on n nodes.

    ``ws``: Watts-Strogatz (4, 0.75); ``er``: Erdos-Renyi (0.2), drawn again with the next seed
    until connected; ``ba``: Barabasi-Albert (5). Every edge points from the smaller number to the
    larger.
    """
    if rule == "ws":
        graph = nx.connected_watts_strogatz_graph(n, 4, 0.75, tries=200, seed=seed)
    elif rule == "ba":
        graph = nx.barabasi_albert_graph(n, 5, seed=seed)
    else:
        graph = nx.erdos_renyi_graph(n, 0.2, seed=seed)
        while not nx.is_connected(graph):
            seed += 1000  # apart from the seeds of the other stages
            graph = nx.erdos_renyi_graph(n, 0.2, seed=seed)
    return sorted((min(edge), max(edge)) for edge in graph.edges)


class RandWire(nn.Module):
    """Plain convolutions, random stages, classifier: table 1 of the paper.

    With three seeds the small regime: two plain convolutions, stages of C, 2C and 4C channels.
    With four the regular one: one plain convolution, stages of C, 2C, 4C and 8C channels, the
    first of them with half as many nodes.

    Parameters
    ----------
    rule : {'ws', 'er', 'ba'}
        Random graph model of the stages.
    seeds : tuple of int, length 3 or 4
        Seed of each stage's graph.
    channels : int
        C of the paper.
    """

    def __init__(
        self, rule: Rule, seeds: tuple[int, ...], channels: int = 78, classes: int = 1000
    ) -> None:
        super().__init__()
        self.conv1 = nn.Sequential(
            nn.Conv2d(3, channels // 2, 3, 2, 1, bias=False), nn.BatchNorm2d(channels // 2)
        )
        regular = len(seeds) == 4
        widths = [channels * 2**i for i in range(len(seeds))]
        self.conv2: nn.Module = nn.Identity()
        if not regular:
            self.conv2 = nn.Sequential(
                nn.ReLU(),
                nn.Conv2d(channels // 2, channels, 3, 2, 1, bias=False),
                nn.BatchNorm2d(channels),
            )
        inputs = [channels // 2 if regular else channels, *widths]
        sizes = [NODES // 2 if regular else NODES] + [NODES] * (len(seeds) - 1)
        self.stages = nn.ModuleList(
            Stage(random_edges(rule, seed, sizes[i]), inputs[i], widths[i])
            for i, seed in enumerate(seeds)
        )
        self.conv5 = nn.Sequential(
            nn.ReLU(), nn.Conv2d(widths[-1], 1280, 1, bias=False), nn.BatchNorm2d(1280), nn.ReLU()
        )
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Linear(1280, classes)

    def forward(self, image: Tensor) -> Tensor:
        """Scores of shape (batch, classes) of images (batch, 3, 224, 224)."""
        x = self.conv2(self.conv1(image))
        for stage in self.stages:
            x = stage(x)
        scores: Tensor = self.classifier(self.pool(self.conv5(x)).flatten(1))
        return scores


class Stage(nn.Module):
    """A random graph: sources read the stage's input with stride 2, sinks are averaged."""

    def __init__(self, edges: list[tuple[int, int]], inputs: int, outputs: int) -> None:
        super().__init__()
        n = max(v for _, v in edges) + 1
        self.producers = [[u for u, w in edges if w == v] for v in range(n)]
        self.sinks = [v for v in range(n) if not any(u == v for u, _ in edges)]
        self.nodes = nn.ModuleList(
            RandomNode(len(p), outputs if p else inputs, outputs) for p in self.producers
        )

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, inputs, h, w) to (batch, outputs, h / 2, w / 2)."""
        made: list[Tensor] = []
        for node, producers in zip(self.nodes, self.producers, strict=True):
            made.append(node([made[u] for u in producers] or [x]))
        total = made[self.sinks[0]]
        for v in self.sinks[1:]:
            total = total + made[v]
        return total / len(self.sinks)


class RandomNode(nn.Module):
    """Weighted sum of the inputs, ReLU, separable 3x3 convolution, batch norm."""

    def __init__(self, producers: int, inputs: int, outputs: int) -> None:
        super().__init__()
        if producers > 1:
            self.weight = nn.Parameter(torch.zeros(producers))
        self.relu = nn.ReLU()
        stride = 1 if producers else 2
        self.depthwise = nn.Conv2d(inputs, inputs, 3, stride, 1, groups=inputs, bias=False)
        self.pointwise = nn.Conv2d(inputs, outputs, 1, bias=False)
        self.norm = nn.BatchNorm2d(outputs)

    def forward(self, inputs: list[Tensor]) -> Tensor:
        """Map tensors of equal shape (batch, inputs, h, w) to one (batch, outputs, ...)."""
        x = inputs[0]
        if len(inputs) > 1:
            gates = torch.sigmoid(self.weight).unbind()
            x = gates[0] * x
            for gate, other in zip(gates[1:], inputs[1:], strict=True):
                x = x + gate * other
        y: Tensor = self.norm(self.pointwise(self.depthwise(self.relu(x))))
        return y
