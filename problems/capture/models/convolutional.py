"""Convolutional classifiers of pytorchcv, one line a network."""

from __future__ import annotations

from importlib import import_module

from problems.capture.models.inputs import collection
from problems.capture.models.registry import Built, register, variant

UNITS = r"features\.(init_block|stage\d+\.(unit|pool|trans)\d+|final_block)|output"
NAS_UNITS = r"features\.(init_block|stem\d*_?unit\d*|stage\d+\.unit\d+)"
FISH_UNITS = r"features\.(init_block|hg\.\w+_seq\.unit\d+|final_block)|output"
HIGH_RESOLUTION_UNITS = (
    r"features\.(init_block|stage\d+\.(transition\.block\d+"
    r"|layers\.block\d+(\.branches\.branch\d+)?)|final_block(\.\w+_blocks\.block\d+)?)|output"
)


def network(
    name: str, family: str, title: str, function: str, size: int = 224, block: str = UNITS
) -> None:
    """Register ``function`` (file.function of pytorchcv.models) as `name`, for images of `size`."""
    file, _, builds = function.partition(".")

    def build(batch: int = 1, size: int = size) -> Built:
        # Single files of a large collection: its own registry wants torchvision.
        module = import_module(f"pytorchcv.models.{file}")
        return collection(getattr(module, builds)(), block, batch, size)

    register(name, family, f"{title}.", build)


# Chains, and chains with shortcuts
network("alexnet", "alexnet", "AlexNet (arXiv 1404.5997)", "alexnet.alexnet")
network("vgg16", "vgg", "VGG-16 (arXiv 1409.1556)", "vgg.vgg16")
network("resnet18", "resnet", "ResNet-18 (arXiv 1512.03385)", "resnet.resnet18")
network("resnet50", "resnet", "ResNet-50 (arXiv 1512.03385)", "resnet.resnet50")
network("resnet152", "resnet", "ResNet-152 (arXiv 1512.03385)", "resnet.resnet152")
network("resnext50", "resnet", "ResNeXt-50 (32x4d) (arXiv 1611.05431)", "resnext.resnext50_32x4d")
network("wrn50-2", "resnet", "WRN-50-2 (arXiv 1605.07146)", "wrn.wrn50_2")
network("regnety-3.2g", "regnet", "RegNetY-3.2GF (arXiv 2003.13678)", "regnet.regnety032")
variant("resnet50-b8", "resnet50", batch=8)

# Small operators
network(
    "squeezenet", "squeezenet", "SqueezeNet 1.1 (arXiv 1602.07360)", "squeezenet.squeezenet_v1_1"
)
network(
    "shufflenetv2",
    "shufflenet",
    "ShuffleNetV2 1x (arXiv 1807.11164)",
    "shufflenetv2.shufflenetv2_w1",
)
network("mobilenetv2", "mobilenet", "MobileNetV2 (arXiv 1801.04381)", "mobilenetv2.mobilenetv2_w1")
network(
    "mobilenetv3-large",
    "mobilenet",
    "MobileNetV3 Large (arXiv 1905.02244)",
    "mobilenetv3.mobilenetv3_large_w1",
)
network(
    "efficientnet-b0",
    "efficientnet",
    "EfficientNet-B0 (arXiv 1905.11946)",
    "efficientnet.efficientnet_b0",
)
network(
    "efficientnet-b4",
    "efficientnet",
    "EfficientNet-B4 (arXiv 1905.11946)",
    "efficientnet.efficientnet_b4",
    380,
)
network("mixnet-m", "mixnet", "MixNet-M (arXiv 1907.09595)", "mixnet.mixnet_m")

# Inception: parallel branches in every unit
network(
    "bn-inception",
    "inception",
    "Inception with batch norm (arXiv 1502.03167)",
    "bninception.bninception",
)
network(
    "inceptionv3", "inception", "Inception-v3 (arXiv 1512.00567)", "inceptionv3.inceptionv3", 299
)
network(
    "inceptionv4", "inception", "Inception-v4 (arXiv 1602.07261)", "inceptionv4.inceptionv4", 299
)
network(
    "inception-resnetv2",
    "inception",
    "Inception-ResNet-v2 (arXiv 1602.07261)",
    "inceptionresnetv2.inceptionresnetv2",
    299,
)
network("xception", "inception", "Xception (arXiv 1610.02357)", "xception.xception", 299)
network("polynet", "inception", "PolyNet (arXiv 1611.05725)", "polynet.polynet", 331)
variant("inceptionv3-b8", "inceptionv3", batch=8)

# Cells found by search
network(
    "nasnet-mobile",
    "nasnet",
    "NASNet-A 4@1056 (arXiv 1707.07012)",
    "nasnet.nasnet_4a1056",
    block=NAS_UNITS,
)
network(
    "nasnet-large",
    "nasnet",
    "NASNet-A 6@4032 (arXiv 1707.07012)",
    "nasnet.nasnet_6a4032",
    331,
    NAS_UNITS,
)
network(
    "pnasnet-large",
    "nasnet",
    "PNASNet-5-Large (arXiv 1712.00559)",
    "pnasnet.pnasnet5large",
    331,
    NAS_UNITS,
)
network(
    "darts", "nasnet", "DARTS, ImageNet cells (arXiv 1806.09055)", "darts.darts", block=NAS_UNITS
)

# Far or many connections
network("densenet121", "densenet", "DenseNet-121 (arXiv 1608.06993)", "densenet.densenet121")
network("densenet201", "densenet", "DenseNet-201 (arXiv 1608.06993)", "densenet.densenet201")
network(
    "fishnet99", "fishnet", "FishNet-99 (arXiv 1901.03495)", "fishnet.fishnet99", block=FISH_UNITS
)

# Several resolutions at once
network(
    "octresnet50",
    "octresnet",
    "Oct-ResNet-50, alpha 1/2 (arXiv 1904.05049)",
    "octresnet.octresnet50b_ad2",
)
network(
    "hrnet-w18",
    "hrnet",
    "HRNetV2-W18 (arXiv 1908.07919)",
    "hrnet.hrnetv2_w18",
    block=HIGH_RESOLUTION_UNITS,
)
