"""How a set of instances spreads over the statistics, and what it leaves out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median

from problems.catalogue import CatalogueEntry

Number = Callable[[CatalogueEntry], "float | None"]

QUANTITIES: dict[str, Number] = {
    "nodes": lambda e: e.n,
    "edges": lambda e: e.edges,
    "devices": lambda e: e.devices,
    "depth": lambda e: e.features.depth,
    "width": lambda e: e.features.width,
    "ideals": lambda e: e.features.ideals,
    "parallelism": lambda e: e.features.parallelism,
    "CCR": lambda e: e.features.ccr,
    "memory pressure": lambda e: e.features.memory_pressure,
    "group pressure": lambda e: e.features.group_pressure,
    "heterogeneity": lambda e: e.features.heterogeneity,
    "inconsistency": lambda e: e.features.inconsistency,
    "symmetry classes": lambda e: e.features.symmetry_classes,
    "supported share": lambda e: e.features.supported_share,
    "headroom": lambda e: e.headroom,
}

# Where one regime of a statistic ends and the next begins: what the empty corners are told by.
BANDS: dict[str, tuple[float, float]] = {
    "nodes": (200, 2_000),
    "devices": (4, 16),
    "parallelism": (1.5, 4),
    "CCR": (0.1, 1),
    "memory pressure": (0.5, 1),
    "heterogeneity": (0.1, 0.5),
    "headroom": (1.5, 4),
}
PAIRS = (
    ("nodes", "parallelism"),
    ("CCR", "parallelism"),
    ("memory pressure", "heterogeneity"),
    ("nodes", "headroom"),
    ("nodes", "devices"),
    ("CCR", "heterogeneity"),
)


def values(entries: Sequence[CatalogueEntry], name: str) -> list[float]:
    """One statistic of all instances that have it."""
    found = (QUANTITIES[name](entry) for entry in entries)
    return [value for value in found if value is not None]


def ranges(entries: Sequence[CatalogueEntry]) -> str:
    """Smallest / median / largest of every statistic by problem, as a table in Markdown."""
    problems = sorted({entry.problem for entry in entries})
    lines = [["statistic", *problems], ["---", *["--:"] * len(problems)]]
    for name in QUANTITIES:
        row = [name]
        for problem in problems:
            mine = [entry for entry in entries if entry.problem == problem]
            found = values(mine, name)
            text = " / ".join(short(f(found)) for f in (min, median, max)) if found else "-"
            without = len(mine) - len(found)
            row.append(text + (f" ({without} without)" if without else ""))
        lines.append(row)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def short(value: float) -> str:
    """Three significant digits; whole numbers whole."""
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def corners(entries: Sequence[CatalogueEntry]) -> str:
    """The combinations of two statistics, each in three bands, that no instance has."""
    lines = ["Combinations of two statistics, each in three bands, that no instance has:", ""]
    for a, b in PAIRS:
        have = {
            (band(a, x), band(b, y))
            for entry in entries
            if (x := QUANTITIES[a](entry)) is not None and (y := QUANTITIES[b](entry)) is not None
        }
        missing = [
            f"{names(a)[i]} with {names(b)[j]}" for i in range(3) for j in range(3)
            if (i, j) not in have
        ]  # fmt: skip
        lines.append(f"* {a} and {b}: {'; '.join(missing) or 'all nine are there'}")
    return "\n".join(lines)


def band(name: str, value: float) -> int:
    """0, 1 or 2: below the first limit, below the second, or not."""
    return sum(value >= limit for limit in BANDS[name])


def names(name: str) -> tuple[str, str, str]:
    """The bands of a statistic in words."""
    low, high = (f"{limit:g}" for limit in BANDS[name])
    return f"{name} < {low}", f"{name} {low}-{high}", f"{name} >= {high}"
