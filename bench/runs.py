"""What ``bench.run`` returns: records that show themselves as a table, with their metrics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from bench import bks, table
from bench.leaderboard import gather
from bench.records import Record
from problems.catalogue import Library
from problems.instance import Instance

SHOWN = (
    "instance", "entry", "seed", "objective_s", "bound_s", "gap_bound", "gap_best", "termination",
    "reason", "wall_s",
)  # fmt: skip


class Runs(list[Record]):
    """A list of records.

    Attributes
    ----------
    instances : sequence of Instance
        Those that are run on and may not be in the library; needed for their bounds.
    """

    def __init__(self, records: Iterable[Record], instances: Sequence[Instance] = ()) -> None:
        super().__init__(records)
        self.instances = instances

    def frame(self) -> pd.DataFrame:
        """:func:`bench.frame` with the metrics: gaps to the bound and to the best known answer."""
        return table.frame(self, known(self).headlines(self))

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return str(
            self.frame()[list(SHOWN)].to_html(
                index=False, max_rows=40, float_format="{:.4g}".format
            )
        )


def known(records: Sequence[Record]) -> gather.Known:
    """What is known of the library's instances, and of those of a :class:`Runs`."""
    found = gather.Known.of(Library().entries(), bks.load())
    for instance in records.instances if isinstance(records, Runs) else ():
        if instance.digest not in found.sizes:
            found = found.with_instance(instance)
    return found
