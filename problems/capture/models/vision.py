"""Transformers that read images or sound, alone or with text, from configurations."""

from __future__ import annotations

from collections.abc import Callable

import torch
import transformers
from torch import nn

from problems.capture.models.inputs import hugging, image, text
from problems.capture.models.registry import Built, builder, register, variant


def network(
    name: str, family: str, title: str, make: Callable[[], nn.Module], block: str, size: int = 224
) -> None:
    """Register a model of images alone."""

    def build(batch: int = 1, size: int = size) -> Built:
        inputs = {"pixel_values": image(batch, size)}
        return Built(make(), (), inputs, block, hugging(batch=batch, image=size))

    register(name, family, f"{title}.", build)


VIT = r"vit\.(embeddings|(encoder\.)?layers?\.\d+)|classifier"
network(
    "vit-base",
    "vit",
    "ViT-B/16 (arXiv 2010.11929)",
    lambda: transformers.ViTForImageClassification(transformers.ViTConfig(num_labels=1000)),
    VIT,
)
network(
    "vit-large",
    "vit",
    "ViT-L/16 (arXiv 2010.11929)",
    lambda: transformers.ViTForImageClassification(
        transformers.ViTConfig(
            hidden_size=1024,
            num_hidden_layers=24,
            num_attention_heads=16,
            intermediate_size=4096,
            num_labels=1000,
        )
    ),
    VIT,
)

SWIN = (
    r"swin\.(embeddings|encoder\.layers\.\d+\.(blocks\.\d+|downsample)|layernorm|pooler)|classifier"
)
network(
    "swin-tiny",
    "swin",
    "Swin-T (arXiv 2103.14030)",
    lambda: transformers.SwinForImageClassification(transformers.SwinConfig(num_labels=1000)),
    SWIN,
)
network(
    "swin-base",
    "swin",
    "Swin-B (arXiv 2103.14030)",
    lambda: transformers.SwinForImageClassification(
        transformers.SwinConfig(
            embed_dim=128, depths=[2, 2, 18, 2], num_heads=[4, 8, 16, 32], num_labels=1000
        )
    ),
    SWIN,
)
network(
    "convnext-tiny",
    "convnext",
    "ConvNeXt-T (arXiv 2201.03545)",
    lambda: transformers.ConvNextForImageClassification(
        transformers.ConvNextConfig(num_labels=1000)
    ),
    r"convnext\.(embeddings|encoder\.stages\.\d+\.(downsampling_layer|layers\.\d+)|layernorm)"
    r"|classifier",
)
network(
    "mobilevit-small",
    "mobilevit",
    "MobileViT-S (arXiv 2110.02178)",
    lambda: transformers.MobileViTForImageClassification(
        transformers.MobileViTConfig(num_labels=1000)
    ),
    r"mobilevit\.(conv_stem|conv_1x1_exp|encoder\.layer\.\d+(\.layer\.\d+|\.transformer\.layer\.\d+)?)"
    r"|classifier",
    256,
)
network(
    "segformer-b2",
    "segformer",
    "SegFormer-B2: four resolutions meet in one decoder (arXiv 2105.15203)",
    lambda: transformers.SegformerForSemanticSegmentation(
        transformers.SegformerConfig(
            depths=[3, 4, 6, 3], hidden_sizes=[64, 128, 320, 512], decoder_hidden_size=768
        )
    ),
    r"segformer\.(encoder\.)?\w+\.\d+(\.(blocks\.)?\d+)?|decode_head",
    256,
)
network(
    "detr-resnet50",
    "detr",
    "DETR on ResNet-50: convolutions, then encoder and decoder (arXiv 2005.12872)",
    lambda: transformers.DetrForObjectDetection(
        transformers.DetrConfig(
            use_timm_backbone=False,
            use_pretrained_backbone=False,
            backbone=None,
            backbone_config=transformers.ResNetConfig(out_features=["stage4"]),
        )
    ),
    r"model\.(backbone\.[\w.]*stages\.\d+|backbone|(encoder|decoder)\.layers\.\d+)"
    r"|class_labels_classifier|bbox_predictor",
    800,
)


@builder("clip", "clip")
def clip(batch: int = 1) -> Built:
    """Build CLIP ViT-B/32 (arXiv 2103.00020): an image against a text of 77 tokens."""
    model = transformers.CLIPModel(transformers.CLIPConfig())
    inputs = text(batch, 77) | {"pixel_values": image(batch, 224)}
    block = r"(text|vision)_model\.(embeddings|encoder\.layers\.\d+)"
    return Built(model, (), inputs, block, hugging(batch=batch, image=224, sequence=77))


@builder("flava", "flava")
def flava(batch: int = 1) -> Built:
    """Build FLAVA (arXiv 2112.04482): an image and a text tower, then one over both."""
    model = transformers.FlavaModel(transformers.FlavaConfig())
    inputs = text(batch, 77) | {"pixel_values": image(batch, 224)}
    block = r"(text|image|multimodal)_model\.(embeddings|encoder\.layer\.\d+|layernorm|pooler)"
    return Built(model, (), inputs, block, hugging(batch=batch, image=224, sequence=77))


@builder("bridgetower", "bridgetower")
def bridgetower(batch: int = 1) -> Built:
    """Build BridgeTower base (arXiv 2206.08657): two towers that exchange at six layers."""
    model = transformers.BridgeTowerModel(transformers.BridgeTowerConfig())
    inputs = text(batch, 50) | {"pixel_values": image(batch, 288)}
    block = (
        r"(text|vision)_model\.[\w.]*?(embeddings|(layer|resblocks)\.\d+)"
        r"|cross_modal_\w+\.\d+|cross_modal_\w+"
    )
    return Built(model, (), inputs, block, hugging(batch=batch, image=288, sequence=50))


@builder("whisper-small", "whisper")
def whisper(batch: int = 1, sequence: int = 64) -> Built:
    """Build Whisper small (arXiv 2212.04356): 30 s of sound to a text so far, no cache."""
    config = transformers.WhisperConfig(
        d_model=768,
        encoder_layers=12,
        decoder_layers=12,
        encoder_attention_heads=12,
        decoder_attention_heads=12,
        encoder_ffn_dim=3072,
        decoder_ffn_dim=3072,
        use_cache=False,
    )
    inputs = {
        "input_features": torch.rand(batch, config.num_mel_bins, 3000),
        "decoder_input_ids": torch.zeros(batch, sequence, dtype=torch.int64),
    }
    block = (
        r"model\.(encoder\.(conv\d|layers\.\d+|layer_norm)"
        r"|decoder\.(embed_\w+|layers\.\d+|layer_norm))|proj_out"
    )
    model = transformers.WhisperForConditionalGeneration(config)
    return Built(model, (), inputs, block, hugging(batch=batch, sequence=sequence, frames=3000))


@builder("wav2vec2-base", "wav2vec2")
def wav2vec2(batch: int = 1, sequence: int = 80000) -> Built:
    """Build wav2vec 2.0 base (arXiv 2006.11477): 5 s of sound at 16 kHz."""
    model = transformers.Wav2Vec2Model(transformers.Wav2Vec2Config())
    inputs = {"input_values": torch.rand(batch, sequence)}
    block = (
        r"feature_extractor\.conv_layers\.\d+|feature_projection"
        r"|encoder\.(pos_conv_embed|layers\.\d+|layer_norm)"
    )
    return Built(model, (), inputs, block, hugging(batch=batch, samples=sequence))


variant("vit-base-b8", "vit-base", batch=8)
variant("clip-b8", "clip", batch=8)
