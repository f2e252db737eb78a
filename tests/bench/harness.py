"""What the tests of the harness share; not a test module."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import psutil

from bench import torture
from bench.entries import Entry
from bench.records import Record, Store
from bench.suite import run_suite
from problems.generate.random import random_bundle
from problems.instance import Instance
from problems.resolve import from_bundle

ROOT = Path(__file__).resolve().parents[2]
MISBEHAVING = Path(__file__).with_name("misbehaving.py")


def instance(problem: str = "throughput", **options) -> Instance:
    return from_bundle(random_bundle(1, n=8, problem=problem, **options))


def entries(*names: str) -> list[Entry]:
    """Misbehaving entries; all of them without names."""
    found = torture.entries()
    return [found[name] for name in names or found]


def run(store: Path, *names: str, problem: str = "throughput", **options) -> dict[str, Record]:
    """Run methods of the misbehaving file; records by method."""
    options = {"time_limit_s": 0.5, "jobs": 2, **options}
    done = run_suite([instance(problem)], entries(*names), store=Store(store), **options)
    return {record.method: record for record in done}


def start(command: list[str], **options: Any) -> subprocess.Popen[str]:
    """Start a process that signals end, also where this one was told to ignore them.

    Whoever starts the tests in the background of a script has interrupts ignored, ``nohup`` has
    hang-ups, and children inherit.
    """

    def listen() -> None:
        for each in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
            signal.signal(each, signal.SIG_DFL)

    return subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, preexec_fn=listen, **options
    )


def printed_pids(record: Record) -> list[int]:
    return [int(pid) for pid in re.findall(r"^pid (\d+)$", record.log, re.MULTILINE)]


def is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def children_of_harness(pid: int) -> list[int]:
    """Living processes that a harness of that number has started."""
    found = []
    for each in filter(str.isdigit, os.listdir("/proc")):
        try:
            environment = Path("/proc", each, "environ").read_bytes()
        except OSError:
            continue
        if f"PLACEBENCH_SUPERVISOR={pid}\0".encode() in environment and is_alive(int(each)):
            found.append(int(each))
    return found
