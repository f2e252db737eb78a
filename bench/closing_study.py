"""The value of a better bound: how many best known answers are closed by which bounds.

``python -m bench.closing_study --save`` makes no runs: it reads the best known answers, the bounds
on file and what exact entries proved, and counts on how many instances the answer meets the bound
when there are only simple bounds, also the other cheap ones, also those that search, also the
proofs of exact entries. Simple bounds that are not on file are computed.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from bench import bks, bounds, study
from bench.figures import COLOURS, drawing
from bench.markdown import percent, table
from bench.proofs import PLAIN, section_of
from problems.bounds.registry import REGISTRY
from problems.catalogue import CatalogueEntry, Library

STAGES = ("simple", "cheap", "searched", "exact")
"""Each has the bounds of those before it, too."""


@dataclass(frozen=True)
class Row:
    """One instance with an answer.

    Attributes
    ----------
    best : float
        Smallest checked objective in seconds.
    bounds : tuple of (float, str)
        Largest bound of every stage in seconds, and which one it is.
    """

    section: str
    instance: str
    best: float
    bounds: tuple[tuple[float, str], ...]

    def closed(self, stage: int) -> bool:
        """Whether the best known answer meets the bound of a stage."""
        return self.best <= self.bounds[stage][0] * (1 + bks.CLOSED)

    def gap(self, stage: int) -> float:
        """(z - b) / z."""
        return max(0.0, (self.best - self.bounds[stage][0]) / self.best) if self.best > 0 else 0.0

    @property
    def stage(self) -> int | None:
        """The first stage that closes it; None while it is open."""
        return next((i for i in range(len(STAGES)) if self.closed(i)), None)


def simple(library: Library, entry: CatalogueEntry) -> dict[str, float]:
    """Compute the simple bounds of an instance: seconds by name."""
    instance = library.load(entry.id)
    mine = [REGISTRY[name] for name in PLAIN if REGISTRY[name].covers(entry.problem, entry.rules)]
    return {each.name: each(instance).value for each in mine if each.valid_for(instance) is None}


def rows(
    entries: Iterable[CatalogueEntry],
    store: bounds.Store,
    claims: Mapping[str, bks.Claims],
    compute: Callable[[CatalogueEntry], Mapping[str, float]],
) -> list[Row]:
    """One row an instance that has a checked answer.

    A bound that the answer refutes counts for nothing: `python -m bench.proofs` names those.

    Parameters
    ----------
    compute : callable
        Simple bounds of an instance of which none are on file, as :func:`simple` has them.
    """
    entries = list(entries)
    searched = store.searched(entries)
    found = []
    for entry in entries:
        head = bks.headline(claims[entry.digest].claims if entry.digest in claims else ())
        if head.objective is None:
            continue
        cheap = {n: b.value for n, b in store.of(entry.digest).items() if not b.limit_s}
        if not any(name in cheap for name in PLAIN):
            cheap |= compute(entry)
        plain = [(cheap[name], name) for name in PLAIN if name in cheap]
        steps: list[list[tuple[float, str]]] = [
            plain, [*((value, name) for name, value in cheap.items()),
                    (entry.lower_bound_s, "theoretical")], [], [],
        ]  # fmt: skip
        if entry.digest in searched:
            steps[2].append((searched[entry.digest].value, searched[entry.digest].by))
        if head.proved is not None:
            steps[3].append((head.proved, head.proved_by))
        best, largest = (0.0, "none"), []
        for step in steps:
            sound = [each for each in step if not bks.contradicts(each[0], head.objective)]
            # Of equal bounds the one that was there first.
            best = max([best, *sound], key=lambda each: each[0])
            largest.append(best)
        section = section_of(entry.problem, entry.rules)
        found.append(Row(section, entry.id, head.objective, tuple(largest)))
    return found


def summary(found: Sequence[Row]) -> pd.DataFrame:
    """One row a section, and one for all: how many are closed, and geometric mean of z/b - 1."""
    lines = []
    for section in [*sorted({row.section for row in found}), "all"]:
        mine = [row for row in found if section in (row.section, "all")]
        line: dict[str, object] = {"section": section, "instances": len(mine)}
        for i, stage in enumerate(STAGES):
            line[stage] = sum(row.closed(i) for row in mine)
        for i, stage in enumerate(STAGES):
            ratios = [row.best / row.bounds[i][0] for row in mine if row.bounds[i][0] > 0]
            line[f"{stage} gap"] = float(np.exp(np.log(ratios).mean()) - 1) if ratios else math.nan
        lines.append(line)
    return pd.DataFrame(lines)


def flipped(found: Sequence[Row]) -> pd.DataFrame:
    """Which bound closed what no stage before it does: `section`, `stage`, `bound`, `instances`."""
    closed = [(row, stage) for row in found if (stage := row.stage)]
    lines = [(row.section, STAGES[stage], row.bounds[stage][1]) for row, stage in closed]
    frame = pd.DataFrame(lines, columns=["section", "stage", "bound"])
    return frame.groupby(["section", "stage", "bound"]).size().reset_index(name="instances")


def markdown(found: Sequence[Row]) -> str:
    """The page."""
    counts = summary(found)
    all_ = counts[counts["section"] == "all"].iloc[0]
    n, plain, exact = (int(all_[each]) for each in ("instances", STAGES[0], STAGES[-1]))
    steps = [int(all_[stage]) for stage in STAGES]
    lines = [
        "# What a better bound is worth", "",
        f"Of {n} instances with a known answer, critical path and load LP alone show {plain}"
        f" ({100 * plain / max(n, 1):.0f} %) to be solved: the best known answer is within"
        f" {bks.CLOSED:g} of the bound. All cheap bounds"
        f" close {steps[1] - steps[0]} more, those that search {steps[2] - steps[1]} more, proofs"
        f" of exact entries {steps[3] - steps[2]} more. So {exact - plain} flip from open to"
        f" closed with the answers as they are, and {n - exact} stay open; the geometric mean of"
        f" z / b, less 1, falls from {percent(all_['simple gap'])} to"
        f" {percent(all_['exact gap'])}. Written by `python -m bench.closing_study`, which makes"
        " no runs.", "",
        "![Share of instances against the gap that is left](closing.svg)", "",
        "## Closed, by section", "",
        f"Simple bounds are {', '.join(f'`{each}`' for each in PLAIN)}, where they apply; every"
        " column has the bounds of those before it, too.", "",
    ]  # fmt: skip
    shown: dict[str, object] = {"section": str, "instances": str}
    shown |= dict.fromkeys(STAGES, str) | {f"{stage} gap": percent for stage in STAGES}
    lines += [*table(counts, shown), "", "## Which bound closed them", ""]  # type: ignore[arg-type]
    by = flipped(found)
    return "\n".join([*lines, *table(by, dict.fromkeys(by.columns, str)), ""])


def comma_separated(found: Sequence[Row]) -> str:
    """One line an instance."""
    frame = pd.DataFrame(
        {
            "section": row.section, "instance": row.instance, "best_s": row.best,
            **{f"{stage}_s": row.bounds[i][0] for i, stage in enumerate(STAGES)},
            **{f"{stage}_by": row.bounds[i][1] for i, stage in enumerate(STAGES)},
            "closed": "" if row.stage is None else STAGES[row.stage],
        }
        for row in found
    )  # fmt: skip
    return str(frame.to_csv(index=False, float_format="%.9g", lineterminator="\n"))


def draw(found: Sequence[Row], path: Path) -> None:
    """Share of the instances of a section whose gap is at most x, one line a stage."""
    sections = sorted({row.section for row in found})
    across = min(3, len(sections))
    down = -(-len(sections) // across)
    with drawing(path, 9.4, 0.6 + 2.6 * down) as figure:
        axes = figure.subplots(down, across, squeeze=False, sharex=True, sharey=True)
        for i, (panel, section) in enumerate(zip(axes.flat, sections, strict=False)):
            mine = [row for row in found if row.section == section]
            for stage, name in enumerate(STAGES):
                gaps = np.sort([row.gap(stage) for row in mine])
                share = np.arange(1, len(gaps) + 1) / len(gaps)
                label = name if i == 0 else None
                panel.step(
                    np.append(gaps, 1.0), np.append(share, 1.0), where="post",
                    color=COLOURS[stage], label=label,
                )  # fmt: skip
            panel.set_title(f"{section} ({len(mine)})")
            panel.set_xscale("symlog", linthresh=1e-4)
            panel.set_xlim(0, 1)
            panel.set_ylim(0, 1)
        for panel in axes.flat[len(sections) :]:
            panel.set_visible(False)
        figure.supxlabel("gap to the bound, (z - b) / z")
        figure.supylabel("share of instances")
        figure.legend(loc="outside upper center", ncols=len(STAGES))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the page; with ``--save`` write it, its rows and the figure."""
    parser = argparse.ArgumentParser(prog="python -m bench.closing_study", description=__doc__)
    parser.add_argument("--save", action="store_true", help=f"write to {study.STUDIES}")
    study.output(parser)
    given = parser.parse_args(arguments)
    library = Library()
    found = rows(library.entries(), bounds.load(), bks.load(), lambda entry: simple(library, entry))
    study.publish(given, "closing", {"md": markdown(found), "csv": comma_separated(found)})
    if given.save:
        draw(found, given.output / "closing.svg")
    return 0


if __name__ == "__main__":
    sys.exit(study.guarded(main))
