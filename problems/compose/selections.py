"""The selections that are chosen by hand; the others follow from what an instance is."""

from __future__ import annotations

SMOKE = (
    "bert-base:block/quad-eth1g/throughput[contiguous]",
    "inceptionv3:block/quad-eth1g/throughput",
    "clip:block/duo-eth1g/latency",
    "gnmt:block/quad-eth1g/latency",
)
"""Small enough that every method ends at once; whether it tells methods apart does not matter."""

TRIVIAL = ("clip:block/duo-eth1g/latency",)
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
)
"""What ``make bench`` compares on: both problems, every kind of platform, medium sizes."""
