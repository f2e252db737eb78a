"""The picture of how the library spreads, and the ranges; ``python -m problems.spread``.

Needs matplotlib (extra ``dev``). The file is the same for the same catalogue and versions.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from problems.catalogue import Catalogue, CatalogueEntry, Library
from problems.selections import HOLDOUT
from problems.statistics.ranges import PAIRS, QUANTITIES, corners, ranges
from problems.tables import ORIGINS, origin

# Okabe and Ito's colours, told apart by colour-blind readers, too.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
MARKERS = dict(zip(ORIGINS, ("o", "s", "^"), strict=True))
LINEAR = {"heterogeneity"}
LINES = {"CCR": 1.0, "memory pressure": 1.0}


def draw(catalogue: Catalogue, path: Path) -> None:
    """Write the picture; the ending of `path` says the format: ``.svg`` or ``.png``.

    A point is an instance: its colour the problem, training graphs apart; its shape the least
    certain origin of its parts; hollow where it is held out.
    """
    import matplotlib as mpl  # an extra, and slow to load

    settings: Any = {"svg.hashsalt": "placebench", "font.size": 8.5, "axes.spines.top": False,
                "axes.spines.right": False, "axes.grid": True, "xtick.minor.size": 0,
                "ytick.minor.size": 0, "grid.color": "#e6e6e6",
                "axes.axisbelow": True, "legend.frameon": False}  # fmt: skip
    with mpl.rc_context(settings):
        from matplotlib.figure import Figure

        points = _points(catalogue)
        colour = dict(zip(sorted({p.kind for p in points}), COLOURS, strict=False))
        figure = Figure(figsize=(10.6, 9.8), layout="constrained")
        grid = figure.add_gridspec(3, 3, height_ratios=(1, 1, 0.85))
        for i, (x, y) in enumerate(PAIRS):
            _panel(figure.add_subplot(grid[i // 3, i % 3]), points, x, y, colour)
        _families(figure.add_subplot(grid[2, :]), points, colour)
        _legend(figure, points, colour)
        metadata = {"Date": None} if path.suffix == ".svg" else {"Software": None}
        figure.savefig(path, dpi=100, facecolor="white", metadata=metadata)


class _Point(NamedTuple):
    entry: CatalogueEntry
    kind: str


def _points(catalogue: Catalogue) -> list[_Point]:
    training = {graph.name for graph in catalogue.graphs if graph.training}
    return [
        _Point(e, f"{e.problem}, training" if e.graph in training else e.problem)
        for e in catalogue.instances
    ]


def _panel(axes: Any, points: Sequence[_Point], x: str, y: str, colour: dict[str, str]) -> None:
    located = [(QUANTITIES[x](p.entry), QUANTITIES[y](p.entry), p) for p in points]
    have = [(a, b, p) for a, b, p in located if a is not None and b is not None]
    _plot(axes, have, colour)
    for name, axis, line in ((x, axes.xaxis, axes.axvline), (y, axes.yaxis, axes.axhline)):
        if name not in LINEAR:
            _logarithmic(axes, axis, 2 if name == "devices" else 10)
        if name in LINES:
            line(LINES[name], color="#888888", linewidth=0.9, linestyle="--", zorder=1)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if len(have) < len(points):
        lacking = next(n for n in (x, y) if any(QUANTITIES[n](p.entry) is None for p in points))
        text = f"not shown: {len(points) - len(have)} without {lacking}"
        axes.set_title(text, fontsize=7.5, color="#666666", loc="right")


def _plot(axes: Any, points: Sequence[tuple[float, float, _Point]], colour: dict[str, str]) -> None:
    """One call a style: a call a point makes the file three times as large."""
    styles: dict[tuple[str, str, bool], list[tuple[float, float]]] = {}
    for x, y, point in points:
        key = point.kind, MARKERS[origin(point.entry)], point.entry.split == HOLDOUT
        styles.setdefault(key, []).append((x, y))
    for (kind, marker, hollow), places in sorted(styles.items()):
        axes.plot(
            *zip(*places, strict=True),
            marker=marker,
            markersize=4.2,
            linestyle="none",
            markeredgecolor=colour[kind],
            markerfacecolor="none" if hollow else colour[kind],
            markeredgewidth=0.8,
            alpha=0.65,
        )


def _logarithmic(axes: Any, axis: Any, base: int = 10) -> None:
    """A logarithmic axis with plain numbers, so many that a short one has some."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.set(**{f"{axis.axis_name}scale": "log"})
    low, high = axis.get_view_interval()
    within = high / low
    subs = (1.0, 2.0, 3.0, 5.0) if within < 12 else (1.0, 3.0) if within < 200 else (1.0,)
    axis.set_major_locator(LogLocator(base, subs if base == 10 else (1.0,), numticks=12))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axis.set_minor_formatter(NullFormatter())


def _families(axes: Any, points: Sequence[_Point], colour: dict[str, str]) -> None:
    """A strip a family: headroom, best single device / lower bound."""
    families = sorted({point.entry.family for point in points})
    kinds = list(colour)
    step = 0.6 / len(kinds)
    places = [
        (families.index(p.entry.family) + (kinds.index(p.kind) - (len(kinds) - 1) / 2) * step, y, p)
        for p in points
        if (y := p.entry.headroom) is not None
    ]
    _plot(axes, places, colour)
    _logarithmic(axes, axes.yaxis)
    axes.set_ylabel("headroom")
    axes.set_title(
        "headroom (best single device / lower bound) by family",
        fontsize=8.5, color="#666666", loc="left",
    )  # fmt: skip
    axes.set_xticks(range(len(families)), families, rotation=50, ha="right")
    axes.set_xlim(-0.6, len(families) - 0.4)
    axes.grid(visible=False, axis="x")
    for i in range(1, len(families)):
        axes.axvline(i - 0.5, color="#e6e6e6", linewidth=0.8, zorder=0)


def _legend(figure: Any, points: Sequence[_Point], colour: dict[str, str]) -> None:
    from matplotlib.lines import Line2D

    def sample(label: str, **style: Any) -> Any:
        return Line2D([], [], linestyle="none", label=label, markersize=5, **style)

    count = Counter(point.kind for point in points)
    handles = [sample(f"{k} ({count[k]})", marker="o", color=c) for k, c in colour.items()]
    present = {origin(point.entry) for point in points}
    words = {"measured": "all measured", "with imported": "some parts imported",
             "with modelled": "some parts modelled"}  # fmt: skip
    handles += [
        sample(words[each], marker=marker, color="#555555")
        for each, marker in MARKERS.items()
        if each in present
    ]
    if any(point.entry.split == HOLDOUT for point in points):
        handles.append(sample("hold-out", marker="o", color="#555555", markerfacecolor="none"))
    figure.legend(handles=handles, loc="outside upper center", ncols=4)


def main() -> int:
    """Write ``spread.png`` beside the catalogue; print the ranges and the empty corners."""
    library = Library()
    catalogue = library.catalogue()
    draw(catalogue, library.root / "spread.png")
    print(ranges(catalogue.instances), corners(catalogue.instances), sep="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
