"""How one step of a campaign is measured: child processes, retries, and what is kept of them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from problems.capture import SIZES
from problems.capture.campaign.children import Ending, Launch, launch
from problems.capture.campaign.plan import LEAST_S, Step
from problems.capture.campaign.signatures import Work
from problems.capture.cuda import METHOD as CUDA_METHOD

RETRIES = 8
"""Most signatures that may end a card's context before the step is given up."""
KEEP_S = 10.0
"""Results of a step on a card are written every so many seconds; the host is idle then."""
MOST = 25
"""Rounds on a card: more say little, and the steps after it can use the time."""
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
Keep = Callable[[dict[str, Any]], None]


@dataclass
class Means:
    """What a step has to work with.

    Attributes
    ----------
    works : mapping
        Signatures to measure, in this order.
    startup_s : float
        How long a process needs to import torch and reach the card: measured, not assumed.
    rounds : int or None
        Most rounds, for a quick look: of one process, and links as short as can be.
    """

    works: Mapping[str, Work]
    startup_s: float = 0.0
    seed: int = 0
    rounds: int | None = None
    launch: Launch = launch
    clock: Callable[[], float] = time.monotonic
    sizes: tuple[int, ...] = SIZES


@dataclass
class Samples:
    """Times of one device so far."""

    method: str = ""
    times: dict[str, list[float]] = field(default_factory=dict)
    dispatch: dict[str, list[float]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    info: dict[str, Any] = field(default_factory=dict)
    trouble: str = ""
    barren: int = 0

    def data(self) -> dict[str, Any]:
        """As it is written: [min, median, max, count] a signature; dispatch [min, median]."""
        data: dict[str, Any] = {
            "times": {
                key: [min(each), median(each), max(each), len(each)]
                for key, each in sorted(self.times.items())
                if each
            },
            "failed": dict(sorted(self.failed.items())),
            "info": self.info,
        }
        if self.method:
            data["method"] = self.method
        if self.dispatch:
            data["dispatch"] = {
                key: [min(each), median(each)] for key, each in sorted(self.dispatch.items())
            }
        if self.trouble:
            data["trouble"] = self.trouble
        return data


def measure(step: Step, means: Means, until: float, latest: float, keep: Keep) -> dict[str, Any]:
    """Measure a step.

    Parameters
    ----------
    until : float
        When it should end, on the clock of `means`.
    latest : float
        When it is ended.
    keep : callable
        Given the result so far, now and then.

    Returns
    -------
    dict
        The result; ``trouble`` says what went wrong, if anything.
    """
    how = {"cuda": _cuda, "cpu": _cpu, "copy": _link, "ping": _link}[step.kind]
    return how(step, means, until, latest, keep)


def _cuda(step: Step, means: Means, until: float, latest: float, keep: Keep) -> dict[str, Any]:
    samples = Samples(CUDA_METHOD)
    kept = means.clock()
    begun, rounds = "", 0
    poisoned: list[tuple[str, str]] = []

    def hear(line: dict[str, Any]) -> None:
        nonlocal begun, rounds, kept
        if "begin" in line:
            begun = line["begin"]
        elif "times" in line:
            rounds += 1
            for key, (card_s, host_s) in line["times"].items():
                samples.times.setdefault(key, []).append(card_s)
                samples.dispatch.setdefault(key, []).append(host_s)
            if means.clock() - kept > KEEP_S:
                keep(samples.data())
                kept = means.clock()
        elif "poisoned" in line:
            poisoned.append((line["poisoned"], line["why"]))
        else:
            samples.failed |= line.get("failed", {})
            samples.info |= line.get("info", {})

    for attempt in range(RETRIES + 1):
        seconds = until - means.clock()
        if attempt and seconds < LEAST_S + means.startup_s:
            break
        begun, rounds, samples.trouble = "", 0, ""
        poisoned.clear()
        table = {k: w.replay for k, w in means.works.items() if k not in samples.failed}
        job = step.job | {
            "signatures": table,
            "budget_s": max(seconds - means.startup_s, LEAST_S / 2),
            "seed": means.seed + attempt,
        }
        job["limit"] = means.rounds or MOST
        ending = means.launch(
            "problems.capture.cuda_replay", job, None, latest - means.clock(), hear
        )
        samples.trouble = ending.why
        if poisoned:
            samples.failed |= {key: f"ends the context: {why}" for key, why in poisoned}
        elif ending.code != 0 and not ending.stopped and begun and not rounds:
            samples.failed[begun] = f"ends the process: {ending.why}"
        else:
            break
        samples.trouble = f"{len(samples.failed)} signatures cannot run"
    for key in samples.failed:  # measured before it failed: not to be relied on
        samples.times.pop(key, None)
        samples.dispatch.pop(key, None)
    return samples.data()


def _cpu(step: Step, means: Means, until: float, latest: float, keep: Keep) -> dict[str, Any]:
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


def _link(step: Step, means: Means, until: float, latest: float, keep: Keep) -> dict[str, Any]:
    module = "cuda_links" if step.kind == "copy" else "campaign.pinger"
    result: dict[str, Any] = {}

    def hear(line: dict[str, Any]) -> None:
        result.update(line.get("result", {}))

    job = step.job | {
        "sizes": list(means.sizes),
        # A last round of all sizes takes up to a second.
        "budget_s": max(until - means.clock() - means.startup_s - 1, 0.1)
        if means.rounds is None
        else 0.0,
    }
    ending = means.launch(f"problems.capture.{module}", job, None, latest - means.clock(), hear)
    if ending.why or not result:
        result["trouble"] = ending.why or "said nothing"
    return result
