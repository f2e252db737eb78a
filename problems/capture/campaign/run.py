"""The campaign itself: steps one after the other until the deadline, each kept when it is done."""

from __future__ import annotations

import datetime
import math
import os
import platform
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from problems.capture import SIZES
from problems.capture.campaign.children import Launch, launch
from problems.capture.campaign.folder import FORMAT, STATE, Folder
from problems.capture.campaign.load import QUIET, Others, warning
from problems.capture.campaign.measuring import measure
from problems.capture.campaign.plan import LEAST_S, Step, share_s, steps
from problems.capture.campaign.samples import Means
from problems.capture.campaign.signatures import Work
from problems.capture.cores import available_cores, cpu_model

RESERVE = 0.02
"""Part of the time that is left to the end: for writing, and for what ends late."""
SURVEY = 0.3
"""Most of the time that the survey may take."""

Tell = Callable[[float, str], None]
Warn = Callable[[str], None]


def _warn(message: str) -> None:
    print(f"warning: {message}", file=sys.stderr, flush=True)


def campaign(
    out: str | Path,
    works: Mapping[str, Work],
    deadline_s: float = 480.0,
    *,
    only: list[str] | None = None,
    seed: int = 0,
    rounds: int | None = None,
    sizes: tuple[int, ...] = SIZES,
    tell: Tell = lambda fraction, message: None,
    warn: Warn = _warn,
    launch: Launch = launch,
    clock: Callable[[], float] = time.monotonic,
    cores: int | None = None,
) -> dict[str, Any]:
    """Measure everything this machine offers.

    Parameters
    ----------
    out : path
        Folder of the results, written as they come: at most 8 files, each under 16 MiB.
    works : mapping
        Signatures to measure; see :func:`problems.capture.campaign.signatures.read`.
    deadline_s : float
        Seconds after which it has ended.
    only : list of str, optional
        Names of steps; the others are left out.
    rounds : int, optional
        Most rounds of a process, for a quick look.
    tell : callable
        Told the fraction of the time that is gone, and what is being done.
    warn : callable
        Told where others use the processor meanwhile; by default on standard error.
    launch, clock, cores
        How programs are run, the time, and the cores there are; for tests.

    Returns
    -------
    dict
        What ``campaign.json`` holds: machine, and how each step ended.

    Raises
    ------
    ValueError
        On a deadline too short for anything or without end, no rounds, or an unknown step.
    FolderError
        If the folder holds files already, or cannot be written.
    """
    if not LEAST_S <= deadline_s < math.inf:  # no number is not within either
        raise ValueError(f"--deadline {deadline_s}: a campaign needs {LEAST_S:.0f} seconds or more")
    if rounds is not None and rounds < 1:
        raise ValueError(f"--rounds {rounds}: 1 or more")
    start = clock()
    end = start + deadline_s * (1 - RESERVE)
    folder = Folder(out)
    cores = cores or available_cores()
    tell(0.0, "what this machine offers")
    means = Means(works, 0.0, seed, rounds, launch, clock, sizes)
    load, others = machine(cores), Others()
    survey = look(means, SURVEY * deadline_s)
    load["others_cores_before"] = others.cores()
    if said := warning("before the first step", load["others_cores_before"]):
        warn(said)
    plan = steps(survey, cores)
    known = [step.name for step in plan]
    if only is not None:
        unknown = [name for name in only if name not in known]
        if unknown:
            raise ValueError(f"no step {unknown[0]!r} here; the steps are {', '.join(known)}")
        plan = [step for step in plan if step.name in only]
    state: dict[str, Any] = {
        "format": FORMAT,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "deadline_s": deadline_s,
        "signatures": len(works),
        "seed": seed,
        "startup_s": round(means.startup_s, 2),
        "machine": load,
        "survey": survey,
        "steps": [_entry(step) for step in plan],
    }
    folder.write(STATE, state)
    files: dict[str, dict[str, Any]] = {}
    for i, step in enumerate(plan):
        entry = state["steps"][i]
        if step.skip:
            continue
        left = [each for each in plan[i:] if not each.skip]
        begin = clock()
        remaining = end - begin
        if remaining < LEAST_S + means.startup_s:
            entry |= {"state": "skipped", "why": f"{max(remaining, 0):.1f} s were left for it"}
            folder.write(STATE, state)
            continue
        # Where time is short the most important steps still get enough to say something.
        budget = max(share_s(left, remaining), LEAST_S + means.startup_s)
        tell((begin - start) / deadline_s, f"{step.name}, for {budget:.0f} s")
        entry |= {"state": "running", "budget_s": round(budget, 2)}
        content = files.setdefault(step.file, {"format": FORMAT, "steps": {}})

        def keep(
            data: dict[str, Any], content: dict[str, Any] = content, step: Step = step
        ) -> None:
            content["steps"][step.name] = step.job | data
            folder.write(step.file, content)

        # One step may run over, by half its own time; the steps after it still get most of theirs.
        latest = min(begin + 1.5 * budget + 2, end)
        others = Others()
        data = measure(step, means, begin + budget, latest, keep)
        if step.kind == "cpu":
            data["info"]["others_cores"] = entry["others_cores"] = others.cores()
            if said := warning(f"during {step.name}", entry["others_cores"]):
                warn(said)
        keep(data)
        entry |= {"seconds": round(clock() - begin, 2)} | _outcome(data, len(works))
        folder.write(STATE, state)
    state["seconds"] = round(clock() - start, 2)
    folder.write(STATE, state)
    tell(1.0, "done")
    return state


def summary(state: dict[str, Any]) -> list[str]:
    """One line a step: how it ended."""
    lines = []
    for step in state["steps"]:
        parts = [f"{step['name']:<16} {step['state']:<8}"]
        if "seconds" in step:
            parts.append(f"{step['seconds']:6.1f} s")
        if "reached" in step:
            parts.append(f"{step['reached']} of {state['signatures']} signatures")
        if step.get("failed"):
            parts.append(f"{step['failed']} cannot run")
        if "rounds" in step:
            parts.append("{}-{} rounds".format(*step["rounds"]))
        if (step.get("others_cores") or 0.0) > QUIET:
            parts.append(f"others used {step['others_cores']:.2f} cores")
        if "why" in step:
            parts.append(f"({step['why']})")
        lines.append("  ".join(parts))
    if "seconds" in state:
        lines.append(f"{state['seconds']:.1f} of {state['deadline_s']:.0f} s")
    return lines


def machine(cores: int) -> dict[str, Any]:
    """Processor, cores, memory, system and load of this machine."""
    return {
        "cpu": cpu_model(),
        "cores": cores,
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "os": f"{platform.system()} {platform.release()}",
        "python": sys.version.split()[0],
        "load_before": round(os.getloadavg()[0], 2),
    }


def look(means: Means, seconds: float) -> dict[str, Any]:
    """Survey the cards, and see how long a program needs to start; never fails.

    See :func:`problems.capture.cuda_survey.survey`; ``why`` where there is no answer.
    """
    found: dict[str, Any] = {}

    def hear(line: dict[str, Any]) -> None:
        found.update(line.get("result", {}))

    begin = means.clock()
    ending = means.launch("problems.capture.cuda_survey", {}, None, seconds, hear)
    means.startup_s = means.clock() - begin
    if not found:
        return {"cards": [], "why": f"no survey of the cards: {ending.why or 'it said nothing'}"}
    return found


def _entry(step: Step) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": step.name, "file": step.file}
    return entry | ({"state": "skipped", "why": step.skip} if step.skip else {"state": "waiting"})


def _outcome(data: dict[str, Any], signatures: int) -> dict[str, Any]:
    """How a step ended: `done`, `partial` or `failed`."""
    why = {"why": data["trouble"]} if data.get("trouble") else {}
    if "times" in data:
        reached, failed = len(data["times"]), len(data["failed"])
        if not reached:
            return {"state": "failed", "reached": 0, "failed": failed} | why
        whole = reached + failed >= signatures
        rounds = [each[3] for each in data["times"].values()]
        return {
            "state": "done" if whole else "partial",
            "reached": reached,
            "failed": failed,
            "rounds": [min(rounds), max(rounds)],
        } | why
    return {"state": "done" if data.get("forward") else "failed"} | why
