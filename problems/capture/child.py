"""Runs a measurement in fresh processes, whose allocator and threads are set before they start."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, suppress
from typing import Any

from problems.capture.cores import pin
from problems.capture.environment import measuring
from problems.capture.machine import Disturbance

Hear = Callable[[dict[str, Any]], None]


def run(module: str, job: dict[str, Any], threads: int, hear: Hear) -> tuple[dict[str, Any], float]:
    """Run `module` as a program on as many cores as threads.

    Parameters
    ----------
    module : str
        Reads `job` from standard input and writes JSON lines, the last one ``{"result": ...}``.
    hear : callable
        Given every other line.

    Returns
    -------
    result, others : dict, float
        The result, and how many cores others used on average meanwhile.

    Raises
    ------
    RuntimeError
        If the program fails; the end of its error output is in the message.
    """
    (result,), others = run_together(module, [job], threads, hear)
    return result, others


def run_together(
    module: str, jobs: Sequence[dict[str, Any]], threads: int, hear: Hear
) -> tuple[list[dict[str, Any]], float]:
    """Run `module` several times at once, each on cores of its own; see :func:`run`.

    `hear` is given the lines of the first one. All are stopped when one fails.
    """
    disturbance = Disturbance()
    before = os.times()
    with ExitStack() as stack:
        started = [stack.enter_context(_Child(module, threads, k)) for k in range(len(jobs))]
        with ThreadPoolExecutor(len(jobs)) as pool:
            futures = [
                pool.submit(child.talk, job | {"threads": threads}, hear if k == 0 else _nothing)
                for k, (child, job) in enumerate(zip(started, jobs, strict=True))
            ]
            try:
                for future in as_completed(futures):
                    future.result()
            except BaseException:
                for child in started:
                    child.process.kill()
                raise
        results = [future.result() for future in futures]
    after = os.times()
    own = sum(after[:4]) - sum(before[:4])  # this process and the children that have just ended
    return results, disturbance.cores(own)


class _Child:
    """One program, on its own cores; killed when left early."""

    def __init__(self, module: str, threads: int, place: int) -> None:
        self.module = module
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed in __exit__
        self.process = subprocess.Popen(
            [sys.executable, "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            env=measuring(threads),
        )
        pin(self.process.pid, threads, place * threads)

    def __enter__(self) -> _Child:
        return self

    def talk(self, job: dict[str, Any], hear: Hear) -> dict[str, Any]:
        result: dict[str, Any] | None = None
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with suppress(BrokenPipeError), self.process.stdin:  # it has failed: its code tells
            json.dump(job, self.process.stdin)
        for text in self.process.stdout:
            line = json.loads(text)
            if "result" in line:
                result = line["result"]
            else:
                hear(line)
        code = self.process.wait()
        if code != 0 or result is None:
            self.errors.seek(0)
            end = self.errors.read()[-2000:].strip()
            raise RuntimeError(f"{self.module} ended with code {code}: {end}")
        return result

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.errors):
            assert pipe is not None
            with suppress(BrokenPipeError):
                pipe.close()


def _nothing(line: dict[str, Any]) -> None:
    """Hear nothing."""
