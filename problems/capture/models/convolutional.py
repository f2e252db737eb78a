"""Convolutional classifiers of pytorchcv, one line a network."""

from __future__ import annotations

from importlib import import_module

from problems.capture.models.inputs import collection
from problems.capture.models.registry import Built, register, variant

UNITS = r"features\.(init_block|stage\d+\.unit\d+)"
NAS_UNITS = r"features\.(init_block|stem\d*_?unit\d*|stage\d+\.unit\d+)"


def network(
    name: str, family: str, title: str, function: str, block: str = UNITS, size: int = 224
) -> None:
    """Register ``function`` (file.function of pytorchcv.models) as `name`, for images of `size`."""
    file, _, builds = function.partition(".")

    def build(batch: int = 1, size: int = size) -> Built:
        # Single files of a large collection: its own registry wants torchvision.
        module = import_module(f"pytorchcv.models.{file}")
        return collection(getattr(module, builds)(), block, batch, size)

    register(name, family, f"{title}.", build)


network("resnet50", "resnet", "ResNet-50 (arXiv 1512.03385)", "resnet.resnet50")
network(
    "inceptionv3",
    "inception",
    "Inception-v3 (arXiv 1512.00567)",
    "inceptionv3.inceptionv3",
    size=299,
)
network(
    "nasnet-mobile",
    "nasnet",
    "NASNet-A 4@1056 (arXiv 1707.07012)",
    "nasnet.nasnet_4a1056",
    NAS_UNITS,
)

variant("resnet50-b8", "resnet50", batch=8)
