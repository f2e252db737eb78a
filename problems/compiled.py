"""Where compiled code is kept on disk, so that nobody runs what was compiled from other sources.

Numba compiles a function anew when its own file changes, and not when one of the helpers does that
it has taken in from another file. So the folder of its cache is named after the contents of every
file with compiled code: an edit, or another version of the suite, starts an empty one.
"""

from __future__ import annotations

import math
import os
import shutil
import sys
import tempfile
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("problems", "solvers", "heuristics")
VARIABLE = "NUMBA_CACHE_DIR"
REHEARSAL = 20
"""Nodes of the instance that methods are run on before the clock starts. Up to that size, parts
that are to be compiled by then run even where there is nothing to gain."""
PATIENCE_S = 60.0
"""Seconds to wait for another to compile: one that fails has its turn while its process lives."""
KEPT = 3
"""Folders that stay, newest first: those of a few branches."""


def digest(root: Path = ROOT) -> str:
    """SHA-256 of all sources with compiled code, and of the interpreter's version."""
    state = sha256(sys.version.encode())
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            text = path.read_bytes()
            if b"njit" in text or b"by_reference" in text:
                state.update(str(path.relative_to(root)).encode() + b"\0" + text + b"\0")
    return state.hexdigest()


def keep_apart(root: Path = ROOT) -> None:
    """Name the cache's folder for this process and its children, unless the user has named one.

    In a checkout that cannot be written to it is one of the user's own among temporary files: numba
    refuses to load compiled functions where it finds no place for them.
    """
    if os.environ.get(VARIABLE):
        return
    name = digest(root)[:16]
    temporary = Path(tempfile.gettempdir()) / f"placebench-{os.getuid()}"
    folder = _made(root / ".compiled" / name) or _made(temporary / name, private=True)
    if folder is None:
        return
    os.environ[VARIABLE] = str(folder)
    if "numba" in sys.modules:  # it has read its settings already
        sys.modules["numba"].config.CACHE_DIR = str(folder)


def _made(folder: Path, private: bool = False) -> Path | None:
    """Make a folder for code, and leave only the newest beside it; None where that cannot be.

    Parameters
    ----------
    private : bool
        Nobody else may have been able to put code there.
    """
    try:
        folder.parent.mkdir(mode=0o700 if private else 0o777, exist_ok=True)
        folder.mkdir(exist_ok=True)
        above = folder.parent.lstat()
        if private and (above.st_uid != os.getuid() or above.st_mode & 0o077):
            return None
        if not os.access(folder, os.W_OK | os.X_OK):
            return None
        others = sorted(folder.parent.iterdir(), key=lambda each: each.stat().st_mtime)
        for old in others[:-KEPT]:
            if old != folder:
                shutil.rmtree(old, ignore_errors=True)
    except OSError:
        return None
    return folder


def take_turns() -> None:
    """Let one process at a time compile a function, and one save it; for once numba is imported.

    Who wants it meanwhile waits, and loads what the other has saved: on a fresh machine several
    runs begin at once with the same compilations. Two that save the same function for different
    types would give both the same file, so that the index may then promise for the one what was
    compiled for the other.
    """
    from numba.core import caching  # slow to load

    file = caching.IndexDataCacheFile
    if getattr(file.save, "in_turn", False):
        return
    load, save = file.load, file.save
    turns: dict[str, int] = {}  # locks that this process has while it compiles, by index

    def load_in_turn(self: Any, key: Any) -> Any:
        found = load(self, key)
        if found is None and self._index_path not in turns:
            turns[self._index_path] = _locked(f"{self._index_path}.turn", PATIENCE_S)
            found = load(self, key)
            if found is not None:
                os.close(turns.pop(self._index_path))
        return found

    def save_in_turn(self: Any, key: Any, data: Any) -> None:
        alone = _locked(f"{self._index_path}.lock", math.inf)
        try:
            save(self, key, data)
        finally:
            os.close(alone)
            if self._index_path in turns:
                os.close(turns.pop(self._index_path))

    save_in_turn.in_turn = True  # type: ignore[attr-defined]
    file.load, file.save = load_in_turn, save_in_turn


def _locked(path: str, patience_s: float) -> int:
    """Wait until no other process has a file locked; to close the descriptor lets others go on."""
    import fcntl  # not everywhere

    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    until = time.monotonic() + patience_s
    while time.monotonic() < until:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            time.sleep(0.02)
    return descriptor
