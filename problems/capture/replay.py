"""Child process that replays signatures and times them; see :mod:`problems.capture.device`.

Reads a job as JSON from standard input, writes JSON lines to standard output: one a round, then
the result. Needs torch and the standard library only.
"""

from __future__ import annotations

import gc
import json
import os
import random
import resource
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import torch

from problems.capture.operands import Pools
from problems.capture.signature import resolve

Say = Callable[[dict[str, Any]], None]
FAILURES = (RuntimeError, TypeError, ValueError, LookupError, AttributeError, MemoryError)
LEAST = 3
"""Rounds that every signature takes part in, unless the job says otherwise."""
LONG_S = 5e-3
"""From here on a cold start of the code is no part of the time that could be seen."""
TELL_S = 2.0
MEMORY = 0.75
"""Share of the free memory that the process may take; what does not fit fails, and says so."""


def replay(job: dict[str, Any], report: Say) -> dict[str, Any]:
    """Time every signature of a job in rounds over them.

    Parameters
    ----------
    job : dict
        ``signatures``: id -> {op, args, kwargs}; ``budget_s``: begin nothing that would end
        later; ``seed``: of values and order; optional: ``limit``: most rounds; ``least``: rounds
        that all take part in; ``expected``: id -> seconds, what is known from before.
        A program also reads ``threads`` and ``together``: how many like it share the memory.
    report : callable
        Told {round, elapsed_s, done, due} while a round goes on and {round, elapsed_s} after it.

    Returns
    -------
    dict
        ``samples``: id -> seconds of each time; ``failed``: id -> why it cannot run; ``torch``.

    Notes
    -----
    A signature sits out rounds once it has used its share of the budget, so that a few long ones do
    not keep thousands of short ones from being repeated; shares grow when none is left below.
    """
    return _Replay(job, report).run()


class _Replay:
    def __init__(self, job: dict[str, Any], report: Say) -> None:
        self.job = job
        self.report = report
        self.pools = Pools(job["seed"])
        self.samples: dict[str, list[float]] = {name: [] for name in job["signatures"]}
        self.failed: dict[str, str] = {}
        self.used = dict.fromkeys(self.samples, 0.0)
        self.expected: dict[str, float] = job.get("expected", {})
        self.share = job["budget_s"] / max(len(self.samples), 1)
        self.random = random.Random(job["seed"])
        self.start = time.perf_counter()

    def run(self) -> dict[str, Any]:
        # Collections in the middle of an operator would be taken for its time.
        gc.collect()
        gc.disable()
        least, limit = self.job.get("least", LEAST), self.job.get("limit", sys.maxsize)
        rounds = 0
        while rounds < limit:
            due = self._due(everyone=rounds < least)
            if not due:
                break
            self._round(rounds + 1, due)
            rounds += 1
            self.report({"round": rounds, "elapsed_s": self._elapsed()})
        return {"samples": self.samples, "failed": self.failed, "torch": torch.__version__}

    def _elapsed(self) -> float:
        return time.perf_counter() - self.start

    def _due(self, everyone: bool) -> list[str]:
        """Who takes part in the next round, shuffled; nobody when the budget is used."""
        due = list(self.samples)
        self.random.shuffle(due)
        if everyone or not due:
            return due
        while not any(self.used[name] <= self.share for name in due):
            self.share *= 2
        left = self.job["budget_s"] - self._elapsed()
        chosen = []
        for name in due:
            if self.used[name] > self.share:
                continue
            left -= self.used[name] / len(self.samples[name])
            if left < 0:
                break
            chosen.append(name)
        return chosen

    def _round(self, number: int, due: list[str]) -> None:
        told = self._elapsed()
        for done, name in enumerate(due):
            begin = time.perf_counter()
            try:
                self.samples[name].append(self._time(name))
            except FAILURES as error:
                self.failed[name] = f"{type(error).__name__}: {error}".splitlines()[0]
                del self.samples[name]
                continue
            self.used[name] += time.perf_counter() - begin
            elapsed = self._elapsed()
            if elapsed - told > TELL_S:
                told = elapsed
                line = {"round": number, "elapsed_s": elapsed, "done": done + 1, "due": len(due)}
                self.report(line)

    def _time(self, name: str) -> float:
        """One time of an operator whose code is warm, inputs fresh and weights cold."""
        each = self.job["signatures"][name]
        function = resolve(each["op"])
        before = self.samples[name]
        known = median(before) if before else self.expected.get(name, 0.0)
        held = None
        if known < LONG_S:
            # In a network most operators follow others that run the same code. The result is held:
            # the next one then has to take other memory than that which is hottest.
            warm = self.pools.operands(each["op"], each["args"], each["kwargs"])
            self.pools.freshen(warm)
            held = function(*warm.args, **warm.kwargs)
        operands = self.pools.operands(each["op"], each["args"], each["kwargs"])
        self.pools.freshen(operands)
        args, kwargs = operands.args, operands.kwargs
        begin = time.perf_counter_ns()
        result = function(*args, **kwargs)
        del result  # a network frees its tensors, too
        end = time.perf_counter_ns()
        del held
        return (end - begin) * 1e-9


def limit_memory(share: float = MEMORY) -> None:
    """Make allocations beyond a share of the free memory fail instead of ending the process."""
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    most = int(share * free) + (1 << 30)
    if hasattr(resource, "RLIMIT_DATA"):
        resource.setrlimit(
            resource.RLIMIT_DATA, (most, resource.getrlimit(resource.RLIMIT_DATA)[1])
        )


def main() -> None:
    """Run the job that stands on standard input."""
    job = json.load(sys.stdin)
    limit_memory(MEMORY / job.get("together", 1))
    torch.set_num_threads(job["threads"])
    torch.set_flush_denormal(True)  # repeated in-place products must not become slow
    with torch.inference_mode():
        _say({"result": replay(job, _say)})


def _say(line: dict[str, Any]) -> None:
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
