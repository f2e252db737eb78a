"""Which instances tell methods apart: the gaps of the weakest and the strongest, by family.

An instance on which every method reaches the bound says nothing about methods; it is good for a
smoke run only. Run as a program this writes the study of the published records:
``python -m bench.discrimination --records FILE --output FOLDER``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from bench import bks
from bench.leaderboard import gather
from bench.leaderboard.board import Board
from problems.catalogue import Library
from problems.files import FileError, write_atomically

TIE = 1e-6
"""Gaps to the bound up to this count as none."""
BASELINES = ("single", "random")
"""Entries that do not count: beating them tells little."""


@dataclass(frozen=True)
class Spread:
    """What the methods reached on one instance.

    Attributes
    ----------
    weakest, strongest : str
        Entries with the largest and the smallest gap to the bound; 1 is the gap of no answer.
    worst, best : float
        Their gaps, (z - b) / z.
    methods : int
        How many entries were run.
    """

    section: str
    family: str
    instance: str
    weakest: str
    worst: float
    strongest: str
    best: float
    methods: int

    @property
    def trivial(self) -> bool:
        """Whether all methods tie at the bound."""
        return self.worst <= TIE

    @property
    def telling(self) -> bool:
        """Whether the methods differ by more than a percentage point of gap."""
        return self.worst - self.best > 0.01


def spreads(board: Board) -> list[Spread]:
    """One :class:`Spread` an instance that two entries or more were run on, baselines apart."""
    found = []
    for section in board.sections:
        for row in section.rows:
            gaps = sorted(
                (cell.gap_bound, entry)
                for entry, cell in row.cells.items()
                if cell is not None and entry not in BASELINES
            )
            if len(gaps) < 2:
                continue
            (best, strongest), (worst, weakest) = gaps[0], gaps[-1]
            found.append(
                Spread(
                    section.title, row.family, row.instance, weakest, worst, strongest, best,
                    len(gaps),
                )
            )  # fmt: skip
    return found


def by_family(found: Sequence[Spread]) -> pd.DataFrame:
    """One row a section and family: instances, gaps (mean of worst and best), how many tell.

    Returns
    -------
    DataFrame
        Columns `section`, `family`, `instances`, `worst`, `best` (means), `spread` (median of
        worst - best), `telling`, `trivial` (counts).
    """
    rows = pd.DataFrame(
        [
            {
                "section": s.section,
                "family": s.family,
                "worst": s.worst,
                "best": s.best,
                "apart": s.worst - s.best,
                "telling": s.telling,
                "trivial": s.trivial,
            }
            for s in found
        ],
        columns=["section", "family", "worst", "best", "apart", "telling", "trivial"],
    )
    grouped = rows.groupby(["section", "family"], sort=True)
    return grouped.agg(
        instances=("worst", "size"),
        worst=("worst", "mean"),
        best=("best", "mean"),
        spread=("apart", "median"),
        telling=("telling", "sum"),
        trivial=("trivial", "sum"),
    ).reset_index()


def markdown(board: Board) -> str:
    """The study as a Markdown page."""
    found = spreads(board)
    table = by_family(found)
    lines = [
        "# Which instances tell methods apart",
        "",
        f"Gap to the bound, (z - b) / z, at {board.conditions}: weakest and strongest entry,"
        " means over the instances of a family; `spread` is the median of their difference;"
        " `telling` counts instances where it exceeds one percentage point, `trivial` those where"
        " every entry reaches the bound. An entry without an answer has a gap of 100 %;"
        f" {' and '.join(f'`{each}`' for each in BASELINES)} do not count.",
        "",
        "| section | family | instances | weakest | strongest | spread | telling | trivial |",
        "| --- | --- | --: | --: | --: | --: | --: | --: |",
    ]
    for row in table.to_dict("records"):
        worst, best, spread = (f"{100 * row[key]:.1f} %" for key in ("worst", "best", "spread"))
        lines.append(
            f"| {row['section']} | {row['family']} | {row['instances']} | {worst} | {best} |"
            f" {spread} | {row['telling']} | {row['trivial']} |"
        )
    trivial = sorted(s.instance for s in found if s.trivial)
    lines += ["", f"{len(found)} instances; all entries tie at the bound on {len(trivial)}."]
    lines += [f"* `{name}`" for name in trivial]
    return "\n".join(lines) + "\n"


def comma_separated(board: Board) -> str:
    """One line an instance."""
    rows = [
        {
            "section": s.section,
            "family": s.family,
            "instance": s.instance,
            "weakest": s.weakest,
            "worst_gap": s.worst,
            "strongest": s.strongest,
            "best_gap": s.best,
            "methods": s.methods,
        }
        for s in spreads(board)
    ]
    return str(pd.DataFrame(rows).to_csv(index=False, float_format="%.6g", lineterminator="\n"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Write ``discrimination.md`` and ``discrimination.csv``."""
    parser = argparse.ArgumentParser(prog="python -m bench.discrimination", description=__doc__)
    parser.add_argument("--records", type=Path, required=True, help="Published .jsonl file.")
    parser.add_argument("--output", type=Path, default=Path("results/studies"))
    given = parser.parse_args(arguments)
    try:
        source = gather.from_file(given.records)
        known = gather.Known.of(Library().entries(), bks.load())
        board = gather.board(source, known)
    except FileError as error:
        print(f"placebench: {error}", file=sys.stderr)
        return 2
    write_atomically(given.output / "discrimination.md", markdown(board).encode())
    write_atomically(given.output / "discrimination.csv", comma_separated(board).encode())
    print(markdown(board), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
