"""Typed files: JSON, gzipped where the name ends in ``.gz``, with errors that name the place.

Every file of the suite goes through :func:`read` and :func:`write`, so that a wrong field is
reported once, with the file and the path inside it.
"""

from __future__ import annotations

import errno
import gzip
import io
import json
import os
import re
import stat
import tempfile
import zlib
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")
LARGEST = 2**30
"""Bytes that a packed file may unpack to: over ten times the largest instance here."""
_PART = 2**20


class FileError(ValueError):
    """A file that cannot be used; the message names the file and the place inside it."""


def read(path: str | Path, kind: type[T]) -> T:
    """Read a typed file.

    Parameters
    ----------
    path : str or Path
        A ``.json`` file, or ``.json.gz``.
    kind : type
        The msgspec struct that the file holds.

    Raises
    ------
    FileError
        If the file is missing, is not JSON, or does not fit `kind`.
    """
    path = Path(path)
    try:
        data = contents(path)
        if path.name.endswith(".gz"):
            data = unpacked(data)
    except (OSError, EOFError, zlib.error) as error:
        raise FileError(f"{path}: cannot be read: {plainly(error)}") from None
    return decode(data, kind, str(path))


def plainly(error: BaseException) -> str:
    """What went wrong, without the number and the path that an OSError's text has around it."""
    return (isinstance(error, OSError) and error.strerror) or str(error)


def contents(path: Path) -> bytes:
    """The bytes of a file, and of a file only: a pipe or a device would be waited for, or not end.

    Raises
    ------
    OSError
        If it is none, or cannot be read.
    """
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        mode = os.fstat(file.fileno()).st_mode
        if stat.S_ISDIR(mode):
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "is not a regular file", str(path))
        return file.read()


def require_file(path: Path, kind: str) -> None:
    """See that a file is there before it is read.

    Parameters
    ----------
    kind : str
        What it should be, for the message.

    Raises
    ------
    FileError
        If it is not, or is a folder, a pipe or a device.
    """
    if path.is_dir():
        raise FileError(f"{str(path)!r} is a folder, not {kind}")
    if not path.is_file():
        if path.exists():
            raise FileError(f"{str(path)!r} is not a regular file")
        lost = path.is_symlink()
        raise FileError(f"{str(path)!r} is a link to nothing" if lost else f"no file {str(path)!r}")


def unpacked(data: bytes) -> bytes:
    """The content of a gzip file in memory, however many members it has.

    Raises
    ------
    OSError, EOFError, zlib.error
        If it is none, is cut off, or holds more than :data:`LARGEST`: a file of a few kilobytes can
        unpack to more than any memory.
    """
    whole = bytearray()
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
        while part := file.read(_PART):
            whole += part
            if len(whole) > LARGEST:
                raise OSError(f"unpacks to more than {LARGEST / 2**20:g} MiB")
    return bytes(whole)


def decode(data: bytes | str, kind: type[T], where: str) -> T:
    """Decode JSON into `kind`; `where` is how errors name the source.

    Raises
    ------
    FileError
        If the data is not JSON or does not fit `kind`.
    """
    try:
        return msgspec.json.decode(data, type=kind)
    except RecursionError:
        raise FileError(f"{where}: nested too deeply") from None
    except msgspec.ValidationError as error:
        message = _newer(str(error)) or _with_keys(data, kind, str(error))
        raise FileError(f"{where}: {message}") from None
    except ValueError as error:  # DecodeError and bad UTF-8
        raise FileError(f"{where}: {error}") from None


def _newer(message: str) -> str:
    """What to say of a file that states a format which this version does not know; else empty."""
    found = re.fullmatch(r"Invalid enum value '(placebench-[\w-]+/\d+)' - at `\$\.format`", message)
    return f"format {found[1]}: written by another, probably newer, version" if found else ""


def _with_keys(data: bytes | str, kind: type, message: str) -> str:
    """Name the keys that msgspec leaves out: ``$.times[...][0]`` says only "of some key".

    The key is the one that fails when it is left alone in its mapping.
    """
    what, at, path = message.partition(" - at `")
    while "[...]" in path:
        before, _, after = path.partition("[...]")
        whole = json.loads(data)
        parent: Any = None
        inside = whole
        for step in re.findall(r"\.(\w+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]", before):
            last = int(step[1]) if step[1] else step[0] or step[2]
            parent, inside = inside, inside[last]
        for key, value in inside.items():
            alone = {key: value}
            if parent is None:
                whole = alone
            else:
                parent[last] = alone
            try:
                msgspec.convert(whole, kind)
            except msgspec.ValidationError as error:
                if str(error).partition(" - at `")[0] == what:
                    path = f"{before}[{key!r}]{after}"
                    break
        else:
            return message  # several things are wrong at once: what msgspec said is true still
    return f"{what}{at}{path}"


def write(path: str | Path, value: Any) -> None:
    """Write `value` to `path` whole or not at all, in a form that is the same on every machine."""
    path = Path(path)
    text = msgspec.json.format(encode(value), indent=1)
    data = text + b"\n"
    if path.name.endswith(".gz"):
        data = gzip.compress(data, 9, mtime=0)
    write_atomically(path, data)


def encode(value: Any) -> bytes:
    """Canonical JSON: compact, keys of mappings sorted, NaN and infinity refused."""
    plain = msgspec.to_builtins(value)
    return json.dumps(plain, separators=(",", ":"), sort_keys=True, allow_nan=False).encode()


def content_digest(path: Path) -> str:
    """SHA-256 of a file's content after decompression: gzip itself may differ between machines."""
    data = contents(path)
    return sha256(gzip.decompress(data) if path.name.endswith(".gz") else data).hexdigest()


def write_atomically(path: Path, data: bytes) -> None:
    """Replace `path` by `data` so that a reader sees the old or the new file, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        _replace(path, data)
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise
        # A full disk is met while writing, where Python names no file.
        raise OSError(error.errno, error.strerror, str(path)) from None


def _replace(path: Path, data: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
