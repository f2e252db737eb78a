"""Resolved instances on their way to the process of a run: written once, read and verified there.

Private to one batch on one machine; files that last are bundles.
"""

from __future__ import annotations

import pickle
from dataclasses import fields
from pathlib import Path
from threading import get_ident

import msgspec
import numpy as np

from problems import rules
from problems.instance import Instance


def write_instance(instance: Instance, folder: Path) -> Path:
    """Write an instance under its digest; keeps a file that is there."""
    path = folder / f"{instance.digest}.pickle"
    if not path.exists():
        content = {each.name: getattr(instance, each.name) for each in fields(instance)}
        # Parsed anew on the other side: msgspec tells a default by identity, which pickling loses,
        # and the digest rests on it.
        content["rules"] = msgspec.to_builtins(instance.rules)
        partial = path.with_suffix(f".{get_ident()}")
        partial.write_bytes(pickle.dumps(content, protocol=5))
        partial.replace(path)
    return path


def read_instance(path: Path, digest: str) -> Instance:
    """Read an instance with read-only arrays.

    Raises
    ------
    ValueError
        If its content does not have the expected digest.
    """
    content = pickle.loads(path.read_bytes())
    for value in content.values():
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
    content["rules"] = rules.parse(content["problem"], content["rules"])
    instance = Instance(**content)
    if instance.digest != digest:
        raise ValueError(f"{path}: the instance does not have the digest {digest}")
    return instance
