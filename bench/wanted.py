"""Which instances records may be of: those of the library, and files that a selection names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from bench import verify
from bench.leaderboard import gather
from bench.leaderboard.gather import Known, Source
from bench.selection import load, select
from problems.catalogue import CatalogueEntry, Library
from problems.instance import Instance


@dataclass(frozen=True)
class Wanted:
    """What ``-i`` asks for, told by digest.

    Attributes
    ----------
    digests : set of str or None
        Of the selected instances; None where nothing was selected, which is everything.
    outside : mapping of str to Instance
        Those of them that are not in the library.
    """

    library: Library
    digests: set[str] | None = None
    outside: Mapping[str, Instance] = field(default_factory=dict)

    @staticmethod
    def of(texts: Sequence[str], library: Library) -> Wanted:
        """Read a selection.

        Raises
        ------
        SelectionError
            If it selects nothing.
        """
        if not texts:
            return Wanted(library)
        selected = select(texts, library)
        inside = {each.entry.digest for each in selected if each.entry is not None}
        loaded = [load(each, library) for each in selected if each.entry is None]
        outside = {instance.digest: instance for instance in loaded}
        return Wanted(library, inside | outside.keys(), outside)

    def of_source(self, source: Source) -> Source:
        """The source with the records of these instances only."""
        if self.digests is None:
            return source
        kept = [record for record in source.records if record.digest in self.digests]
        return replace(source, records=kept)

    def checked(self, source: Source) -> Source:
        """The source with every record set aside that its stored answer does not bear out.

        Raises
        ------
        FileError
            If the answers are missing.
        """
        verify.require_answers(source.records, source.store, source.name)
        return gather.rechecked(source, self.find)

    def known(self, known: Known) -> Known:
        """What is known, of these instances too."""
        for instance in self.outside.values():
            known = known.with_instance(instance)
        return known

    @cached_property
    def entries(self) -> dict[str, CatalogueEntry]:
        """The whole library by digest."""
        return {entry.digest: entry for entry in self.library.entries()}

    def find(self, digest: str) -> Instance | None:
        """The instance of a digest; None where there is none, or the library has another one."""
        if digest not in self.entries:
            return self.outside.get(digest)
        instance = self.library.load(self.entries[digest].id)
        return instance if instance.digest == digest else None
