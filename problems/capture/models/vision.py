"""Transformers that read images, from configurations of transformers."""

from __future__ import annotations

import transformers

from problems.capture.models.inputs import hugging, image, text
from problems.capture.models.registry import Built, builder


@builder("vit-base", "vit")
def vit_base(batch: int = 1) -> Built:
    """Build ViT-B/16 (arXiv 2010.11929)."""
    model = transformers.ViTForImageClassification(transformers.ViTConfig(num_labels=1000))
    block = r"vit\.(embeddings|(encoder\.)?layers?\.\d+)|classifier"
    inputs = {"pixel_values": image(batch, 224)}
    return Built(model, (), inputs, block, hugging(batch=batch, image=224))


@builder("clip", "clip")
def clip(batch: int = 1) -> Built:
    """Build CLIP ViT-B/32 (arXiv 2103.00020): an image against a text of 77 tokens."""
    model = transformers.CLIPModel(transformers.CLIPConfig())
    inputs = text(batch, 77) | {"pixel_values": image(batch, 224)}
    block = r"(text|vision)_model\.(embeddings|encoder\.layers\.\d+)"
    return Built(model, (), inputs, block, hugging(batch=batch, image=224, sequence=77))
