"""What happens on a Dask worker: a job comes as plain bytes, is run as anywhere, and goes back.

Nothing here is shared with the client but the network: the instance and the file of a stranger's
method travel with the job, records and answers travel back as JSON, which the client reads with its
types and judges again. Dask finds these functions by name, so that the suite has to be installed
where a worker runs.
"""

from __future__ import annotations

import os
import shutil
import socket
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench import environment, machine
from bench.entries import Entry
from bench.job import Job, StoppedError, run_one
from bench.leftovers import make_folder, remove_stale
from bench.transport import unpacked
from problems.files import encode
from problems.instance import Instance

KEPT_INSTANCES = 8
WATCH_S = 0.25
# What `dask worker` sets for itself, and what would change the speed of the measured process.
_DASKS_OWN = ("MALLOC_TRIM_THRESHOLD_",)


@dataclass(frozen=True)
class Parcel:
    """A job on its way to a worker.

    Attributes
    ----------
    digest : str
        Of the instance.
    instance : bytes or None
        Its content (:func:`bench.transport.packed`); None where the worker has it already.
    entry : dict
        Fields of the entry; `file` is the name of the method's file, without folders.
    content : bytes or None
        The method's file, of which the entry's `source` is the digest; None where it has none.
    job : dict
        The other fields of the job.
    """

    digest: str
    instance: bytes | None
    entry: dict[str, Any]
    content: bytes | None
    job: dict[str, Any]


@dataclass(frozen=True)
class Returned:
    """A run on its way back: record and answer as JSON; `lacks` the instance, or was `stopped`."""

    record: bytes = b""
    answer: bytes | None = None
    lacks: bool = False
    stopped: bool = False


_instances: OrderedDict[str, Instance] = OrderedDict()
_running: dict[str, threading.Event] = {}
_lock = threading.Lock()


def identify() -> dict[str, Any]:
    """What a worker is: only what any version of the suite and of Python can read."""
    return {
        "suite": environment.suite_version(),
        "sources": environment.sources(),
        "python": environment.python_version(),
        "host": f"{socket.gethostname()} {_boot()}",
        "cores": sorted(os.sched_getaffinity(0)),
        "quota": machine.cpu_quota(),
    }


def describe() -> dict[str, Any]:
    """Describe this worker's machine, with a calibration; to be run in a slot, beside nothing."""
    remove_stale()
    return {**environment.describe(), "calibration": environment.calibrate()}


def run(parcel: Parcel) -> Returned:
    """Run one job; it is ended when Dask does not want it any more."""
    instance = _instance(parcel)
    if instance is None:
        return Returned(lacks=True)
    for name in _DASKS_OWN:
        os.environ.pop(name, None)
    with _method_file(parcel) as entry, _watched() as stop:
        job = Job(instance, entry, **parcel.job)
        try:
            record, answer = run_one(job, stop)
        except StoppedError:
            return Returned(stopped=True)
    return Returned(encode(record), None if answer is None else encode(answer))


async def settle(within_s: float, prefix: str) -> int:
    """End the runs whose keys begin with `prefix`; returns how many have not gone in time."""
    import asyncio  # in Dask's own loop

    end = time.monotonic() + within_s
    while mine := [stop for key, stop in list(_running.items()) if key.startswith(prefix)]:
        for stop in mine:
            stop.set()
        if time.monotonic() > end:
            break
        await asyncio.sleep(0.02)
    return len(mine)


def _instance(parcel: Parcel) -> Instance | None:
    with _lock:
        if parcel.instance is not None and parcel.digest not in _instances:
            _instances[parcel.digest] = unpacked(parcel.instance, parcel.digest)
            while len(_instances) > KEPT_INSTANCES:
                _instances.popitem(last=False)
        if parcel.digest in _instances:
            _instances.move_to_end(parcel.digest)
        return _instances.get(parcel.digest)


@contextmanager
def _method_file(parcel: Parcel) -> Iterator[Entry]:
    """The entry, with its file, if it has one, in a folder of its own."""
    entry = Entry(**parcel.entry)
    if entry.file is None or parcel.content is None:
        yield entry
        return
    folder = make_folder()
    try:
        path = Path(folder, Path(entry.file).name)
        path.write_bytes(parcel.content)
        yield replace(entry, file=str(path))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _watched() -> Iterator[threading.Event]:
    """An event that is set once Dask has cancelled the task, or lost the client who wanted it."""
    import distributed  # only where it is running already

    worker, stop, over = distributed.get_worker(), threading.Event(), threading.Event()
    key = str(worker.get_current_task())

    def watch() -> None:
        while not over.wait(WATCH_S):
            with suppress(RuntimeError):  # the mapping changed while it was read
                task = worker.state.tasks.get(key)
                if task is None or task.state not in ("executing", "long-running"):
                    stop.set()

    _running[key] = stop
    threading.Thread(target=watch, daemon=True, name="placebench-watch").start()
    try:
        yield stop
    finally:
        over.set()
        _running.pop(key, None)


def _boot() -> str:
    """What tells two machines of one name apart."""
    path = Path("/proc/sys/kernel/random/boot_id")
    return path.read_text().strip() if path.exists() else ""
