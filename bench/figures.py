"""What the figures of the studies share: one style, colours, and how they are written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# Okabe and Ito's colours, told apart by colour-blind readers, too.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#777777", "#000000")
_STYLE = {
    "svg.hashsalt": "placebench", "font.size": 9, "axes.spines.top": False,
    "axes.spines.right": False, "axes.grid": True, "grid.color": "#e6e6e6",
    "axes.axisbelow": True, "legend.frameon": False,
}  # fmt: skip


@contextmanager
def drawing(path: Path, width: float = 9.4, height: float = 3.8) -> Iterator[Any]:
    """Give an empty figure of `width` x `height` inches, and write it afterwards.

    The file is the same for the same data and versions.
    """
    import matplotlib as mpl  # an extra, and slow to load

    with mpl.rc_context(_STYLE):  # type: ignore[arg-type]
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure
        figure.savefig(path, metadata={"Date": None})
