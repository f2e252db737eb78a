"""Write an instance in the MSR format, as far as that format can say it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import msgspec
import numpy as np

from problems import rules as rules_
from problems.files import FileError
from problems.formats import msr
from problems.instance import Bundle, Instance
from problems.plausible import FORBIDDING_S
from problems.resolve import from_bundle
from problems.rules import ThroughputRules


def ids_of(instance: Instance, bundle: Bundle) -> dict[str, int]:
    """Id of every node, by name: those of the file it came from, or its number."""
    known = msr.ids(bundle.graph)
    if known is not None and all(name in known for name in instance.names):
        return known
    return {name: v for v, name in enumerate(instance.names)}


def write(instance: Instance, ids: dict[str, int]) -> bytes:
    """The file; importing it gives the same times, bytes, edges and colocation.

    Raises
    ------
    FileError
        If the instance has what the format cannot express; the message says what.
    """
    reason = refusal(instance)
    if reason is not None:
        raise FileError(f"{instance.id} cannot be written in the MSR format: {reason}")
    accelerators = np.flatnonzero(~instance.host)
    hosts = np.flatnonzero(instance.host)
    sizes = instance.node_bytes.copy()
    for i, size in enumerate(instance.shared_bytes):
        sizes[instance.shared_node[instance.shared_ptr[i]]] += size
    members = np.bincount(instance.group)
    nodes: list[dict[str, Any]] = []
    for v, name in enumerate(instance.names):
        time = {
            key: float(instance.time[v, ks[0]]) if len(ks) else np.inf
            for key, ks in (("cpu", hosts), ("fpga", accelerators))
        }
        nodes.append(
            {
                "id": ids[name],
                "name": name,
                "supportedOnFpga": int(np.isfinite(time["fpga"])),
                "cpuLatency": _milli(time["cpu"]),
                "fpgaLatency": _milli(time["fpga"]),
                "isBackwardNode": int(instance.phase[v]),
                "size": int(sizes[v]),
            }
        )
        if members[instance.group[v]] > 1:
            nodes[-1]["colorClass"] = int(instance.group[v])
    port = instance.port[accelerators[0]] if len(accelerators) else 0
    edges = [
        {
            "sourceId": ids[instance.names[u]],
            "destId": ids[instance.names[v]],
            "cost": _milli(float(instance.link_time[port, u])),
        }
        for u, v in instance.edges.tolist()
    ]
    memory = instance.memory[accelerators[0]] if len(accelerators) else 0
    plain = {
        # A published reader wants a number: what holds everything is no limit.
        "maxSizePerFPGA": int(memory) if np.isfinite(memory) else int(sizes.sum()),
        "maxFPGAs": len(accelerators),
        "maxCPUs": len(hosts),
        "nodes": nodes,
        "edges": edges,
    }
    encoder = msgspec.json.Encoder(decimal_format="number")
    return msgspec.json.format(encoder.encode(plain), indent=1) + b"\n"


def refusal(instance: Instance) -> str | None:
    """Why the format cannot express an instance; None where it can."""
    rules = instance.rules
    hosts, accelerators = np.flatnonzero(instance.host), np.flatnonzero(~instance.host)
    if instance.problem not in ("throughput", "latency", "calls"):
        return f"it has no problem {instance.problem!r}"
    if not instance.staged:
        return "it knows transfers through host memory only, not direct links"
    if isinstance(rules, ThroughputRules) and rules.overlap != "none":
        return "it has no overlap of computing and transfers"
    for what, ks in (("CPUs", hosts), ("accelerators", accelerators)):
        if any(instance.device_class[k] != instance.device_class[ks[0]] for k in ks):
            return f"its {what} are all alike"
    if np.isfinite(instance.memory[hosts]).any():
        return "its CPUs have no memory limit"
    if instance.problem != "throughput" and (
        instance.unlimited[accelerators].any() or (len(hosts) and not _one_unlimited(instance))
    ):
        return "its CPU has unlimited lanes, its accelerators have one each"
    if not len(accelerators):
        return "it has transfers to and from accelerators, and there is none"
    times = (
        instance.time,
        instance.link_time[instance.port[accelerators], :][:, instance.edges[:, 0]],
    )
    if any((each[np.isfinite(each)] >= FORBIDDING_S).any() for each in times):
        return "a time of a day or more stands for `cannot run` in it"
    for i in range(len(instance.shared_bytes)):
        readers = instance.shared_node[instance.shared_ptr[i] : instance.shared_ptr[i + 1]]
        if len(set(instance.group[readers].tolist())) > 1:
            return "a weight that nodes on several devices share has no place in it"
    return None


def flags(instance: Instance) -> list[str]:
    """Options of ``placebench import msr`` that bring the instance back."""
    rules = rules_.given(instance.rules)
    options = ["--problem", instance.problem] if instance.problem != "throughput" else []
    options += ["--contiguous"] if rules.get("contiguous") else []
    options += ["--slots", str(rules["slots"])] if "slots" in rules else []
    return options + (["--split-phases"] if rules.get("split_phases") else [])


def _one_unlimited(instance: Instance) -> bool:
    return int(instance.host.sum()) == 1 and bool(instance.unlimited[instance.host].all())


def _milli(time: float) -> Decimal | None:
    """Milliseconds with all digits of the seconds: a binary number would lose the last one."""
    return Decimal(repr(time)).scaleb(3).normalize() if np.isfinite(time) else None


def differences(instance: Instance, back: Bundle) -> list[str]:
    """What an instance and what came back from the format do not share, for its digest."""
    other = from_bundle(back)
    if other.digest == instance.digest:
        return []
    before, after = rules_.given(instance.rules), rules_.given(other.rules)
    result = [
        f"rule {key} ({before.get(key, 'default')} becomes {after.get(key, 'default')})"
        for key in sorted(before.keys() | after.keys())
        if before.get(key) != after.get(key)
    ]
    words = {
        "time": "the last digit of some times",
        "link_time": "transfer times of nodes that nobody reads",
        "node_bytes": "sizes",
        "shared_bytes": "weights shared within a class, which are sizes now",
        "memory": "the absence of a memory limit",
        "group": "classes",
        "port": "ports",
    }
    for key, what in words.items():
        if not np.array_equal(getattr(instance, key), getattr(other, key)):
            result.append(what)
    return result
