"""Split files of the MSR code: lists of node ids a device, read as answers and written back.

A split for `calls` may list several subgraphs an accelerator, q of each one after the other, as the
published integer program writes them: twice as many lists as accelerators are two calls of each.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import msgspec
import numpy as np

from problems import calls, checker, throughput
from problems.answer import Answer
from problems.formats.reading import error, short, typed_json
from problems.instance import Instance


class Share(msgspec.Struct, frozen=True):
    """What one device runs; `load` in milliseconds."""

    nodes: list[int]
    load: Decimal | None = None


class SplitFile(msgspec.Struct, frozen=True):
    """The whole file."""

    fpgas: list[Share]
    cpus: list[Share] = []
    maxLoad: Decimal | None = None
    totalLatency: Decimal | None = None


def read(data: bytes, where: str, instance: Instance, ids: dict[str, int]) -> Answer:
    """Read a split as an answer to `instance`.

    Parameters
    ----------
    ids : dict
        Node name -> id in the split file (:func:`problems.formats.msr_write.ids_of`).

    Raises
    ------
    FileError
        On more shares than devices, an unknown id, or a node that is listed twice or nowhere.
    """
    file = typed_json(data, SplitFile, where)
    number = {ids[name]: v for v, name in enumerate(instance.names)}
    device: dict[int, int] = {}
    slot: dict[int, int] = {}
    each = _calls_each(instance, file)
    for kind, shares, ks in (
        ("fpgas", file.fpgas, _accelerators(instance)),
        ("cpus", file.cpus, _hosts(instance)),
    ):
        if kind == "fpgas" and each > 1:
            ks = [k for k in ks for _ in range(each)]
        if len(ks) == 1 and instance.unlimited[ks[0]]:
            ks = ks * len(shares)  # one device of many lanes stands for all CPUs
        for i, share in enumerate(shares):
            if share.nodes and i >= len(ks):
                what = f"the instance has {len(ks)} devices of this kind, not {i + 1}"
                raise error(where, what, f"$.{kind}[{i}]")
            for j, key in enumerate(share.nodes):
                at = f"$.{kind}[{i}].nodes[{j}]"
                if key not in number:
                    raise error(where, f"the instance has no node with the id {short(key)}", at)
                if number[key] in device:
                    raise error(where, f"node {key} is listed twice", at)
                device[number[key]] = ks[i]
                slot[number[key]] = i % each if kind == "fpgas" else -1
    for v, name in enumerate(instance.names):
        if v not in device:
            raise error(where, f"node {ids[name]} ({name!r}) is on no device", "$")
    nodes = range(instance.n)
    return Answer.of(
        [device[v] for v in nodes], slot=[slot[v] for v in nodes] if each > 1 else None
    )


def _calls_each(instance: Instance, file: SplitFile) -> int:
    """Subgraphs that the file lists for every accelerator; 1: a plain mapping."""
    accelerators = len(_accelerators(instance))
    if instance.problem != "calls" or not accelerators or len(file.fpgas) % accelerators:
        return 1
    return max(1, len(file.fpgas) // accelerators)


def write(answer: Answer, instance: Instance, ids: dict[str, int]) -> bytes:
    """A split file with the loads in milliseconds (-1, as published, for other problems).

    Under `calls`, one list a call, and the latency.
    """
    load = [-1.0] * instance.K
    most = -1.0
    if instance.problem == "throughput":
        load = (throughput.loads(instance, answer.device).sum(axis=0) * 1e3).tolist()
        verdict = checker.check(instance, answer)
        most = -1.0 if verdict.objective is None else verdict.objective * 1e3

    slot, each = np.zeros(instance.n, np.int64), 1
    if instance.problem == "calls":
        whole = calls.compact(instance, answer)
        assert whole.slot is not None
        slot = np.maximum(whole.slot, 0)
        each = int(slot.max()) + 1

    def shares(ks: list[int], each: int) -> list[dict[str, Any]]:
        return [
            {
                "load": load[k],
                "nodes": [
                    ids[instance.names[v]]
                    for v in ((answer.device == k) & (slot == s)).nonzero()[0]
                ],
            }
            for k in ks
            for s in range(each)
        ]

    plain = {
        "cpus": shares(_hosts(instance), 1),
        "fpgas": shares(_accelerators(instance), each),
        "maxLoad": most,
    }
    if instance.problem == "calls":
        seconds = checker.check(instance, answer).objective
        plain["totalLatency"] = -1.0 if seconds is None else seconds * 1e3
    return msgspec.json.format(msgspec.json.encode(plain), indent=1) + b"\n"


def _accelerators(instance: Instance) -> list[int]:
    return [k for k in range(instance.K) if not instance.host[k]]


def _hosts(instance: Instance) -> list[int]:
    return [k for k in range(instance.K) if instance.host[k]]
