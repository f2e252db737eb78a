"""Hand-written networks: recurrent, mixtures, recommender, waves, cells, diffusion."""

from __future__ import annotations

import torch

from problems.capture.models.inputs import image, own, tokens
from problems.capture.models.registry import Built, builder, variant
from problems.capture.modules.amoebanet import AmoebaNet
from problems.capture.modules.diffusion import DiffusionUNet
from problems.capture.modules.dlrm import Dlrm
from problems.capture.modules.experts import MixtureDecoder
from problems.capture.modules.gnmt import Gnmt
from problems.capture.modules.lstm import LstmLanguageModel
from problems.capture.modules.wavenet import WaveNet


@builder("moe", "moe")
def moe(batch: int = 1, sequence: int = 128) -> Built:
    """Build a decoder of 6 layers with 8 experts each (arXiv 1701.06538)."""
    about = own(batch=batch, sequence=sequence)
    return Built(MixtureDecoder(), (tokens(batch, sequence),), {}, r"layers\.\d+", about)


@builder("moe-8x7b", "moe")
def moe_large(batch: int = 1, sequence: int = 128) -> Built:
    """Build a mixture of 32 layers, as wide as Mixtral 8x7B (arXiv 2401.04088)."""
    model = MixtureDecoder(layers=32, width=4096, heads=32, hidden=14336)
    about = own(batch=batch, sequence=sequence)
    return Built(model, (tokens(batch, sequence),), {}, r"layers\.\d+", about)


@builder("gnmt", "gnmt")
def gnmt(batch: int = 1, sequence: int = 16) -> Built:
    """Build GNMT (arXiv 1609.08144): 8 + 8 layers of LSTM cells, unrolled over the time steps."""
    block = r"(encoder|decoder)\.(embedding|backwards|first|layers\.\d+|classifier)"
    words = (tokens(batch, sequence), tokens(batch, sequence))
    return Built(Gnmt(), words, {}, block, own(batch=batch, sequence=sequence))


@builder("lstm", "lstm")
def lstm(batch: int = 20, sequence: int = 35) -> Built:
    """Build the large LSTM language model, 2 layers of 1500 cells (arXiv 1409.2329)."""
    block = r"embedding|layers\.\d+|classifier"
    about = own(batch=batch, sequence=sequence)
    return Built(LstmLanguageModel(), (tokens(batch, sequence),), {}, block, about)


@builder("wavenet", "wavenet")
def wavenet(batch: int = 1, sequence: int = 4096) -> Built:
    """Build WaveNet, 30 layers (arXiv 1609.03499)."""
    block = r"embedding|layers\.\d+|head"
    about = own(batch=batch, sequence=sequence)
    return Built(WaveNet(), (tokens(batch, sequence),), {}, block, about)


@builder("dlrm", "dlrm")
def dlrm(batch: int = 128) -> Built:
    """Build DLRM on Criteo Kaggle features, at most a million rows a table (arXiv 1906.00091)."""
    model = Dlrm()
    ids = [torch.zeros(batch, dtype=torch.int64) for _ in model.tables]
    inputs = (torch.rand(batch, 13), *ids)
    return Built(model, inputs, {}, r"tables\.\d+|bottom|top", own(batch=batch))


@builder("amoebanet-d", "nasnet")
def amoebanet(batch: int = 1) -> Built:
    """Build AmoebaNet-D (18, 256) (arXiv 1802.01548, 1811.06965)."""
    about = own(batch=batch, image=224)
    block = r"stem|cells\.\d+"
    return Built(AmoebaNet(), (image(batch, 224),), {}, block, about)


@builder("ddpm", "diffusion")
def ddpm(batch: int = 1) -> Built:
    """Build the noise predictor of a diffusion model for CIFAR-10 (arXiv 2006.11239)."""
    inputs = (image(batch, 32), torch.rand(batch))
    block = r"time|first|(down|middle|up)\.\d+|last"
    return Built(DiffusionUNet(), inputs, {}, block, own(batch=batch, image=32))


variant("gnmt-b8-s32", "gnmt", batch=8, sequence=32)
