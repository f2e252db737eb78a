"""Device and link files for the library's graphs: what the command writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from problems import files
from problems.formats.aiconfigurator.estimate import EFFICIENCY, IMPORTED, RULES, Gpu
from problems.formats.aiconfigurator.halved import halved
from problems.formats.aiconfigurator.links import between_servers, between_two, significant
from problems.formats.aiconfigurator.package import FRAMEWORK, Package
from problems.formats.aiconfigurator.work import work_of
from problems.graph import GraphFile, Signature
from problems.platform import DeviceFile, LinkFile, Timing


@dataclass(frozen=True)
class Card:
    """A GPU on offer.

    Attributes
    ----------
    system : str
        As the package spells it.
    link : str
        How two of them are joined in a server.
    networked : bool
        Whether the package describes a network between servers of the usual kind: those of GB200
        and GB300 share their NVLink, and B60's latency is that of PCIe.
    """

    system: str
    link: str
    networked: bool = True


CARDS = {
    "a100-sxm": Card("a100_sxm", "nvlink"),
    "h100-sxm": Card("h100_sxm", "nvlink"),
    "h200-sxm": Card("h200_sxm", "nvlink"),
    "b200-sxm": Card("b200_sxm", "nvlink"),
    "b300-sxm": Card("b300_sxm", "nvlink"),
    "gb200": Card("gb200", "nvlink", networked=False),
    "gb300": Card("gb300", "nvlink", networked=False),
    "l40s": Card("l40s", "pcie"),
    "rtx-pro-6000": Card("rtx_pro_6000_server", "pcie"),
    "b60": Card("b60", "pcie", networked=False),
}
DEFAULT = ("a100-sxm", "h100-sxm", "h200-sxm", "b200-sxm", "l40s", "rtx-pro-6000")
"""Unlike each other. B300, GB200 and GB300 are near B200; every time of B60 has 29 us of host in
it, which the modelled operators beside them would not have."""


@dataclass
class Outcome:
    """What an import wrote and what it left.

    Attributes
    ----------
    written : list of Path
        Files.
    served : list of str
        Graphs, all of whose signatures have a time.
    left : dict
        Graph -> why it has no times here.
    counts : dict
        Device file -> rule -> number of signatures.
    memory : dict
        Device file -> bytes of the GPU's memory.
    """

    written: list[Path] = field(default_factory=list)
    served: list[str] = field(default_factory=list)
    left: dict[str, str] = field(default_factory=dict)
    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    memory: dict[str, int] = field(default_factory=dict)


def import_gpus(
    package: Package, graphs: Iterable[Path], cards: Iterable[str], output: Path
) -> Outcome:
    """Write device files for the graphs that can be served, and the links of the GPUs.

    Parameters
    ----------
    package : Package
        The tables.
    graphs : iterable of Path
        Graph files.
    cards : iterable of str
        Names out of :data:`CARDS`.
    output : Path
        Folder of the library: ``devices/`` and ``links/`` under it.

    Raises
    ------
    FileError
        On an unknown GPU, or a file that cannot be used.
    """
    chosen = list(cards)
    for name in chosen:
        if name not in CARDS:
            raise files.FileError(f"no GPU {name!r}; the GPUs are {', '.join(CARDS)}")
    outcome = Outcome()
    signatures = served_signatures(graphs, outcome)
    for name in chosen:
        gpu = Gpu(package, CARDS[name].system)
        device = device_file(package, gpu, f"{name}-bf16", signatures)
        outcome.counts[device.name] = dict(device.provenance["signatures"])
        outcome.memory[device.name] = gpu.system.memory_bytes
        outcome.written.append(output / "devices" / f"{device.name}.json.gz")
        files.write(outcome.written[-1], device)
        link = between_two(package, gpu.system, f"{CARDS[name].link}-{name}")
        if link is not None:
            _write_link(output, link, outcome)
        if CARDS[name].networked:
            _write_link(output, between_servers(package, gpu.system), outcome)
    return outcome


def halve_graphs(root: Path, names: Iterable[str], output: Path) -> list[Path]:
    """Write graphs of the library at `root` as bf16 programs would have them; see `halved`."""
    written = []
    for name in names:
        graph = halved(files.read(root / "graphs" / f"{name}.json.gz", GraphFile))
        written.append(output / "graphs" / f"{graph.name}.json.gz")
        files.write(written[-1], graph)
    return written


def served_signatures(graphs: Iterable[Path], outcome: Outcome) -> dict[str, Signature]:
    """Unite the signatures of the graphs that can be served; say in `outcome` which are not."""
    united: dict[str, Signature] = {}
    for path in sorted(graphs):
        graph = files.read(path, GraphFile)
        used = {node.signature for node in graph.nodes if node.signature is not None}
        missing = used - set(graph.signatures)
        refused = Counter(work_of(graph.signatures[key]).refused for key in used - missing)
        del refused[""]
        if missing:
            outcome.left[graph.name] = f"signature {min(missing)!r} is not described"
        elif refused:
            outcome.left[graph.name] = "; ".join(
                f"{why} ({count} signatures)" for why, count in sorted(refused.items())
            )
        else:
            outcome.served.append(graph.name)
            united.update((key, graph.signatures[key]) for key in used)
    return dict(sorted(united.items()))


def device_file(
    package: Package, gpu: Gpu, name: str, signatures: Mapping[str, Signature]
) -> DeviceFile:
    """Make the device file of one GPU; every signature must be one that can be served."""
    times: dict[str, Timing | None] = {}
    kinds: dict[str, Any] = {}
    counts: Counter[str] = Counter()
    for key, signature in signatures.items():
        estimate = gpu.estimate(signature)
        assert estimate is not None
        seconds = significant(estimate.seconds)
        times[key] = Timing(seconds, seconds, seconds, 0)
        counts[estimate.rule] += 1
        if estimate.rule not in IMPORTED:
            kinds[key] = "modelled"
    system = gpu.system
    return DeviceFile(
        format="placebench-device/1",
        name=name,
        kind="imported",
        provenance={
            **package.origin(),
            "hardware": _hardware(gpu),
            "framework": FRAMEWORK,
            "tables": {
                stem: {"path": table.path, "sha256": table.sha256}
                for stem, table in gpu.tables.items()
            },
            "precision": "bf16; payloads and weights are those of the graph as captured, fp32",
            "signatures": dict(sorted(counts.items())),
            "rules": {rule: RULES[rule] for rule in RULES if counts[rule]},
            "parameters": {
                "share": EFFICIENCY,
                "peak": system.peak_flops,
                "bandwidth": system.bandwidth_Bps,
                "bandwidth_share": system.bandwidth_share,
                "latency_s": system.latency_s,
                "source": f"{system.name}.yaml of the package; the share is assumed",
            },
            "memory_bytes": system.memory_bytes,
        },
        times=times,
        kinds=kinds,
    )


def _hardware(gpu: Gpu) -> str:
    for table in gpu.tables.values():
        if "device" in table.rows and len(table.rows):
            return str(table.rows["device"].iloc[0])
    return gpu.system.name


def _write_link(output: Path, link: LinkFile, outcome: Outcome) -> None:
    path = output / "links" / f"{link.name}.json"
    if path not in outcome.written:  # several GPUs name one network
        files.write(path, link)
        outcome.written.append(path)
