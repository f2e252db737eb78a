"""A real Dask scheduler and workers, each a process of its own; not a test module."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from tests.bench import harness

PATIENCE_S = 60.0


class Processes:
    """A scheduler, and workers that can be started and killed; `packages` is on their path."""

    def __init__(self, folder: Path, packages: Path | None = None) -> None:
        self.folder = folder
        self.path = os.pathsep.join(map(str, filter(None, (harness.ROOT, packages))))
        self.workers: list[subprocess.Popen[bytes]] = []
        self._count = 0
        file = folder / "scheduler.json"
        # Port 0: whichever is free; the file says which.
        self._scheduler = self._start(
            "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
            "--scheduler-file", str(file),
        )  # fmt: skip
        self._wait(file.exists)
        self.address: str = json.loads(file.read_text())["address"]

    def add(self, *options: str) -> subprocess.Popen[bytes]:
        """One more worker: one process, one run at a time."""
        self._count += 1
        slot = options or ("--nthreads", "1", "--resources", "placebench=1")
        worker = self._start(
            "worker", self.address, "--no-nanny", "--no-dashboard", "--host", "127.0.0.1",
            "--local-directory", str(self.folder / f"worker-{self._count}"), *slot,
        )  # fmt: skip
        self.workers.append(worker)
        return worker

    def kill(self, worker: subprocess.Popen[bytes]) -> None:
        """End a worker as a machine that loses its power does."""
        worker.kill()
        worker.wait()
        self.workers.remove(worker)

    def children(self) -> list[int]:
        """Living processes of runs on the workers."""
        return [pid for each in self.workers for pid in harness.children_of_harness(each.pid)]

    def busy(self) -> subprocess.Popen[bytes]:
        """A worker that has a run, as soon as there is one."""
        self._wait(lambda: bool(self.children()))
        return next(each for each in self.workers if harness.children_of_harness(each.pid))

    def wait_until_idle(self) -> None:
        """Wait until no worker has a run."""
        self._wait(lambda: not self.children())

    def close(self) -> None:
        """End all of it."""
        for each in (*self.workers, self._scheduler):
            each.kill()
            each.wait()

    def _start(self, what: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", what, *arguments]
        # The suite must be found by the worker, as where it is installed.
        environment = {**os.environ, "PYTHONPATH": self.path}
        log = (self.folder / f"{what}-{self._count}.log").open("wb")
        with log:
            return subprocess.Popen(
                command, cwd=self.folder, env=environment, stdout=log, stderr=log
            )

    def _wait(self, reached: object) -> None:
        assert callable(reached)
        end = time.monotonic() + PATIENCE_S
        while not reached():
            assert time.monotonic() < end, "the processes of Dask hang"
            time.sleep(0.05)
