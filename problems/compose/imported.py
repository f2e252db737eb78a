"""Platforms of GPUs whose times were imported (:mod:`problems.formats.aiconfigurator`)."""

from __future__ import annotations

from problems.generate.platforms import direct, staged
from problems.platform import Device, Platform, Wire

# Bytes of memory by the package's own descriptions.
MEMORY = {
    "a100-sxm": 85_899_345_920,
    "h100-sxm": 85_899_345_920,
    "h200-sxm": 151_397_597_184,
    "b200-sxm": 193_273_528_320,
    "l40s": 48_305_799_168,
    "rtx-pro-6000": 102_641_958_912,
}


def imported() -> list[Platform]:
    """GPUs whose matrix products and attention were measured by others, in bf16."""
    said = "bf16 GPUs with imported times of products and attention"

    def gpu(short: str, link: str | None = None, count: int = 1) -> list[Device]:
        labels = [short] if count == 1 else [f"{short}-{i}" for i in range(count)]
        file = f"{short}-bf16"
        return [Device(each, file, MEMORY[short], link=link) for each in labels]

    def inside(devices: list[Device], link: str) -> list[Wire]:
        names = [device.name for device in devices]
        return [Wire(a, b, link) for i, a in enumerate(names) for b in names[i + 1 :]]

    def server(name: str, ports: dict[str, str], label: str) -> Platform:
        others = [device for short, port in ports.items() for device in gpu(short, link=port)]
        return staged(
            name,
            [],
            f"a CPU (measured, two threads, fp32) with {label}: {said}, behind PCIe ports"
            " (modelled)",
            others=others,
        )

    a100, h100, b200 = (gpu(short, count=4) for short in ("a100-sxm", "h100-sxm", "b200-sxm"))
    return [
        server(
            "server-h100-l40s",
            {"h100-sxm": "pcie5-x16", "l40s": "pcie4-x16"},
            "an H100 and an L40S",
        ),
        server(
            "server-a100-rtx6000",
            {"a100-sxm": "pcie4-x16", "rtx-pro-6000": "pcie5-x16"},
            "an A100 and an RTX PRO 6000",
        ),
        direct(
            "nvlink-8h200",
            gpu("h200-sxm", count=8),
            f"eight H200: {said}, joined by imported NVLink times",
            default="nvlink-h200-sxm",
        ),
        direct(
            "six-unlike",
            [device for short in MEMORY for device in gpu(short)],
            f"six unlike {said}, each in a server of its own, joined by a 200 Gbit network"
            " (modelled)",
            default="internode-200g",
        ),
        direct(
            "cluster-3x4",
            [*a100, *h100, *b200],
            f"three servers of four GPUs each, A100, H100 and B200: {said}, joined by imported"
            " NVLink times; between servers 200 Gbit (modelled, no contention)",
            wires=[
                *inside(a100, "nvlink-a100-sxm"),
                *inside(h100, "nvlink-h100-sxm"),
                *inside(b200, "nvlink-b200-sxm"),
            ],
            default="internode-200g",
        ),
    ]
