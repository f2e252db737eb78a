"""Folders of runs whose harness was killed: found by the number in their name, and removed."""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

import psutil

from bench import cgroups

_NAME = re.compile(r"placebench-run-(\d+)-.+")


def make_folder() -> str:
    """A new folder for a run of this harness."""
    return tempfile.mkdtemp(prefix=f"placebench-run-{os.getpid()}-")


def remove_stale() -> list[Path]:
    """Remove the folders (and control groups) of dead harnesses, if they are ours; returns them."""
    removed = cgroups.remove_stale()
    for path in Path(tempfile.gettempdir()).glob("placebench-run-*"):
        match = _NAME.fullmatch(path.name)
        if match is None or psutil.pid_exists(int(match[1])):
            continue
        with suppress(FileNotFoundError):  # another harness removes it, too
            found = path.lstat()
            if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid():
                shutil.rmtree(path, ignore_errors=True)
                removed.append(path)
    return removed
