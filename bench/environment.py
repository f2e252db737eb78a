"""Where a batch of runs took place, and how noisy it was there."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import statistics
import subprocess
import sys
import time
import tomllib
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import psutil

from bench import cgroups

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = (
    "numpy", "scipy", "numba", "networkx", "highspy", "pyscipopt", "ortools", "pyomo", "kahip",
    "pymetis", "scotchpy64", "torch", "msgspec", "psutil",
)  # fmt: skip
CALIBRATION_REPEATS = 8
_CALIBRATION_STEPS = 400_000


def suite_version() -> str:
    """Version of the suite: of the installed package, else of the checkout."""
    try:
        return importlib.metadata.version("placebench")
    except importlib.metadata.PackageNotFoundError:
        text = (ROOT / "pyproject.toml").read_text()
        return str(tomllib.loads(text)["project"]["version"])


def python_version() -> str:
    """Implementation and version of Python: ``CPython 3.11``."""
    return f"{platform.python_implementation()} {sys.version_info[0]}.{sys.version_info[1]}"


@cache
def sources() -> str:
    """SHA-256 of the suite's own source files: what a version alone does not tell."""
    state = sha256()
    for package in ("problems", "solvers", "heuristics", "bench"):
        for path in sorted((ROOT / package).rglob("*.py")):
            state.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes() + b"\0")
    return state.hexdigest()


_CHANGED = ("status", "--porcelain", "--untracked-files=no")


def describe() -> dict[str, Any]:
    """Describe this machine and what is installed, as a record's environment says it."""
    return {
        "format": "placebench-environment/1",
        "suite": suite_version(),
        "cpu": _cpu_name(),
        "cores": psutil.cpu_count(logical=False),
        "threads": psutil.cpu_count(),
        "usable_threads": len(os.sched_getaffinity(0)),
        "memory_bytes": psutil.virtual_memory().total,
        "os": platform.platform(),
        "cgroup": cgroups.describe(),
        "python": platform.python_version(),
        "packages": {name: version for name in PACKAGES if (version := _version(name))},
        "git_commit": _git("rev-parse", "HEAD"),
        # Untracked files are stores of runs, or methods, whose content is part of a record's key.
        "git_dirty": None if (status := _git(*_CHANGED)) is None else bool(status),
    }


def calibrate() -> dict[str, float]:
    """Time one fixed computation several times, about 0.2 s in all.

    Returns
    -------
    dict
        ``min_s``, ``median_s``, ``max_s``: how far they lie apart, and how far they move between
        the start and the end of a batch, says how noisy the machine was.
    """
    times: list[float] = []
    for _ in range(CALIBRATION_REPEATS):
        began = time.perf_counter()
        fixed_work()
        times.append(time.perf_counter() - began)
    return {
        "min_s": min(times),
        "median_s": statistics.median(times),
        "max_s": max(times),
    }


def after(name: str, calibration: dict[str, float]) -> dict[str, Any]:
    """Description of what the machine of an environment was like when a batch had ended."""
    return {
        "format": "placebench-environment-after/1",
        "environment": name,
        "calibration": calibration,
    }


def fixed_work() -> int:
    """Compute something that takes the same work each time, some 20 ms."""
    state = 1
    for _ in range(_CALIBRATION_STEPS):
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
    return state


def _cpu_name() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    for line in lines:
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _git(*arguments: str) -> str | None:
    """Output of git in the checkout; None outside one or without git."""
    try:
        done = subprocess.run(
            ["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, timeout=30
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
