"""Losses for networks that come without one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils import _pytree as pytree

from problems.capture.trace import tensors_of

LossKind = Literal["cross-entropy", "mean"]
# Outputs of transformers that hold the scores of classes, words or pairs.
SCORES = ("logits", "logits_per_image", "logits_per_text")


class Objective(nn.Module):
    """A network and its loss.

    Parameters
    ----------
    network : Module
        Called with all inputs but the first.
    loss : {'cross-entropy', 'mean'}
        Cross-entropy of every tensor of scores against labels, or the mean of every floating
        output; summed over them.
    """

    def __init__(self, network: nn.Module, loss: LossKind) -> None:
        super().__init__()
        self.network = network
        self.loss: nn.Module = CrossEntropy() if loss == "cross-entropy" else Mean()

    def forward(
        self, labels: list[Tensor], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Tensor:
        """Scalar loss of one batch."""
        value: Tensor = self.loss(self.network(*args, **kwargs), labels)
        return value


class CrossEntropy(nn.Module):
    """Mean cross-entropy of each tensor of scores; see :func:`scores` for its classes."""

    def forward(self, outputs: Any, labels: list[Tensor]) -> Tensor:
        """Scalar."""
        parts = [
            functional.cross_entropy(each if each.dim() == 4 else each.flatten(0, -2), label)
            for each, label in zip(scores(outputs), labels, strict=True)
        ]
        return _sum(parts)


class Mean(nn.Module):
    """Mean of each floating output."""

    def forward(self, outputs: Any, labels: list[Tensor]) -> Tensor:
        """Scalar; `labels` is empty."""
        return _sum([each.mean() for each in _floating(outputs)])


def choose(outputs: Any) -> LossKind:
    """Cross-entropy where the outputs have scores, else the mean."""
    return "cross-entropy" if scores(outputs) else "mean"


def scores(outputs: Any) -> list[Tensor]:
    """Find the tensors of scores among the outputs of a network.

    A network's only output is one: (batch, classes), (batch, length, classes) or (batch, classes,
    height, width). Of a structured output these are the entries named in :data:`SCORES`.
    """
    if isinstance(outputs, Tensor):
        return [outputs] if outputs.dim() in (2, 3, 4) else []
    if isinstance(outputs, Mapping):
        return [outputs[key] for key in SCORES if isinstance(outputs.get(key), Tensor)]
    return []


def labels_for(outputs: Any) -> list[Tensor]:
    """Labels for every tensor of :func:`scores`: class 0 for every row or pixel."""
    made = []
    for each in scores(outputs):
        shape = (each.shape[0], *each.shape[2:]) if each.dim() == 4 else (each[..., 0].numel(),)
        made.append(torch.zeros(shape, dtype=torch.int64))
    return made


def _floating(outputs: Any) -> list[Tensor]:
    found = [t for t in tensors_of(pytree.tree_leaves(outputs)) if t.is_floating_point()]
    if not found:
        raise ValueError("the network has no floating output to take a loss of")
    return found


def _sum(parts: list[Tensor]) -> Tensor:
    total = parts[0]
    for each in parts[1:]:
        total = total + each
    return total
