"""Lower bounds on file: what took a search is kept by digest, and read instead of searched again.

``results/bounds/bounds.jsonl`` of the checkout, one instance a line, sorted by digest. A value on
file counts only while its bound is registered under the same version: a changed proof voids it.
`placebench bounds INSTANCE --search --seconds N --fresh` computes anew what is there.
"""

from __future__ import annotations

import fcntl
import math
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from bench import bks
from problems.bounds.registry import REGISTRY, Bound
from problems.bounds.theoretical import Theoretical, theoretical
from problems.catalogue import CatalogueEntry
from problems.files import FileError, decode, encode, write_atomically
from problems.instance import Instance
from problems.single import best_single


class Stored(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One bound of one instance.

    Attributes
    ----------
    name, version : str, int
        Of the bound in the registry.
    value : float
        Seconds, rounded down.
    seconds : float
        What it took.
    limit_s : float
        What it was allowed to take; 0 where it does not search.
    note : str
        Why it holds.
    """

    name: str
    version: int
    value: float
    seconds: float
    limit_s: float = 0.0
    note: str = ""

    def __post_init__(self) -> None:
        # A file that anyone can edit: what is no time is no bound.
        if not 0 <= self.value < float("inf"):
            raise ValueError(f"{self.value} is no time in seconds")

    @property
    def current(self) -> bool:
        """Whether the bound is still what it was."""
        return self.name in REGISTRY and REGISTRY[self.name].version == self.version

    def can_be(self, single: float) -> bool:
        """Whether the value may be used unseen.

        A file that anyone can edit: no bound is above what one device alone needs, `single`
        seconds, and what is cheap is computed rather than believed.
        """
        return REGISTRY[self.name].effort == "search" and self.value <= single * (1 + bks.CLOSED)

    @property
    def bound(self) -> Bound:
        """As the registry gives it."""
        return Bound(self.name, self.value, self.seconds, self.note)


class Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The bounds of one instance on file."""

    digest: str
    instance: str
    bounds: list[Stored]


@dataclass(frozen=True)
class Store:
    """What is on file.

    Attributes
    ----------
    lines : mapping of str to Line
        By digest; only bounds of the registered versions.
    faults : sequence of str
        Lines that are broken, one message each with its place; they count for nothing.
    """

    lines: Mapping[str, Line] = field(default_factory=dict)
    faults: Sequence[str] = ()

    def of(self, digest: str) -> dict[str, Stored]:
        """Name -> what is on file for an instance."""
        line = self.lines.get(digest)
        return {each.name: each for each in line.bounds} if line else {}

    def theoretical(self, instance: Instance) -> Theoretical:
        """The bounds of an instance: searched ones from the file, cheap ones computed now."""
        single = best_single(instance)
        most = math.inf if single is None else single[1]
        found = self.of(instance.digest).values()
        return theoretical(instance, known=[each.bound for each in found if each.can_be(most)])

    def of_instance(self, instance: Instance) -> tuple[float, bks.Claim | None]:
        """Largest cheap bound, computed now, in seconds, and the largest searched one on file."""
        single = best_single(instance)
        names = {name for name, each in REGISTRY.items() if each.valid_for(instance) is None}
        most = math.inf if single is None else single[1]
        return theoretical(instance).value, self._largest(instance.digest, most, names)

    def searched(self, entries: Iterable[CatalogueEntry]) -> dict[str, bks.Claim]:
        """Digest -> the largest bound on file that took a search; only where there is one."""
        found = {}
        for entry in entries:
            if entry.digest not in self.lines:
                continue
            names = {n for n, b in REGISTRY.items() if b.covers(entry.problem, entry.rules)}
            most = math.inf if entry.best_single_s is None else entry.best_single_s
            claim = self._largest(entry.digest, most, names)
            if claim is not None:
                found[entry.digest] = claim
        return found

    def _largest(self, digest: str, most: float, names: Collection[str]) -> bks.Claim | None:
        """As a claim, by method, limit and version: it is believed no further than that."""
        usable = [e for e in self.of(digest).values() if e.name in names and e.can_be(most)]
        best = max(usable, key=lambda each: (each.value, each.name), default=None)
        if best is None:
            return None
        return bks.Claim("bound", best.value, best.name, limit_s=best.limit_s, version=best.version)


def recomputed(entries: Iterable[CatalogueEntry]) -> dict[str, float]:
    """Digest -> largest cheap bound in seconds, as the catalogue has it.

    ``make library`` computes these, and ``placebench bks verify --bounds`` computes them again.
    """
    return {entry.digest: entry.lower_bound_s for entry in entries}


def path() -> Path:
    """The file."""
    return bks.RESULTS / "bounds" / "bounds.jsonl"


_read: dict[tuple[Path, int, int, int], Store] = {}


def load() -> Store:
    """Read the file; nothing is on file where there is none.

    Raises
    ------
    FileError
        If it is there and cannot be read.
    """
    place = path()
    try:
        found = place.stat()
        key = (place, found.st_ino, found.st_mtime_ns, found.st_size)
        if key not in _read:
            _read.clear()
            _read[key] = _parse(place.read_bytes(), place)
        return _read[key]
    except FileNotFoundError:
        return Store()
    except OSError as error:
        raise FileError(f"{place}: cannot be read: {error.strerror}") from None


def _parse(data: bytes, place: Path) -> Store:
    lines: dict[str, Line] = {}
    faults = []
    for i, text in enumerate(data.splitlines()):
        if not text.strip():
            continue
        try:
            line = decode(text, Line, f"{place}:{i + 1}")
        except FileError as error:
            faults.append(str(error))
            continue
        current = [each for each in line.bounds if each.current]
        lines[line.digest] = msgspec.structs.replace(line, bounds=current)
    return Store(lines, faults)


def save(instance: Instance, bounds: Iterable[Stored]) -> None:
    """Add bounds of an instance.

    Of two searched ones under one name and version the larger one stays: a search that was cut
    short has only not got there. A cheap one takes the place of what was there.

    The file is replaced whole, and processes wait for one another: none loses what another saved.
    Lines that are broken are left out from then on.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    place = path()
    with _alone(place):
        before = load()
        merged = before.of(instance.digest)
        for each in bounds:
            known = merged.get(each.name)
            cheap = REGISTRY[each.name].effort == "cheap"
            if known is None or cheap or each.value >= known.value:
                merged[each.name] = each
        line = Line(instance.digest, instance.id, [merged[name] for name in sorted(merged)])
        lines = {**before.lines, instance.digest: line}
        write_atomically(place, b"".join(encode(lines[d]) + b"\n" for d in sorted(lines)))


@contextmanager
def _alone(place: Path) -> Iterator[None]:
    """Hold the folder's lock; a killed process lets go of it."""
    place.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(place.parent, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
