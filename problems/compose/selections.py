"""The selections that are chosen by hand; the others follow from what an instance is."""

from __future__ import annotations

SMOKE = (
    "bert-base:block/quad-eth1g/throughput[contiguous]",
    "inceptionv3:block/quad-eth1g/throughput",
    "clip:block/duo-eth1g/latency",
    "gnmt:block/quad-eth1g/latency",
    "clip:block/duo-eth1g/latency[contention=ports]",
    "inceptionv3:block/edge-duo/calls[slots=3]",
    "alexnet:operator/mcm-4/chips",
)
"""Small enough that every method ends at once; whether it tells methods apart does not matter."""

TRIVIAL = (
    "clip:block/duo-eth1g/latency",
    "clip:block/duo-eth1g/latency[contention=ports]",
)
"""On these every method reaches the bound at once, so no other selection has them."""

DEFAULT = (
    "bert-base:operator/server/throughput[contiguous]",
    "inceptionv3:operator/server/throughput[contiguous]",
    "vit-base:operator/quad-eth1g/throughput[contiguous]",
    "gpt2:operator/server-4gpu/throughput[contiguous]",
    "bert-base:operator/server-tight-384m/throughput[contiguous]",
    "bart-large:operator/server-a100-rtx6000/throughput[contiguous]",
    "resnet50-train:operator/server/throughput[contiguous]",
    "resnet50:operator/quad-eth1g/throughput",
    "nasnet-mobile:operator/server/throughput",
    "clip:operator/server-4gpu/throughput",
    "moe:operator/server-tight-384m/throughput",
    "mobilenetv3-large:operator/edge/throughput",
    "inceptionv3:operator/duo-shm/throughput",
    "clip:operator/server/latency",
    "nasnet-mobile:operator/server/latency",
    "inceptionv3:operator/duo-eth1g/latency",
    "gnmt:operator/quad-eth1g/latency",
    "moe:operator/unlike-tcp/latency",
    "clip:operator/server-tight-384m/latency",
    "randwire-ws:parent/cluster-2x2/latency[contention=ports]",
    "bn-inception:operator/edge-duo/latency[contention=ports]",
    "clip:block/server-tight-384m/calls[slots=1]",
    "bert-base:parent/server-tight-384m/calls[slots=4]",
)
"""What ``run`` compares on by itself: all problems, every kind of platform, medium sizes."""

QUICK = tuple(each for each in DEFAULT if each.endswith(("/throughput", "/latency")))
"""What ``make bench`` compares on: the two problems that most people come for, without more rules;
of each as many instances as it takes for a verdict, and a first table within minutes."""
