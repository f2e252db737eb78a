"""Device files by replay: the time of every signature on this machine's processor.

Rounds go over all signatures in random order, and the minimum counts: repeating one operator in a
row keeps its data in the caches and misses the time that it takes in a network.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from importlib.util import find_spec
from statistics import median
from typing import Any

from problems.capture import Progress, child, machine, silent
from problems.graph import Signature
from problems.platform import DeviceFile, Timing

METHOD = (
    "every signature replayed on random tensors, in rounds over all of them in random order, in "
    "several processes one after the other; min, median and max over all rounds; first call of "
    "each process left out"
)


def capture_device(
    spec: str,
    signatures: Mapping[str, Signature],
    budget_s: float = 60.0,
    *,
    name: str | None = None,
    seed: int = 0,
    processes: int = 3,
    force: bool = False,
    progress: Progress = silent,
) -> DeviceFile:
    """Measure every signature on one device.

    Parameters
    ----------
    spec : str
        ``cpu:N``: N threads on N cores of this machine.
    signatures : mapping
        Signature id -> :class:`Signature`.
    budget_s : float
        Seconds of measurement; each process runs at least 3 rounds, whatever they take.
    name : str, optional
        Of the device file; made of processor and threads where not given.
    seed : int
        Of values and order; each process has its own.
    processes : int
        How many share the budget: where a process happens to have its memory shifts some times
        by 10 % for as long as it lives.
    force : bool
        Measure on a busy machine, too; the provenance then says so.

    Raises
    ------
    ValueError
        If the spec is not one of a device here, or there is nothing to measure.
    BusyError
        If the machine is not quiet, before or meanwhile.
    ModuleNotFoundError
        If torch is not installed.
    """
    threads = cpu_threads(spec)
    if not signatures:
        raise ValueError("no signatures to measure")
    if budget_s <= 0:
        raise ValueError("budget_s <= 0")
    if processes < 1:
        raise ValueError("processes < 1")
    if find_spec("torch") is None:
        raise ModuleNotFoundError("capture needs torch", name="torch")
    if not force:
        machine.require_quiet()
    job = {
        "signatures": {
            key: {"op": each.op, "args": each.args, "kwargs": each.kwargs}
            for key, each in sorted(signatures.items())
        },
        "budget_s": budget_s / processes,
    }
    samples: dict[str, list[float]] = {key: [] for key in sorted(signatures)}
    failed: dict[str, str] = {}
    others = 0.0
    for i in range(processes):
        begun, label = i / processes, f"{spec}, process {i + 1} of {processes}"
        progress(begun, f"{label}: preparing {len(signatures)} signatures")

        def hear(line: dict[str, Any], begun: float = begun, label: str = label) -> None:
            done = min(line["elapsed_s"] / budget_s, 1 / processes)
            progress(begun + done, f"{label}: round {line['round']}")

        result, disturbance = child.run(
            "problems.capture.replay", job | {"seed": seed + i}, threads, hear
        )
        for key, each in result["samples"].items():
            samples[key] += each
        failed |= result["failed"]
        others = max(others, disturbance)
    if others > machine.QUIET and not force:
        raise machine.BusyError(
            f"others used {others:.2f} cores during the measurement, at most {machine.QUIET} are"
            " fine: measure again"
        )
    provenance: dict[str, Any] = machine.hardware() | {
        "device": spec,
        "threads": threads,
        "precision": "fp32",
        "torch": result["torch"],
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "method": METHOD,
        "rounds": max(map(len, samples.values())),
        "processes": processes,
        "seed": seed,
        "others_cores": round(others, 3),
    }
    if failed:
        provenance["failed"] = failed
    return DeviceFile(
        format="placebench-device/1",
        name=name or default_name(threads),
        kind="measured",
        provenance=provenance,
        times={
            key: None if key in failed else Timing(min(each), median(each), max(each), len(each))
            for key, each in samples.items()
        },
    )


def cpu_threads(spec: str) -> int:
    """Threads of a spec ``cpu:N``.

    Raises
    ------
    ValueError
        If it is none, or this process may not use so many cores.
    """
    found = re.fullmatch(r"cpu:([1-9]\d*)", spec)
    cores = machine.available_cores()
    if found is None or int(found[1]) > cores:
        raise ValueError(f"no device {spec!r} here; the devices are cpu:1 .. cpu:{cores}")
    return int(found[1])


def default_name(threads: int) -> str:
    """Name of a device file: processor and threads."""
    model = machine.cpu_model().partition(" (")[0]
    slug = re.sub(r"[^a-z0-9]+", "-", model.lower()).strip("-")
    return f"{slug}-{threads}t"
