"""One device of an executed placement: the child process of :mod:`problems.capture.execute`.

Reads a job as JSON from standard input and writes its result as a JSON line.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from multiprocessing import resource_tracker
from multiprocessing.shared_memory import SharedMemory
from statistics import median
from typing import Any

import torch

from problems.capture.channel import Channel
from problems.capture.parts import part, payloads
from problems.capture.program import Program, load

WARM = 3  # samples that do not count, each way of running


def stage(job: dict[str, Any], memories: list[SharedMemory]) -> dict[str, Any]:
    """Run this device's part of every plan.

    Parameters
    ----------
    job : dict
        ``network``, ``seed``, ``own``, ``workers``; ``plans``: each with ``device`` (operator ->
        device), ``order`` (operators of every device), ``way`` (``latency`` or ``period``) and
        ``samples``; ``memories``: one block a plan.

    Returns
    -------
    dict
        ``plans``: for each ``times`` (of the samples; of the ends of samples for a period) in
        seconds since the common start, ``parts`` (median seconds of operators, views, sends,
        receives, one sample) and ``difference`` (largest, of the outputs here to those of the
        network run as it is, relative to the largest value of each).
    """
    program = load(job["network"], job["seed"])
    with torch.inference_mode():
        return {
            "plans": [
                _plan(program, job, plan, memory)
                for plan, memory in zip(job["plans"], memories, strict=True)
            ]
        }


def _plan(
    program: Program, job: dict[str, Any], plan: dict[str, Any], memory: SharedMemory
) -> dict[str, Any]:
    own, device = job["own"], plan["device"]
    where = {program.operators[name]: k for name, k in device.items()}
    like = [each.like for each in payloads(program, where)]
    channel = Channel(memory, like, own, job["workers"])
    outputs: dict[int, torch.Tensor] = {}
    ticks: list[float] = []
    clock = time.perf_counter
    around = {
        "send": channel.send,
        "receive": channel.receive,
        "out": outputs.__setitem__,
        "tick": lambda: ticks.append(clock()),
    }
    run, _ = part(program, device, plan["order"][own], own, around)
    timed, labels = part(program, device, plan["order"][own], own, around, timed=True)
    each_s: list[list[float]] = []

    def time_parts(i: int) -> None:
        ticks.clear()
        timed(i)
        each_s.append([b - a for a, b in pairwise(ticks)])

    gc.collect()
    gc.disable()  # a collection in the middle would count as an operator's time
    measure = _latency if plan["way"] == "latency" else _period
    times = measure(channel, run, plan["samples"])
    measure(channel, time_parts, max(plan["samples"] // 2, 2))
    gc.enable()
    parts: dict[str, float] = {}
    for label, every in zip(labels, zip(*each_s[WARM:], strict=True), strict=True):
        kind = label if label in ("send", "receive", "view", "output") else "operator"
        parts[kind] = parts.get(kind, 0.0) + median(every)
    difference = 0.0
    for i, value in outputs.items():
        expected = program.reference[i]
        scale = max(float(expected.abs().max()), 1e-30)
        difference = max(difference, float((value - expected).abs().max()) / scale)
    return {"times": times, "parts": parts, "outputs": len(outputs), "difference": difference}


def _latency(channel: Channel, run: Callable[[int], None], samples: int) -> list[float]:
    """Seconds from the common start of each sample to this device's end of it."""
    found = []
    channel.start()
    channel.reset()
    for i in range(samples + WARM):
        begin = channel.start()
        run(i)
        found.append(time.perf_counter() - begin)
    channel.start()
    return found[WARM:]


def _period(channel: Channel, run: Callable[[int], None], samples: int) -> list[float]:
    """Ends of samples that follow on each other, in seconds since the common start."""
    found = []
    channel.start()
    channel.reset()
    begin = channel.start()
    for i in range(samples + WARM):
        run(i)
        found.append(time.perf_counter() - begin)
    channel.start()
    return found[WARM:]


def main() -> None:
    """Run the job that stands on standard input."""
    job = json.load(sys.stdin)
    torch.set_num_threads(job["threads"])
    memories = []
    for name in job["memories"]:
        memory = SharedMemory(name)
        resource_tracker.unregister(memory._name, "shared_memory")  # type: ignore[attr-defined]
        memories.append(memory)
    print(json.dumps({"result": stage(job, memories)}), flush=True)
    # Tensors still look into the blocks, which then cannot be closed in order; the parent unlinks.
    os._exit(0)


if __name__ == "__main__":
    main()
