"""How one step of a campaign is measured: child processes, retries, and what is kept of them."""

from __future__ import annotations

from typing import Any

from problems.capture.campaign.plan import LEAST_S, Step
from problems.capture.campaign.processor import measure_cpu
from problems.capture.campaign.samples import Keep, Means, Samples
from problems.capture.cuda import METHOD as CUDA_METHOD

RETRIES = 8
"""Most signatures that may end a card's context before the step is given up."""
KEEP_S = 10.0
"""Results of a step on a card are written every so many seconds; the host is idle then."""
MOST = 25
"""Rounds on a card: more say little, and the steps after it can use the time."""


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
    how = {"cuda": _cuda, "cpu": measure_cpu, "copy": _link, "ping": _link}[step.kind]
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
