"""Device files by replay: the time of every signature on this machine's processor.

Rounds go over the signatures in random order: repeating one operator for long keeps its data in the
caches and meets only one state of the machine. Before the clock starts, an operator is brought into
the state in which a network finds it (:mod:`problems.capture.operands`). The median counts: a
network has no luck with all of its operators at once, which the sum of their minima would need.
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

LEAST = 3  # times of a signature, over all processes
METHOD = (
    "every signature replayed on random tensors, in rounds over the signatures in random order, in "
    "several processes one after the other; before each time: one call that does not count where "
    "it takes under 5 ms (warm code), inputs written anew (warm), weights at places last used 256 "
    "MB ago (cold); freeing the result included; min, median and max over all times, the median "
    "to be used"
)
TOGETHER = "; {count} processes at once, each on cores of its own and all replaying"


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
        ``cpu:N``: N threads on N cores of this machine; ``cpu:NxM``: the same while M - 1 others
        like it work beside it, which is how devices of one machine run a placement.
    signatures : mapping
        Signature id -> :class:`Signature`.
    budget_s : float
        Seconds of measurement; every signature is timed at least 3 times, whatever that takes.
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
    threads, count = cpu_share(spec)
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
    job: dict[str, Any] = {
        "signatures": {
            key: {"op": each.op, "args": each.args, "kwargs": each.kwargs}
            for key, each in sorted(signatures.items())
        },
        "budget_s": budget_s / processes,
        "least": -(-LEAST // processes),
        "together": count,
    }
    samples: dict[str, list[float]] = {key: [] for key in sorted(signatures)}
    failed: dict[str, str] = {}
    others = 0.0
    for i in range(processes):
        begun, label = i / processes, f"{spec}, process {i + 1} of {processes}"
        progress(begun, f"{label}: preparing {len(signatures)} signatures")

        def hear(line: dict[str, Any], begun: float = begun, label: str = label) -> None:
            done = min(line["elapsed_s"] / budget_s, 1 / processes)
            within = f", {line['done']} of {line['due']}" if "done" in line else ""
            progress(begun + done, f"{label}: round {line['round']}{within}")

        known = {key: median(each) for key, each in samples.items() if each}
        jobs = [job | {"seed": seed + i * count + k, "expected": known} for k in range(count)]
        results, disturbance = child.run_together("problems.capture.replay", jobs, threads, hear)
        for result in results:
            for key, each in result["samples"].items():
                samples[key] += each
            failed |= result["failed"]
        others = max(others, disturbance)
    if others > machine.QUIET and not force:
        raise machine.BusyError(
            f"others used {others:.2f} cores during the measurement, at most {machine.QUIET} are"
            " fine: measure again"
        )
    counts = [len(each) for key, each in samples.items() if key not in failed]
    provenance: dict[str, Any] = machine.hardware() | {
        "device": spec,
        "threads": threads,
        "precision": "fp32",
        "torch": results[0]["torch"],
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "method": METHOD + (TOGETHER.format(count=count) if count > 1 else ""),
        "rounds": max(map(len, samples.values())),
        "repeats": [min(counts, default=0), median(counts) if counts else 0],
        "processes": processes,
        "seed": seed,
        "others_cores": round(others, 3),
    }
    if failed:
        provenance["failed"] = failed
    return DeviceFile(
        format="placebench-device/1",
        name=name or default_name(threads, count),
        kind="measured",
        provenance=provenance,
        times={
            key: None if key in failed else Timing(min(each), median(each), max(each), len(each))
            for key, each in samples.items()
        },
        statistic="median",
    )


def cpu_share(spec: str) -> tuple[int, int]:
    """Threads of a spec ``cpu:N`` or ``cpu:NxM``, and how many such devices work at once.

    Raises
    ------
    ValueError
        If it is none, or this process may not use so many cores.
    """
    found = re.fullmatch(r"cpu:([1-9]\d*)(?:x([1-9]\d*))?", spec)
    cores = machine.available_cores()
    threads, count = (int(found[1]), int(found[2] or 1)) if found else (0, 0)
    if found is None or threads * count > cores:
        raise ValueError(
            f"no device {spec!r} here; the devices are cpu:1 .. cpu:{cores}, and cpu:NxM with"
            f" N x M at most {cores}"
        )
    return threads, count


def cpu_threads(spec: str) -> int:
    """Threads of a spec ``cpu:N``; see :func:`cpu_share`."""
    return cpu_share(spec)[0]


def default_name(threads: int, count: int = 1) -> str:
    """Name of a device file: processor, threads and how many work at once."""
    model = machine.cpu_model().partition(" (")[0]
    slug = re.sub(r"[^a-z0-9]+", "-", model.lower()).strip("-")
    return f"{slug}-{threads}t" + (f"x{count}" if count > 1 else "")
