"""Example inputs, and what a graph file says about them."""

from __future__ import annotations

from typing import Any

import torch
import transformers
from torch import nn

from problems.capture.models.registry import Built


def image(batch: int, size: int) -> torch.Tensor:
    """Make `batch` square pictures of `size` pixels a side, three channels."""
    return torch.rand(batch, 3, size, size)


def tokens(batch: int, sequence: int) -> torch.Tensor:
    """Make `batch` sequences of the word 0."""
    return torch.zeros(batch, sequence, dtype=torch.int64)


def text(batch: int, sequence: int) -> dict[str, torch.Tensor]:
    """Make the inputs of a text model of transformers.

    The mask is what a user of a tokenizer passes; without one, some decoders look for packed
    sequences first.
    """
    mask = torch.ones(batch, sequence, dtype=torch.int64)
    return {"input_ids": tokens(batch, sequence), "attention_mask": mask}


def collection(model: nn.Module, block: str, batch: int, size: int) -> Built:
    """Describe a network of pytorchcv that reads images."""
    about = {"batch": batch, "image": size, "source": "pytorchcv 0.0.74"}
    return Built(model, (image(batch, size),), {}, block, about)


def hugging(**provenance: int) -> dict[str, Any]:
    """Provenance of a network that transformers builds from a configuration."""
    return {"source": f"transformers {transformers.__version__}"} | provenance


def own(**provenance: Any) -> dict[str, Any]:
    """Provenance of a network of :mod:`problems.capture.modules`."""
    return {"source": "hand-written module of this suite"} | provenance
