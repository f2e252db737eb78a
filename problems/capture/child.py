"""Runs a measurement in a fresh process, whose allocator and threads are set before it starts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from problems.capture.cores import pin
from problems.capture.environment import measuring
from problems.capture.machine import Disturbance


def run(
    module: str, job: dict[str, Any], threads: int, hear: Callable[[dict[str, Any]], None]
) -> tuple[dict[str, Any], float]:
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
    result: dict[str, Any] | None = None
    disturbance = Disturbance()
    before = os.times()
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(
            [sys.executable, "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=measuring(threads),
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            pin(process.pid, threads)
            with suppress(BrokenPipeError), process.stdin:  # it has failed: its code tells
                json.dump(job | {"threads": threads}, process.stdin)
            for text in process.stdout:
                line = json.loads(text)
                if "result" in line:
                    result = line["result"]
                else:
                    hear(line)
            code = process.wait()
        except BaseException:
            process.kill()
            raise
        errors.seek(0)
        if code != 0 or result is None:
            raise RuntimeError(f"{module} ended with code {code}: {errors.read()[-2000:].strip()}")
    after = os.times()
    own = sum(after[:4]) - sum(before[:4])  # this process and the child that has just ended
    return result, disturbance.cores(own)
