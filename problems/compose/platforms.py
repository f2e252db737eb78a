"""The platforms of the library, one by one."""

from __future__ import annotations

from problems.compose.imported import imported
from problems.generate.platforms import GIB, MIB, chain, cluster, direct, module, staged
from problems.platform import Device, Platform, Wire

SMALL, LARGE = "epyc3-1t", "epyc3-2t"
# One thread while another core of the same machine works, too: they share cache and memory.
PAIR = "epyc3-1t-pair"


def platforms() -> list[Platform]:
    """Every platform that is composed here, by name."""
    made = [*_processors(), *_servers(), *_gpus(), *imported(), *_clusters(), *_chains()]
    made += _modules()
    return sorted(made, key=lambda platform: platform.name)


def _workers(small: int, large: int, file: str = SMALL) -> list[Device]:
    """Single-threaded and two-threaded workers, numbered where there are several."""
    if (small, large) == (1, 1):
        return [Device("small", SMALL), Device("large", LARGE)]
    if not large:
        return [Device(f"worker{i}", file) for i in range(small)]
    return [Device(f"small{i}", SMALL) for i in range(small)] + [
        Device(f"large{i}", LARGE) for i in range(large)
    ]


def _processors() -> list[Platform]:
    network = "joined by a 1 Gbit-class network (modelled, no contention)"
    return [
        direct(
            "duo-shm",
            _workers(2, 0, PAIR),
            "two single-threaded workers of one machine, measured while both work, joined by shared"
            " memory",
            default="shm",
            kind="measured",
        ),
        direct(
            "unlike-tcp",
            _workers(1, 1),
            "a single-threaded and a two-threaded worker, joined by TCP loopback; each part was"
            " measured alone",
            default="tcp-loopback",
            kind="measured",
        ),
        direct(
            "duo-eth1g",
            _workers(2, 0),
            "two single-threaded workers (measured) joined by a 1 Gbit-class link (modelled)",
            default="ethernet-1g",
        ),
        direct(
            "unlike-eth1g",
            _workers(1, 1),
            "a single-threaded and a two-threaded worker (measured) joined by a 1 Gbit-class link"
            " (modelled)",
            default="ethernet-1g",
        ),
        direct(
            "quad-eth1g",
            _workers(2, 2),
            f"two single-threaded and two two-threaded workers (measured) {network}",
            default="ethernet-1g",
        ),
        direct(
            "octo-eth1g",
            _workers(4, 4),
            f"four single-threaded and four two-threaded workers (measured) {network}",
            default="ethernet-1g",
        ),
    ]


def _servers() -> list[Platform]:
    cpu = "a CPU (measured, two threads)"
    ports = "behind PCIe ports (modelled)"
    made = [
        staged(
            "server",
            ["a100", "t4"],
            f"{cpu} with an A100-class and a T4-class GPU (modelled) {ports}",
        ),
        staged(
            "server-4gpu",
            ["a100", "a100", "t4", "t4"],
            f"{cpu} with two A100-class and two T4-class GPUs (modelled) {ports}",
        ),
        staged(
            "server-3gen",
            ["p100", "v100", "h100"],
            f"{cpu} with a P100-, a V100- and an H100-class GPU (modelled) {ports}",
        ),
        staged("server-8l4", ["l4"] * 8, f"{cpu} with eight L4-class GPUs (modelled) {ports}"),
        staged(
            "server-16",
            ["a100"] * 8 + ["t4"] * 8,
            f"{cpu} with eight A100-class and eight T4-class GPUs (modelled) {ports}",
        ),
    ]
    for label, large, small, whom in (
        ("96m", 64 * MIB, 32 * MIB, "150 MB"),
        ("384m", 256 * MIB, 128 * MIB, "500 MB"),
        ("3g", 2 * GIB, 1 * GIB, "4 GB"),
    ):
        sizes = f"{large // MIB} and {small // MIB} MiB"
        made.append(
            staged(
                f"server-tight-{label}",
                ["a100", "t4"],
                f"memory-tight twin of `server`: {sizes}, for graphs of some {whom}",
                memory=[large, small],
            )
        )
    for name, count in (("edge", 1), ("edge-duo", 2)):
        labels = ["npu"] if count == 1 else [f"npu-{i}" for i in range(count)]
        made.append(
            staged(
                name,
                [],
                f"a CPU (measured, one thread) with {count} edge accelerator(s) that lack many"
                " operators (modelled), behind one PCIe lane each (modelled)",
                host=Device("cpu", SMALL, host=True),
                others=[
                    Device(label, "npu-edge-roofline", 64 * MIB, link="pcie3-x1")
                    for label in labels
                ],
            )
        )
    return made


def _gpus() -> list[Platform]:
    a100, h100 = "gpu-a100-roofline", "gpu-h100-roofline"
    generations = [
        Device("v100", "gpu-v100-roofline", 16 * GIB),
        Device("a100", a100, 40 * GIB),
        Device("h100", h100, 80 * GIB),
    ]
    return [
        direct(
            "nvlink-3gen",
            generations,
            "a V100-, an A100- and an H100-class GPU (modelled), every pair joined by NVLink of"
            " the older one's generation (modelled)",
            wires=[
                Wire("v100", "a100", "nvlink2"),
                Wire("v100", "h100", "nvlink2"),
                Wire("a100", "h100", "nvlink3"),
            ],
        ),
        direct(
            "nvlink-8a100",
            [Device(f"a100-{i}", a100, 40 * GIB) for i in range(8)],
            "eight A100-class GPUs (modelled) joined by NVLink 3 (modelled)",
            default="nvlink3",
        ),
        direct(
            "nvlink-8a100-tight-128m",
            [Device(f"a100-{i}", a100, 128 * MIB) for i in range(8)],
            "memory-tight twin of `nvlink-8a100`: 128 MiB each, for graphs of some 700 MB",
            default="nvlink3",
        ),
        direct(
            "nvlink-8h100",
            [Device(f"h100-{i}", h100, 80 * GIB) for i in range(8)],
            "eight H100-class GPUs (modelled) joined by NVLink 4 (modelled)",
            default="nvlink4",
        ),
    ]


def _clusters() -> list[Platform]:
    nvlink = {"h100": "nvlink4", "a100": "nvlink3", "v100": "nvlink2"}

    def server(gpu: str, count: int) -> tuple[str, int, str]:
        return gpu, count, nvlink.get(gpu, "pcie3-x16" if gpu != "l4" else "pcie4-x16")

    def servers(count: int, *gpus: str) -> list[tuple[str, int, str]]:
        return [server(gpu, count) for gpu in gpus]

    eight = ("h100", "h100", "a100", "a100", "v100", "v100", "l4", "t4")
    inside = "GPUs of a server joined by NVLink or PCIe, servers by"
    return [
        cluster(
            "cluster-2x2",
            servers(2, "a100", "v100"),
            "ethernet-25g",
            f"a server of two A100- and one of two V100-class GPUs; {inside} 25 Gbit Ethernet"
            " (all modelled, no contention)",
        ),
        cluster(
            "cluster-4x2",
            servers(2, "a100", "v100", "l4", "t4"),
            "ethernet-10g",
            f"four servers of two GPUs each, A100, V100, L4 and T4 class; {inside} 10 Gbit"
            " Ethernet (all modelled, no contention)",
        ),
        cluster(
            "cluster-8x2",
            servers(2, *eight),
            "ethernet-25g",
            f"eight servers of two GPUs each, H100 to T4 class; {inside} 25 Gbit Ethernet (all"
            " modelled, no contention)",
        ),
        cluster(
            "cluster-4x8",
            servers(8, "h100", "a100", "v100", "l4"),
            "infiniband-hdr",
            f"four servers of eight GPUs each, H100, A100, V100 and L4 class; {inside} InfiniBand"
            " (all modelled, no contention)",
        ),
        cluster(
            "cluster-8x8",
            servers(8, *eight),
            "infiniband-hdr",
            f"eight servers of eight GPUs each, H100 to T4 class; {inside} InfiniBand (all"
            " modelled, no contention)",
        ),
    ]


def _chains() -> list[Platform]:
    sizes = ((4, None), (8, 128 * MIB), (16, 64 * MIB), (36, 32 * MIB))
    return [
        chain(
            f"chain-{count}",
            count,
            memory,
            f"{count} like chips of a multi-chip module in a row"
            + ("" if memory is None else f", {memory // MIB} MiB each")
            + " (chips and links modelled)",
        )
        for count, memory in sizes
    ]


# Chips -> MiB that each may have: the least with which graphs of some size have answers, and little
# more. Tight: 1.1 to 1.5 times what there is to hold.
MODULES: dict[int, tuple[int | None, ...]] = {
    4: (None, 72, 128, 160),
    8: (None, 14, 24, 32, 36, 160),
    16: (12, 18, 28, 40, 80, 400),
    36: (None, 20, 60, 544),
}


def _modules() -> list[Platform]:
    what = "like chips in a one-way chain, each joined to the next"
    made = [
        module(
            f"mcm-{count}" + ("" if size is None else f"-{size}m"),
            count,
            None if size is None else size * MIB,
            f"a module of {count} {what}"
            + ("" if size is None else f", {size} MiB each")
            + " (chips and links modelled)",
        )
        for count, sizes in MODULES.items()
        for size in sizes
    ]
    boards = [
        module(
            f"board-{count}",
            count,
            None,
            f"a board of {count} {what} by PCIe 3 (chips and links modelled)",
            "pcie3-x16",
        )
        for count in (8, 16)
    ]
    return made + boards
