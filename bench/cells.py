"""Cells of a store: whether their records can be put there, and which harness runs one now."""

from __future__ import annotations

import errno
import fcntl
import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

ROOM_BYTES = 16 << 20
"""Free space below which no run is started: records and answers of those under way need some."""
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM)
"""What no other run in this store would fare better with."""
IN_PLACE = (errno.EISDIR, errno.ENOTDIR, errno.EEXIST, errno.ENOTEMPTY)
"""What is wrong with one place only: something else lies there."""
_PARTS = ("records", "answers", "environments", "locks")
_PROBE = bytes(64 << 10)


def check_store(root: Path, keys: Iterable[str]) -> None:
    """See that records with these keys can be put into a store, before anything is run for it.

    Raises
    ------
    OSError
        If not; it names the folder: read-only, another user's, or without room.
    """
    for folder in (root, *(root / part for part in _PARTS)):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder) as file:
                file.write(_PROBE)
                file.flush()
                os.fsync(file.fileno())
        except FileExistsError as error:
            raise OSError(error.errno, "is not a folder", str(folder)) from None
        except OSError as error:
            why = f"cannot be written to: {error.strerror}"
            raise OSError(error.errno, why, str(folder)) from None
    shelves = {root / "records" / key[:2] for key in keys} | set((root / "answers").glob("??"))
    for shelf in sorted(shelves):
        if shelf.is_dir() and not os.access(shelf, os.W_OK | os.X_OK, effective_ids=True):
            raise OSError(errno.EACCES, "cannot be written to: another user's?", str(shelf))
    check_room(root)


def check_room(root: Path) -> None:
    """See that there is room for one more run.

    Raises
    ------
    OSError
        If not; it names the store.
    """
    found = os.statvfs(root)
    free = found.f_bavail * found.f_frsize
    if free < ROOM_BYTES:
        raise OSError(
            errno.ENOSPC,
            f"has only {free / 2**20:.1f} MiB left: make room, and the same command goes on from"
            " what is finished",
            str(root),
        )


def tidy(root: Path, key: str) -> None:
    """Remove what a killed harness has left of a cell whose record it had stored."""
    with suppress(OSError):
        if (root / "locks" / key).exists() and (left := Claim.on(root, key)) is not None:
            left.release()


class Claim:
    """A cell that is this harness's to run, until :meth:`release` or the end of the process.

    Two harnesses on one store so do not run the same cell twice. It is a lock of the kernel's on a
    file of the store; where the file system has none, both simply run it.
    """

    def __init__(self, descriptor: int | None, path: Path) -> None:
        self._descriptor = descriptor
        self._path = path

    @classmethod
    def on(cls, root: Path, key: str) -> Claim | None:
        """Claim a cell; None while another has it."""
        path = root / "locks" / key
        while True:
            path.parent.mkdir(parents=True, exist_ok=True)
            # For reading: the file may be of another user, who was killed and left it.
            descriptor = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(descriptor)
                return None
            except OSError:  # no locks on this file system
                os.close(descriptor)
                return cls(None, path)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.stat(path), os.fstat(descriptor)):
                    return cls(descriptor, path)
            os.close(descriptor)  # its holder has removed it between the two calls

    def release(self) -> None:
        """Let others have it."""
        with suppress(OSError):
            self._path.unlink()
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
