"""Resolved instances on their way to the process of a run: sealed memory, verified when read.

Private to one run: no other process can write what is sealed, and no file is left to be found.
Files that last are bundles.
"""

from __future__ import annotations

import fcntl
import os
import pickle
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields

import msgspec
import numpy as np

from problems import rules
from problems.instance import Instance

_SEALS = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
_TRIES = 20


def packed(instance: Instance) -> bytes:
    """An instance as bytes, for a process of this suite only: they are a pickle."""
    content = {each.name: getattr(instance, each.name) for each in fields(instance)}
    # Parsed anew on the other side: msgspec tells a default by identity, which pickling loses,
    # and the digest rests on it.
    content["rules"] = msgspec.to_builtins(instance.rules)
    return pickle.dumps(content, protocol=5)


def unpacked(data: bytes, digest: str) -> Instance:
    """The instance in `data`, with read-only arrays.

    Raises
    ------
    ValueError
        If its content does not have the expected digest.
    """
    content = pickle.loads(data)
    for value in content.values():
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
    content["rules"] = rules.parse(content["problem"], content["rules"])
    instance = Instance(**content)
    if instance.digest != digest:
        raise ValueError(f"the instance that was handed over does not have the digest {digest}")
    return instance


@contextmanager
def handed_over(instance: Instance) -> Iterator[int]:
    """Descriptor of sealed memory that holds an instance, for a child to inherit."""
    descriptor = _sealed(packed(instance))
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _sealed(data: bytes) -> int:
    """Descriptor of memory that holds `data` and that nobody can change.

    Raises
    ------
    OSError
        If another process keeps writing to it before it is sealed.
    """
    for _ in range(_TRIES):
        descriptor = os.memfd_create("placebench", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        with open(descriptor, "w+b", closefd=False) as file, suppress(OSError):
            file.write(data)
            file.flush()
            fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEALS)  # busy while it is mapped elsewhere
            # A method of another run may have found it, and written to it, in the meantime.
            file.seek(0)
            if file.read() == data:
                return descriptor
        os.close(descriptor)
    raise OSError("the memory that carries the instance is written to by another process")


def read_instance(descriptor: int, digest: str) -> Instance:
    """Read an instance with read-only arrays and close the descriptor.

    Raises
    ------
    ValueError
        If its content does not have the expected digest.
    """
    # The offset of an inherited descriptor is shared: read from the start, not from where it is.
    os.lseek(descriptor, 0, os.SEEK_SET)
    with open(descriptor, "rb") as file:
        return unpacked(file.read(), digest)
