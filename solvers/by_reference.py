"""Bundles of arrays that compiled code takes by reference: one pointer, not hundreds of values.

Numba passes a named tuple field by field and counts a reference to each array at every call, which
for bundles of dozens of arrays takes most of a short move's time, and of the compiler's.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, TypeVar

from numba import njit, types
from numba.experimental import structref

Tuple = TypeVar("Tuple", bound=tuple[Any, ...])


def by_reference(cls: type[Tuple]) -> type[Tuple]:
    """Let compiled code take instances of a named tuple's class by reference.

    Instances have the fields as attributes, here and in compiled code, and are iterable, but they
    are no tuples. Arrays are shared; fields are never set again.
    """
    module = sys.modules[cls.__module__]
    kind = type(f"{cls.__name__}Type", (types.StructRef,), {"__module__": cls.__module__})
    setattr(module, kind.__name__, kind)  # caches on disk look for it by its name
    structref.register(kind)
    fields = list(cls._fields)  # type: ignore[attr-defined]

    class Bundle(structref.StructRefProxy):  # type: ignore[misc]
        def __new__(bundle, *values: Any, **named: Any) -> Any:
            given = cls(*values, **named)
            # As a plain tuple: caches would not know its own class again, for it is hidden.
            self = make(tuple(given))
            self.__dict__.update(zip(fields, given, strict=True))
            return self

        def __iter__(self) -> Iterator[Any]:
            return (getattr(self, name) for name in fields)

        def _replace(self, **changes: Any) -> Any:
            return Bundle(**{name: getattr(self, name) for name in fields} | changes)

    for name in ("__name__", "__qualname__", "__module__", "__doc__"):
        setattr(Bundle, name, getattr(cls, name))
    structref.define_constructor(Bundle, kind, fields)
    structref.define_boxing(kind, Bundle)

    def build(values):  # type: ignore[no-untyped-def]
        return Bundle(*values)

    # A file of its own in the cache for every class: reading one imports all classes named there.
    build.__qualname__ = f"{cls.__module__}.{cls.__name__}".replace(".", "_")
    make = njit(cache=True)(build)
    return Bundle
