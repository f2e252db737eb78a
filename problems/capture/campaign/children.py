"""Runs one measuring program in a process of its own, for so long and no longer."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from problems.capture.cores import available_cores, pin
from problems.capture.environment import measuring

GRACE_S = 0.5
"""For what a killed program started to end, too, and to give back shared memory."""

Hear = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Ending:
    """How a program ended.

    Attributes
    ----------
    code : int
        Its exit code; negative: the signal that ended it.
    stopped : bool
        Whether it was stopped because its time was up.
    errors : str
        The end of its error output.
    """

    code: int
    stopped: bool = False
    errors: str = ""

    @property
    def why(self) -> str:
        """One line that says what happened; empty where all is well."""
        if self.stopped:
            return "stopped when its time was up"
        if self.code == 0:
            return ""
        lines = self.errors.strip().splitlines()
        return f"ended with code {self.code}" + (f": {lines[-1][:300]}" if lines else "")


class Launch(Protocol):
    """Runs a program; :func:`launch` is the one there is, tests bring others."""

    def __call__(
        self, module: str, job: dict[str, Any], threads: int | None, seconds: float, hear: Hear
    ) -> Ending:
        """See :func:`launch`."""


def launch(
    module: str,
    job: dict[str, Any],
    threads: int | None,
    seconds: float,
    hear: Hear,
    command: Sequence[str] = (sys.executable, "-m"),
) -> Ending:
    """Run `module` as a program.

    Parameters
    ----------
    module : str
        Reads `job` from standard input, writes JSON lines.
    threads : int or None
        Threads, and cores it is kept on; None: as many as there are, on all of them.
    seconds : float
        It is killed after so long, with all that it started.
    hear : callable
        Given every line.
    """
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(
            [*command, module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=measuring(threads or available_cores()),
            start_new_session=True,
        ) as process,
    ):
        stopped, ended = threading.Event(), threading.Event()

        def stop() -> None:
            stopped.set()
            _kill(process)
            if not ended.wait(GRACE_S):  # something else holds its output open
                _signal(process, signal.SIGKILL)

        timer = threading.Timer(max(seconds, 0.1), stop)
        timer.daemon = True
        timer.start()
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            if threads is not None:
                with suppress(OSError):  # it has ended already
                    pin(process.pid, threads)
            with suppress(BrokenPipeError), process.stdin:  # it has failed: its code tells
                json.dump(job | {"threads": threads}, process.stdin)
            for text in process.stdout:
                with suppress(ValueError):  # half a line of a killed program, or a warning
                    line = json.loads(text)
                    if isinstance(line, dict):
                        hear(line)
            ended.set()
            code = process.wait()
        except BaseException:
            _kill(process)
            raise
        finally:
            ended.set()
            timer.cancel()
        errors.seek(0)
        return Ending(code, stopped.is_set() and code != 0, errors.read()[-2000:])


def _kill(process: subprocess.Popen[str]) -> None:
    """Kill a program, and ask what it started to end.

    Python's own tracker of shared memory does not heed that: it removes what was left behind, then
    ends.
    """
    process.kill()
    _signal(process, signal.SIGTERM)


def _signal(process: subprocess.Popen[str], number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):  # nobody is left
        os.killpg(process.pid, number)
