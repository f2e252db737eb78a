"""How a step on the CPU is measured: first a little, to see how fast it is, then all that fits."""

from __future__ import annotations

import os
from collections.abc import Mapping
from statistics import median
from typing import Any

from problems.capture.campaign.children import Ending
from problems.capture.campaign.plan import LEAST_S, Step
from problems.capture.campaign.samples import Keep, Means, Samples
from problems.capture.campaign.signatures import Work

LEAST = 3
"""Times of a signature on the CPU, over all processes, where there is time for it."""
LOOK = 2.5
"""One time of a signature on the CPU takes as long as so many calls: one that does not count goes
before it, and operands are written."""
MEMORY = 0.25
"""Part of the machine's memory that the arguments of one process may take."""
BARREN = 16
"""Processes in a row that may end without a result before a step on the CPU is given up: halving
thousands of signatures finds the one that ends its process in fewer."""


def measure_cpu(
    step: Step, means: Means, until: float, latest: float, keep: Keep
) -> dict[str, Any]:
    """See :func:`problems.capture.campaign.measuring.measure`."""
    samples = Samples()
    threads: int = step.job["threads"]
    most = MEMORY * _memory()
    pending = {key: work for key, work in means.works.items() if work.held <= most}
    samples.failed |= {
        key: f"its arguments take {work.held} bytes, more than {MEMORY:.0%} of the machine's memory"
        for key, work in means.works.items()
        if key not in pending
    }
    speed = threads**-0.7  # seconds per second of the rough estimate; measured as it goes
    processes = 0
    while pending and means.clock() < latest:
        left = until - means.clock() - means.startup_s
        least = {key: LOOK * work.core_s() for key, work in pending.items()}
        if not processes and LEAST * sum(least.values()) * speed < left and _fits(pending):
            # Where a process has its memory shifts some times for as long as it lives.
            processes = 3 if means.rounds is None else 1
            for seed in range(processes):
                share = (until - means.clock()) / (processes - seed) - means.startup_s
                able = {key: work for key, work in pending.items() if key not in samples.failed}
                if not able:
                    break
                _survive(able, threads, means, share, latest, samples, seed, -(-LEAST // processes))
                keep(samples.data())
            break
        # The first process is a small one, to see how fast this machine is.
        chunk = _chunk(pending, least, speed, max(left / (4 if processes else 8), LEAST_S / 2))
        chunk = chunk or _chunk(dict([next(iter(pending.items()))]), least, speed, left)
        if not chunk or (processes and left < LEAST_S):
            break
        planned = sum(least[key] for key in chunk)
        share = left * min(1.0, planned / sum(least.values()))
        begin = means.clock()
        budget_s = max(share, planned * speed)
        runs, told = _survive(chunk, threads, means, budget_s, latest, samples, 0, 1)
        processes += runs
        taken = (means.clock() - begin - runs * means.startup_s) / planned
        speed = max(speed, 0.5 * taken) if told else max(2 * speed, taken)
        if samples.barren >= BARREN:
            break
        for key in chunk:
            del pending[key]
        keep(samples.data())
    samples.info["processes"] = processes
    missing = len(means.works) - len(samples.times) - len(samples.failed)
    if missing > 0 and not samples.trouble:
        samples.trouble = f"{missing} signatures were not reached in its time"
    if samples.failed and not samples.times and not samples.trouble:
        samples.trouble = f"none can run: {next(iter(samples.failed.values()))}"
    return samples.data()


def _survive(
    chunk: Mapping[str, Work],
    threads: int,
    means: Means,
    budget_s: float,
    latest: float,
    samples: Samples,
    seed: int,
    least: int,
) -> tuple[int, bool]:
    """Measure some signatures; a process that one of them ends is halved until that one is found.

    Returns
    -------
    runs, told : int, bool
        Processes, and whether there is a result or a culprit.
    """
    before = samples.trouble
    ending, told = _replay(chunk, threads, means, budget_s, latest, samples, seed, least)
    samples.barren = 0 if told else samples.barren + 1
    if told or ending.stopped or ending.code == 0:
        return 1, told
    if len(chunk) == 1:
        samples.failed |= dict.fromkeys(chunk, f"ends the process: {ending.why}")
        samples.trouble = before
        return 1, True
    runs, some, keys = 1, False, list(chunk)
    for part in (keys[: len(keys) // 2], keys[len(keys) // 2 :]):
        if samples.barren >= BARREN or means.clock() + means.startup_s >= latest:
            return runs, some  # the trouble that is noted says why
        if runs == 1:
            samples.trouble = before
        half = {key: chunk[key] for key in part}
        count, found = _survive(half, threads, means, budget_s / 2, latest, samples, seed, least)
        runs, some = runs + count, some or found
    return runs, some


def _replay(
    chunk: Mapping[str, Work],
    threads: int,
    means: Means,
    budget_s: float,
    latest: float,
    samples: Samples,
    seed: int,
    least: int,
) -> tuple[Ending, bool]:
    """Measure some signatures in one process: how it ended, and whether with a result."""
    job = {
        "signatures": {key: work.replay for key, work in chunk.items()},
        "budget_s": max(budget_s, 0.1),
        "seed": means.seed + seed,
        "least": least,
        "expected": {key: median(each) for key, each in samples.times.items() if key in chunk},
    } | _limit(means)
    result: dict[str, Any] = {}

    def hear(line: dict[str, Any]) -> None:
        result.update(line.get("result", {}))

    # Its last round may be long: others' time is not eaten up by more than as much again.
    seconds = min(2 * (budget_s + means.startup_s) + 5, latest - means.clock())
    ending = means.launch("problems.capture.replay", job, threads, seconds, hear)
    samples.trouble = ending.why or samples.trouble
    for key, each in result.get("samples", {}).items():
        samples.times.setdefault(key, []).extend(each)
    samples.failed |= result.get("failed", {})
    return ending, bool(result)


def _limit(means: Means) -> dict[str, Any]:
    return {} if means.rounds is None else {"limit": means.rounds}


def _chunk(
    pending: Mapping[str, Work], least: Mapping[str, float], speed: float, limit_s: float
) -> dict[str, Work]:
    """The first signatures that take no longer than `limit_s` together and fit the memory."""
    chunk: dict[str, Work] = {}
    used = held = 0.0
    for key, work in pending.items():
        used += least[key] * speed
        held += work.held
        if used > limit_s or held > MEMORY * _memory():
            break
        chunk[key] = work
    return chunk


def _fits(works: Mapping[str, Work]) -> bool:
    return sum(work.held for work in works.values()) <= MEMORY * _memory()


def _memory() -> float:
    return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
