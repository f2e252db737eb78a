"""Networks that answer for every pixel."""

from __future__ import annotations

from pytorchcv.models.deeplabv3 import deeplabv3_resnetd50b_voc
from pytorchcv.models.icnet import icnet_resnetd50b_cityscapes

from problems.capture.models.inputs import collection, image, own
from problems.capture.models.registry import Built, builder
from problems.capture.modules.unet import UNet


@builder("unet", "unet")
def unet(batch: int = 1, size: int = 256) -> Built:
    """Build U-Net with padded convolutions (arXiv 1505.04597)."""
    about = own(batch=batch, image=size)
    block = r"(down|up)\.\d+|classifier"
    return Built(UNet(), (image(batch, size),), {}, block, about)


@builder("deeplabv3", "deeplab")
def deeplabv3(batch: int = 1, size: int = 480) -> Built:
    """Build DeepLabv3 on ResNet-50 (arXiv 1706.05587)."""
    model = deeplabv3_resnetd50b_voc(in_size=(size, size), aux=False)
    return collection(model, r"backbone\.\d+(\.unit\d+)?|pool\.branches\.\w+", batch, size)


@builder("icnet", "icnet")
def icnet(batch: int = 1, size: int = 480) -> Built:
    """Build ICNet on ResNet-50: three branches of unlike resolution (arXiv 1704.08545)."""
    model = icnet_resnetd50b_cityscapes(in_size=(size, size), aux=False)
    return collection(model, r"branch\d", batch, size)
