"""The networks that can be captured by name; to add one, register a builder here.

No weights are downloaded: structures come from configurations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
import transformers
from torch import nn

from problems.capture import Progress, silent
from problems.capture.graph import export_graph
from problems.capture.modules.experts import MixtureDecoder
from problems.capture.modules.gnmt import Gnmt
from problems.capture.modules.randwire import RandWire, Rule
from problems.graph import GraphFile


@dataclass(frozen=True)
class Built:
    """A network with example inputs, on the default device of the moment.

    Attributes
    ----------
    block : str
        Regular expression for the blocks of the network at the start of module paths.
    provenance : dict
        Source, batch, sequence, seeds: whatever describes the structure.
    """

    model: nn.Module
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    block: str
    provenance: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Builder:
    """Name, family and the function that builds the network."""

    name: str
    family: str
    build: Callable[[], Built]


BUILDERS: dict[str, Builder] = {}


def builder(name: str, family: str) -> Callable[[Callable[[], Built]], Callable[[], Built]]:
    """Register the decorated function under `name`."""

    def register(build: Callable[[], Built]) -> Callable[[], Built]:
        BUILDERS[name] = Builder(name, family, build)
        return build

    return register


def find(name: str) -> Builder:
    """Look a network up.

    Raises
    ------
    ValueError
        If there is none of this name; the message lists those there are.
    """
    if name not in BUILDERS:
        raise ValueError(f"no network {name!r}; the networks are {', '.join(BUILDERS)}")
    return BUILDERS[name]


def capture_graph(name: str, progress: Progress = silent) -> GraphFile:
    """Capture the graph of a network by its name.

    Parameters
    ----------
    name : str
        One of :data:`BUILDERS`.
    progress : callable
        Told the fraction done, 0..1, and what is being done.

    Raises
    ------
    ValueError
        If there is no network of this name.
    """
    chosen = find(name)
    progress(0.0, f"building {name}")
    with torch.device("meta"):
        built = chosen.build()
    progress(0.3, f"exporting {name}")
    file = export_graph(
        name,
        chosen.family,
        built.model,
        built.args,
        built.kwargs,
        block=built.block,
        provenance={"network": (chosen.build.__doc__ or "").removeprefix("Build ").strip()}
        | built.provenance,
    )
    progress(1.0, f"{name}: {len(file.nodes)} nodes, {len(file.signatures)} signatures")
    return file


def _image(model: nn.Module, block: str, size: int = 224, **provenance: Any) -> Built:
    image = torch.rand(1, 3, size, size)
    return Built(model, (image,), {}, block, {"batch": 1, "image": size} | provenance)


def _tokens(count: int) -> torch.Tensor:
    return torch.zeros(1, count, dtype=torch.int64)


@builder("resnet50", "resnet")
def resnet50() -> Built:
    """Build ResNet-50 (arXiv 1512.03385)."""
    from pytorchcv.models.resnet import resnet50 as build  # one file of a large collection

    return _image(build(), r"features\.(init_block|stage\d+\.unit\d+)", source="pytorchcv 0.0.74")


@builder("inceptionv3", "inception")
def inceptionv3() -> Built:
    """Build Inception-v3 (arXiv 1512.00567)."""
    from pytorchcv.models.inceptionv3 import inceptionv3 as build  # as above

    block = r"features\.(init_block|stage\d+\.unit\d+)"
    return _image(build(), block, 299, source="pytorchcv 0.0.74")


@builder("nasnet-mobile", "nasnet")
def nasnet_mobile() -> Built:
    """Build NASNet-A 4@1056 (arXiv 1707.07012)."""
    from pytorchcv.models.nasnet import nasnet_4a1056 as build  # as above

    block = r"features\.(init_block|stem\d*_?unit\d*|stage\d+\.unit\d+)"
    return _image(build(), block, source="pytorchcv 0.0.74")


@builder("bert-base", "bert")
def bert_base() -> Built:
    """Build BERT base, uncased (arXiv 1810.04805), one sequence of 128."""
    config = transformers.BertConfig()
    block = r"embeddings|encoder\.layer\.\d+|pooler"
    inputs = {"input_ids": _tokens(128)}
    return Built(transformers.BertModel(config), (), inputs, block, _hugging(sequence=128))


@builder("gpt2", "gpt2")
def gpt2() -> Built:
    """Build GPT-2 small with its language head, one sequence of 128, no cache."""
    config = transformers.GPT2Config(use_cache=False)
    model = transformers.GPT2LMHeadModel(config)
    block = r"transformer\.(wte|wpe|h\.\d+|ln_f)|lm_head"
    # Without a mask the model looks for packed sequences first.
    inputs = {"input_ids": _tokens(128), "attention_mask": torch.ones(1, 128, dtype=torch.int64)}
    return Built(model, (), inputs, block, _hugging(sequence=128))


@builder("vit-base", "vit")
def vit_base() -> Built:
    """Build ViT-B/16 (arXiv 2010.11929)."""
    model = transformers.ViTForImageClassification(transformers.ViTConfig(num_labels=1000))
    block = r"vit\.(embeddings|(encoder\.)?layers?\.\d+)|classifier"
    image = torch.rand(1, 3, 224, 224)
    return Built(model, (), {"pixel_values": image}, block, _hugging(image=224))


@builder("clip", "clip")
def clip() -> Built:
    """Build CLIP ViT-B/32 (arXiv 2103.00020): an image against a text of 77 tokens."""
    model = transformers.CLIPModel(transformers.CLIPConfig())
    inputs = {
        "input_ids": _tokens(77),
        "attention_mask": torch.ones(1, 77, dtype=torch.int64),
        "pixel_values": torch.rand(1, 3, 224, 224),
    }
    block = r"(text|vision)_model\.(embeddings|encoder\.layers\.\d+)"
    return Built(model, (), inputs, block, _hugging(image=224, sequence=77))


def _hugging(**provenance: int) -> dict[str, Any]:
    return {"source": f"transformers {transformers.__version__}", "batch": 1} | provenance


@builder("moe", "moe")
def moe() -> Built:
    """Build a decoder of 6 layers with 8 experts each, one sequence of 128."""
    block = r"layers\.\d+"
    return Built(MixtureDecoder(), (_tokens(128),), {}, block, _own(sequence=128))


@builder("gnmt", "gnmt")
def gnmt() -> Built:
    """Build GNMT (arXiv 1609.08144): 8 + 8 layers of LSTM cells, 16 time steps."""
    block = r"(encoder|decoder)\.(embedding|backwards|cells\.\d+|attention|classifier)"
    return Built(Gnmt(), (_tokens(16), _tokens(16)), {}, block, _own(sequence=16))


def _own(**provenance: Any) -> dict[str, Any]:
    return {"source": "hand-written module of this suite", "batch": 1} | provenance


def _randwire(rule: Rule, label: str) -> None:
    seeds = (1, 2, 3)

    def build() -> Built:
        model = RandWire(rule, seeds)
        about = _own(image=224, graph=label, seeds=list(seeds))
        return Built(model, (torch.rand(1, 3, 224, 224),), {}, r"stages\.\d+\.nodes\.\d+", about)

    build.__doc__ = f"Build a randomly wired network, {label} (arXiv 1904.01569)."
    builder(f"randwire-{rule}", "randwire")(build)


_randwire("ws", "WS(4, 0.75)")
_randwire("er", "ER(0.2)")
_randwire("ba", "BA(5)")
