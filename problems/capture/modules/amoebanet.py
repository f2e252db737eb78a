"""AmoebaNet-D (Real et al., arXiv 1802.01548) as scaled by GPipe (Huang et al., arXiv 1811.06965).

The genotype, with the normal cell's outputs as in the authors' own program, which the parameter
counts in table 1 of the GPipe paper rest on.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

Gene = tuple[int, str]

# Five pairs of (input state, operation); a pair's sum is a new state. Then the states given out.
NORMAL: tuple[Gene, ...] = (
    (1, "conv1"),
    (1, "max3"),
    (1, "none"),
    (0, "conv7"),
    (0, "conv1"),
    (0, "conv7"),
    (2, "max3"),
    (2, "none"),
    (1, "avg3"),
    (5, "conv1"),
)
NORMAL_OUTPUTS = (0, 3, 4, 6)
REDUCTION: tuple[Gene, ...] = (
    (0, "max2"),
    (0, "max3"),
    (2, "none"),
    (1, "conv3"),
    (2, "conv7"),
    (2, "max3"),
    (3, "none"),
    (1, "max2"),
    (2, "avg3"),
    (3, "conv1"),
)
REDUCTION_OUTPUTS = (4, 5, 6)


class AmoebaNet(nn.Module):
    """Stem of two reductions, then three rows of normal cells with reductions between.

    Parameters
    ----------
    layers : int
        L of the paper, normal cells; a multiple of 3.
    filters : int
        D of the paper; the cells of the last row have 4 D channels a branch.
    """

    def __init__(self, layers: int = 18, filters: int = 256, classes: int = 1000) -> None:
        super().__init__()
        width = filters // 4
        self.stem = nn.Sequential(nn.Conv2d(3, width, 3, 2, 1, bias=False), nn.BatchNorm2d(width))
        row = [False] * (layers // 3)
        before, last, halved = width, width, False
        self.cells = nn.ModuleList()
        for reduction in [True, True, *row, True, *row, True, *row]:
            width *= 2 if reduction else 1
            self.cells.append(Cell(before, last, width, reduction=reduction, halved=halved))
            outputs = REDUCTION_OUTPUTS if reduction else NORMAL_OUTPUTS
            before, last, halved = last, width * len(outputs), reduction
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Linear(last, classes)

    def forward(self, image: Tensor) -> Tensor:
        """Scores of shape (batch, classes) of images (batch, 3, 224, 224)."""
        before = last = self.stem(image)
        for cell in self.cells:
            before, last = last, cell(before, last)
        scores: Tensor = self.classifier(self.pool(last).flatten(1))
        return scores


class Cell(nn.Module):
    """A directed graph of ten operations on the two cells before it.

    Parameters
    ----------
    before, last, width : int
        Channels of the two inputs and of every branch.
    reduction : bool
        Halve the resolution.
    halved : bool
        The cell before did, so the input from two cells ago is twice as large.
    """

    def __init__(
        self, before: int, last: int, width: int, *, reduction: bool, halved: bool
    ) -> None:
        super().__init__()
        genes = REDUCTION if reduction else NORMAL
        self.sources = [source for source, _ in genes]
        self.outputs = REDUCTION_OUTPUTS if reduction else NORMAL_OUTPUTS
        self.last = conv(last, width)
        self.before: nn.Module = nn.Identity()
        if halved:
            self.before = Halve(before, width)
        elif before != width:
            self.before = conv(before, width)
        self.operations = nn.ModuleList(
            operation(kind, width, 2 if reduction and source < 2 else 1) for source, kind in genes
        )

    def forward(self, before: Tensor, last: Tensor) -> Tensor:
        """Join the output states, shape (batch, outputs * width, h, w)."""
        states = [self.last(last), self.before(before)]
        for i in range(0, len(self.sources), 2):
            first = self.operations[i](states[self.sources[i]])
            states.append(first + self.operations[i + 1](states[self.sources[i + 1]]))
        return torch.cat([states[i] for i in self.outputs], 1)


class Halve(nn.Module):
    """Halve the resolution by two strided convolutions, one of them a pixel apart."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.relu = nn.ReLU()
        self.even = nn.Conv2d(inputs, outputs // 2, 1, 2, bias=False)
        self.pad = nn.ZeroPad2d((0, 1, 0, 1))
        self.odd = nn.Conv2d(inputs, outputs // 2, 1, 2, bias=False)
        self.norm = nn.BatchNorm2d(outputs)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, inputs, h, w) to (batch, outputs, h / 2, w / 2)."""
        x = self.relu(x)
        odd = self.odd(self.pad(x[:, :, 1:, 1:]))
        y: Tensor = self.norm(torch.cat((self.even(x), odd), 1))
        return y


def conv(inputs: int, outputs: int) -> nn.Module:
    """ReLU, 1x1 convolution, batch norm."""
    return nn.Sequential(*_step(inputs, outputs))


def operation(kind: str, width: int, stride: int) -> nn.Module:
    """Make one operation of the genotype."""
    quarter = width // 4
    if kind == "none":
        return nn.Identity() if stride == 1 else Halve(width, width)
    if kind == "avg3":
        return nn.AvgPool2d(3, stride, 1, count_include_pad=False)
    if kind == "max3":
        return nn.MaxPool2d(3, stride, 1)
    if kind == "max2":
        return nn.MaxPool2d(2, stride)
    if kind == "conv1":
        return nn.Sequential(*_step(width, width, 1, stride))
    if kind == "conv3":
        middle = _step(quarter, quarter, 3, stride, 1)
    else:
        middle = [
            *_step(quarter, quarter, (1, 7), (1, stride), (0, 3)),
            *_step(quarter, quarter, (7, 1), (stride, 1), (3, 0)),
        ]
    return nn.Sequential(*_step(width, quarter), *middle, *_step(quarter, width))


def _step(
    inputs: int,
    outputs: int,
    kernel: int | tuple[int, int] = 1,
    stride: int | tuple[int, int] = 1,
    padding: int | tuple[int, int] = 0,
) -> list[nn.Module]:
    convolution = nn.Conv2d(inputs, outputs, kernel, stride, padding, bias=False)
    return [nn.ReLU(), convolution, nn.BatchNorm2d(outputs)]
