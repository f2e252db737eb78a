"""The instances of the library: which graph is placed on which platform, under which rules.

What is worth asking of which graph: latency of branchy networks, throughput and tight memory of
chains, subgraph calls where memory or missing operators force cuts; processors are paired with
slow links and GPUs with PCIe-class ones, or transfers would be free. A line is a platform, a
problem with its rules, and graphs (``name`` or ``name:level``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from problems.catalogue import Index
from problems.compose.selections import DEFAULT, QUICK, SMOKE, TRIVIAL
from problems.instance import InstanceSpec
from problems.selections import derived

# Graphs that no public instance has: tuned and learned methods are reported on them.
HOLDOUT = frozenset({
    "bert-base-mask", "bert-large", "bert-large-mask", "clip-b8", "darts", "deeplabv3",
    "densenet201", "efficientnet-b0-train", "efficientnet-b4", "flava", "gnmt-b8-s32",
    "gpt-neox-20b", "inceptionv4", "llama2-13b", "pnasnet-large", "randwire-ba-regular",
    "randwire-ws-2", "resnext50", "swin-base", "t5-base-b8", "vit-base-train", "vit-large",
    "whisper-small",
})  # fmt: skip

CONTIGUOUS: dict[str, Any] = {"contiguous": True}
FREE: dict[str, Any] = {}
WEIGHTS: dict[str, Any] = {"memory": "weights"}
PORTS: dict[str, Any] = {"contention": "ports"}

THROUGHPUT: list[tuple[str, dict[str, Any], str]] = [
    # Processors: chains and branchy networks over slow links.
    ("duo-shm", FREE, "inceptionv3 dlrm"),
    ("unlike-tcp", FREE, "resnet50 moe:parent mobilenetv2"),
    ("unlike-tcp", CONTIGUOUS, "densenet121 lstm"),
    ("quad-eth1g", FREE, "resnet50 inceptionv3 randwire-ws:parent inceptionv3:block hrnet-w18"
     " wavenet gnmt-b8-s32:parent flava"),
    ("quad-eth1g", CONTIGUOUS, "vit-base clip nasnet-mobile bert-base:block efficientnet-b0"
     " shufflenetv2 fishnet99:parent mobilevit-small"),
    ("octo-eth1g", FREE, "unet ddpm convnext-tiny swin-base t5-base-b8:parent darts:parent"),
    ("octo-eth1g", CONTIGUOUS, "resnet152 inceptionv3-b8 resnext50 gpt2-s1024 resnet50-b8"
     " bert-base-b8-s384"),
    # The classic server: a processor and two unlike GPUs behind PCIe ports.
    ("server", CONTIGUOUS, "bert-base inceptionv3 resnet50 resnet50:block vgg16 mobilenetv3-large"
     " swin-tiny bn-inception alexnet squeezenet efficientnet-b4"),
    ("server", CONTIGUOUS | {"overlap": "full"}, "bert-base:parent xception"),
    ("server", FREE, "vit-base vit-base-b8 gpt2 nasnet-mobile gnmt:parent deeplabv3 mixnet-m"
     " octresnet50"),
    ("server-3gen", CONTIGUOUS, "wrn50-2 regnety-3.2g segformer-b2 bert-large deberta-v3-base"),
    ("server-3gen", FREE, "albert-xxlarge mamba-130m wav2vec2-base whisper-small detr-resnet50"
     " icnet"),
    ("server-4gpu", CONTIGUOUS, "gpt2 inceptionv3:parent resnet152 densenet201 bart-large"),
    ("server-4gpu", FREE, "clip convnext-tiny inceptionv4 distilbert"),
    ("server-4gpu", {"overlap": "half"}, "bert-base:parent t5-base"),
    ("server-8l4", CONTIGUOUS, "gpt2-xl bart-large inception-resnetv2 llama2-7b:parent"),
    ("server-8l4", FREE, "vit-large swin-base opt-6.7b"),
    ("server-16", FREE, "nasnet-large gpt2-xl-s1024 bridgetower"),
    # Operators that an accelerator lacks.
    ("edge", FREE, "mobilenetv3-large efficientnet-b0 inceptionv3 unet"),
    ("edge", CONTIGUOUS, "mobilenetv2 resnet18 convnext-tiny"),
    ("edge-duo", FREE, "densenet121 shufflenetv2 bn-inception"),
    # Memory that binds.
    ("server-tight-96m", CONTIGUOUS, "inceptionv3 resnet50:parent efficientnet-b0"),
    ("server-tight-96m", FREE, "xception nasnet-mobile swin-tiny:parent pnasnet-large:parent"),
    ("server-tight-384m", CONTIGUOUS, "bert-base vit-base wrn50-2 resnext50"),
    ("server-tight-384m", FREE, "moe deberta-v3-base wav2vec2-base t5-base clip-b8"),
    ("server-tight-3g", CONTIGUOUS, "gpt2-xl vit-large albert-xxlarge"),
    ("server-tight-3g", FREE, "gpt2-xl bert-large bart-large"),
    ("nvlink-8a100-tight-128m", CONTIGUOUS, "bert-base wav2vec2-base clip"),
    ("nvlink-8a100-tight-128m", WEIGHTS, "vit-base detr-resnet50 t5-base"),
    # Chips in a row.
    ("chain-4", CONTIGUOUS, "resnet50 inceptionv3 mobilenetv2 bert-base"),
    ("chain-8", CONTIGUOUS, "resnet152 vit-base nasnet-mobile densenet201"),
    ("chain-16", CONTIGUOUS, "inceptionv4 regnety-3.2g swin-tiny resnet152:parent"),
    ("chain-36", CONTIGUOUS, "resnet152:parent inception-resnetv2:parent densenet121:parent"
     " nasnet-mobile:parent"),
    ("chain-36", CONTIGUOUS | WEIGHTS, "inceptionv3 efficientnet-b4"),
    # Generations of GPUs, and many of them.
    ("nvlink-3gen", CONTIGUOUS, "llama2-7b albert-xxlarge bert-large"),
    ("nvlink-3gen", FREE, "nasnet-large polynet hrnet-w18 segformer-b2"),
    ("nvlink-8a100", CONTIGUOUS, "gpt2-xl-s1024 opt-6.7b llama2-13b:parent"),
    ("nvlink-8a100", FREE, "bridgetower gemma2-2b inception-resnetv2"),
    ("nvlink-8h100", CONTIGUOUS, "llama2-70b:parent llama2-70b:block gpt-neox-20b:parent"),
    ("nvlink-8h100", FREE, "llama2-13b amoebanet-d moe-8x7b:parent"),
    ("cluster-2x2", CONTIGUOUS, "bart-large resnet152 opt-6.7b:parent"),
    ("cluster-2x2", FREE, "clip randwire-ba-regular mobilebert"),
    ("cluster-4x2", CONTIGUOUS, "swin-base gpt2-xl vit-large"),
    ("cluster-4x2", FREE, "nasnet-large flava hrnet-w18"),
    ("cluster-8x2", CONTIGUOUS, "llama2-7b:parent gemma2-2b t5-base"),
    ("cluster-8x2", FREE, "deberta-v3-base bridgetower polynet"),
    # Imported times.
    ("server-h100-l40s", CONTIGUOUS, "bert-base gpt2-xl llama2-7b llama2-7b-s1"),
    ("server-h100-l40s", FREE, "bert-large gpt2 distilbert"),
    ("server-a100-rtx6000", CONTIGUOUS, "gpt2 bart-large opt-6.7b"),
    ("server-a100-rtx6000", FREE, "bert-base t5-base albert-xxlarge"),
    ("nvlink-8h200", CONTIGUOUS, "llama2-70b:parent gpt2-xl-s1024 gpt-neox-20b:parent"
     " moe-8x7b:parent"),
    ("six-unlike", CONTIGUOUS, "llama2-13b gpt2-xl bart-large"),
    ("six-unlike", FREE, "opt-6.7b bert-large"),
    ("cluster-3x4", CONTIGUOUS, "llama2-70b:parent opt-6.7b"),
    ("cluster-3x4", FREE, "llama2-7b gpt2-xl"),
]  # fmt: skip

LATENCY: list[tuple[str, dict[str, Any], str]] = [
    ("duo-shm", FREE, "clip nasnet-mobile randwire-er"),
    ("duo-eth1g", FREE, "clip gnmt inceptionv3 moe nasnet-mobile randwire-ws:parent clip:block"
     " bridgetower detr-resnet50 darts"),
    ("unlike-tcp", FREE, "inceptionv3 moe hrnet-w18 amoebanet-d"),
    ("unlike-eth1g", FREE, "inceptionv3:parent bn-inception flava"),
    ("quad-eth1g", FREE, "gnmt nasnet-mobile randwire-ba gnmt:block lstm wavenet clip-b8"),
    ("octo-eth1g", FREE, "randwire-ws-regular nasnet-large gnmt-b8-s32 polynet mobilebert"
     " pnasnet-large"),
    ("server", FREE, "clip gnmt inceptionv3 moe nasnet-mobile randwire-ba randwire-er randwire-ws"
     " t5-base whisper-small"),
    ("server-3gen", FREE, "amoebanet-d ddpm bridgetower randwire-er-regular randwire-ws-2"),
    ("server-4gpu", FREE, "nasnet-large polynet randwire-ba-regular mixnet-m flava"),
    ("edge", FREE, "inceptionv3 hrnet-w18 mobilenetv3-large"),
    ("edge-duo", FREE, "nasnet-mobile bn-inception darts"),
    ("server-tight-96m", FREE, "inceptionv3 randwire-ws densenet121 nasnet-mobile resnet50"),
    ("server-tight-384m", FREE, "clip moe gnmt moe:block bert-base inceptionv4 swin-tiny"),
    ("server-tight-3g", FREE, "gpt2-xl bart-large vit-large"),
    ("nvlink-8a100-tight-128m", FREE, "clip moe"),
    ("nvlink-3gen", FREE, "mobilebert polynet"),
    ("nvlink-8a100", FREE, "randwire-ws-regular nasnet-large"),
    ("cluster-2x2", FREE, "clip inception-resnetv2 darts randwire-ba"),
    ("cluster-4x2", FREE, "gnmt moe pnasnet-large"),
    ("chain-8", FREE, "inceptionv3 randwire-er randwire-ws-2"),
    ("chain-16", FREE, "nasnet-mobile hrnet-w18"),
    ("server-h100-l40s", FREE, "t5-base bart-large"),
    ("six-unlike", FREE, "bridgetower albert-xxlarge"),
    # One transfer at a time at every port.
    ("duo-eth1g", PORTS, "clip:block"),
    ("quad-eth1g", PORTS, "gnmt:block randwire-ws:parent wavenet"),
    ("server-tight-384m", PORTS, "moe:block"),
    ("cluster-2x2", PORTS, "moe randwire-ws:parent"),
    ("edge-duo", PORTS, "bn-inception"),
]  # fmt: skip

# Few calls and scarce memory make the cuts matter: without memory one call may hold everything.
CALLS: list[tuple[str, dict[str, Any], str]] = [
    ("edge", {"slots": 2}, "unet:parent"),
    ("edge-duo", {"slots": 1}, "bn-inception:parent"),
    ("edge-duo", {"slots": 2}, "shufflenetv2:parent"),
    ("edge-duo", {"slots": 3}, "inceptionv3:block"),
    ("edge-duo", {"slots": 4}, "densenet121:parent"),
    ("server-tight-96m", {"slots": 1}, "inceptionv3:block"),
    ("server-tight-96m", {"slots": 3}, "densenet121"),
    ("server-tight-384m", {"slots": 1}, "clip:block"),
    ("server-tight-384m", {"slots": 2}, "moe:block t5-base:parent"),
    ("server-tight-384m", {"slots": 4}, "bert-base:parent"),
]  # fmt: skip

# Memory that binds; a board's links are slow enough for transfers to count. What one operator
# computes for all layers (a mask) holds a graph together under the triangle rule: `bert-base` and
# `clip` cannot use many chips, `bert-base-mask` can.
CHIPS: list[tuple[str, dict[str, Any], str]] = [
    ("mcm-4", FREE, "alexnet bert-base"),
    ("mcm-4-72m", FREE, "resnet50"),
    ("mcm-4-128m", FREE, "moe"),
    ("mcm-4-160m", FREE, "bert-base-mask"),
    ("mcm-8", FREE, "clip whisper-small"),
    ("mcm-8-14m", FREE, "mobilenetv3-large darts"),
    ("mcm-8-24m", FREE, "randwire-ws"),
    ("mcm-8-32m", FREE, "inceptionv3 densenet121 convnext-tiny"),
    ("mcm-8-36m", FREE, "swin-tiny"),
    ("mcm-8-160m", FREE, "layered-1k-s1"),
    ("mcm-16-12m", FREE, "nasnet-mobile cells-1k-s1"),
    ("mcm-16-18m", FREE, "regnety-3.2g"),
    ("mcm-16-28m", FREE, "densenet201 inceptionv4"),
    ("mcm-16-40m", FREE, "resnet152"),
    ("mcm-16-80m", FREE, "amoebanet-d"),
    ("mcm-16-400m", FREE, "transformer-1k-s1"),
    ("mcm-36", FREE, "resnet152 layered-3k-s1 randwire-ba-3k-s1 bert-large-mask"),
    ("mcm-36-20m", FREE, "inception-resnetv2 cells-5k-s1"),
    ("mcm-36-60m", FREE, "nasnet-large"),
    ("mcm-36-544m", FREE, "transformer-5k-s1"),
    ("board-8", FREE, "shufflenetv2"),
    ("board-8", {"through_traffic": False}, "shufflenetv2"),
    ("board-16", {"overlap": "full"}, "xception"),
    ("board-16", FREE, "wavenet"),
]  # fmt: skip

PHASES: dict[str, Any] = {"contiguous": True, "split_phases": True}

TRAINING: list[tuple[str, str, dict[str, Any], str]] = [
    ("throughput", "server", CONTIGUOUS, "resnet50-train bert-base-train inceptionv3-train"),
    ("throughput", "server", PHASES, "gpt2-train unet-train"),
    ("throughput", "server-4gpu", FREE, "vit-base-train densenet121-train clip-train"),
    ("throughput", "server-tight-384m", CONTIGUOUS, "resnet50-train mobilenetv2-train"),
    ("throughput", "server-tight-3g", CONTIGUOUS, "gpt2-train t5-base-train"),
    ("throughput", "server-tight-3g", FREE, "densenet121-train efficientnet-b0-train"),
    ("throughput", "nvlink-8a100", CONTIGUOUS, "t5-base-train gnmt-train:parent"
     " llama2-7b-train:parent"),
    ("throughput", "cluster-2x2", CONTIGUOUS, "swin-tiny-train moe-train"),
    ("throughput", "cluster-4x2", FREE, "nasnet-mobile-train efficientnet-b0-train"),
    ("throughput", "quad-eth1g", FREE, "mobilenetv2-train resnet50-train:parent"),
    ("throughput", "octo-eth1g", PHASES, "randwire-ws-train:parent vit-base-train"),
    ("throughput", "chain-8", CONTIGUOUS | WEIGHTS, "resnet50-train inceptionv3-train"),
    ("throughput", "server-h100-l40s", CONTIGUOUS, "bert-base-train gpt2-train"),
    ("latency", "server", FREE, "nasnet-mobile-train clip-train randwire-ws-train"
     " inceptionv3-train"),
    ("latency", "quad-eth1g", FREE, "moe-train gnmt-train"),
    ("latency", "server-tight-384m", FREE, "densenet121-train unet-train"),
    ("latency", "nvlink-3gen", FREE, "t5-base-train swin-tiny-train"),
]  # fmt: skip

SCALING: list[tuple[str, str, str]] = [
    ("throughput", "octo-eth1g", "layered-1k-s1 cells-1k-s1 series-parallel-1k-s1"),
    ("throughput", "server-16", "layered-3k-s1 randwire-ba-3k-s1 transformer-1k-s1"),
    ("throughput", "cluster-4x8", "layered-10k-s1 randwire-ws-10k-s1 cells-30k-s1"),
    ("throughput", "cluster-8x8", "transformer-10k-s1 randwire-ba-30k-s1 layered-100k-s1"),
    ("latency", "octo-eth1g", "randwire-ws-1k-s1 series-parallel-1k-s1 layered-1k-s1"),
    ("latency", "server-16", "cells-3k-s1 randwire-ba-3k-s1 layered-3k-s1"),
    ("latency", "cluster-4x8", "series-parallel-10k-s1 cells-10k-s1 layered-30k-s1"),
    ("latency", "cluster-8x8", "randwire-ws-10k-s1 transformer-100k-s1 layered-100k-s1"
     " series-parallel-100k-s1 randwire-ws-100k-s1"),
]  # fmt: skip


MIXTURE: dict[str, Any] = {"replicate": "mixture"}

# Samples split over mappings: ample memory, operators that are missing, and memory that binds.
MIXTURES: list[tuple[str, dict[str, Any], str]] = [
    ("duo-shm", MIXTURE, "dlrm"),
    ("unlike-tcp", MIXTURE, "mobilenetv2"),
    ("quad-eth1g", MIXTURE, "inceptionv3:block"),
    ("edge", MIXTURE, "unet"),
    ("edge-duo", MIXTURE, "shufflenetv2"),
    ("server", MIXTURE, "alexnet"),
    ("server", MIXTURE | CONTIGUOUS, "vgg16"),
    ("server", MIXTURE | {"overlap": "full"}, "bert-base:parent"),
    ("server-3gen", MIXTURE | CONTIGUOUS, "wrn50-2"),
    ("server-4gpu", MIXTURE, "distilbert"),
    ("server-h100-l40s", MIXTURE, "gpt2"),
    ("server-tight-96m", MIXTURE | CONTIGUOUS, "resnet50:parent"),
    ("server-tight-96m", MIXTURE, "swin-tiny:parent"),
    ("server-tight-384m", MIXTURE, "bert-base"),
    ("nvlink-8a100-tight-128m", MIXTURE | WEIGHTS, "vit-base"),
    ("nvlink-8h100", MIXTURE | CONTIGUOUS, "llama2-70b:block"),
]  # fmt: skip


def index() -> Index:
    """The whole index, in the order of the tables."""
    inference = [_spec("throughput", *line) for line in _lines(THROUGHPUT)]
    inference += [_spec("latency", *line) for line in _lines(LATENCY)]
    inference += [_spec("calls", *line) for line in _lines(CALLS)]
    chips = [_spec("chips", *line) for line in _lines(CHIPS)]
    training = [
        _spec(problem, *line)
        for problem, platform, rules, names in TRAINING
        for line in _lines([(platform, rules, names)])
    ]
    scaling = [
        _spec(problem, platform, FREE, name)
        for problem, platform, names in SCALING
        for name in names.split()
    ]
    mixtures = [_spec("throughput", *line) for line in _lines(MIXTURES)]
    single = [*inference, *training, *scaling, *chips]
    specs = [*single, *mixtures]
    chosen = {
        "smoke": list(SMOKE),
        "quick": list(QUICK),
        "default": list(DEFAULT),
        # One mapping an answer; mixtures have a selection of their own.
        "full": _public(single),
        # What is trained or generated has selections of its own.
        "latency": _public(s for s in inference if s.problem == "latency"),
        "throughput": _public(s for s in inference if s.problem == "throughput"),
        "training": _public(training),
        "scaling": _public(scaling),
        "mixtures": _public(mixtures),
    }
    return Index("placebench-index/1", specs, derived(specs, chosen))


def _public(specs: Iterable[InstanceSpec]) -> list[str]:
    return [spec.id for spec in specs if spec.split == "public" and spec.id not in TRIVIAL]


def _lines(table: list[tuple[str, dict[str, Any], str]]) -> list[tuple[str, dict[str, Any], str]]:
    return [(platform, rules, name) for platform, rules, names in table for name in names.split()]


def _spec(problem: str, platform: str, rules: dict[str, Any], name: str) -> InstanceSpec:
    graph, _, level = name.partition(":")
    return InstanceSpec(
        graph=graph,
        platform=platform,
        problem=problem,
        level=level or "operator",  # type: ignore[arg-type]
        rules=rules,
        split="holdout" if graph in HOLDOUT else "public",
    )
