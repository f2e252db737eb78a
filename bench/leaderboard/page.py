"""The leaderboard as one HTML file that needs no network, and no script to be read."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
from plotly.offline import get_plotlyjs

from bench import metrics
from bench.leaderboard import words
from bench.leaderboard.board import Board, Section

_FOLDER = Path(__file__).parent
# Told apart by people with any colour vision, on white and on black (Okabe and Ito 2008).
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#8c7a00", "#999999")
DASHES = ("solid", "dash", "dot")


def render(board: Board) -> str:
    """The whole page; the same board gives the same bytes."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.j2").render(
        board=board,
        words=words,
        style=(_FOLDER / "page.css").read_text("utf-8"),
        script=(_FOLDER / "page.js").read_text("utf-8"),
        plotly=_packed(get_plotlyjs()),
        curves=_script_safe({str(i): _curves(s) for i, s in enumerate(board.sections)}),
        machines=[_machine(environment) for environment in board.environments],
    )


def _packed(text: str) -> str:
    """Gzip in base64: the page stays at a third of the size; the browser inflates it."""
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


def _script_safe(value: Any) -> str:
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")  # `</script>` in a name must not end the script


def _curves(section: Section) -> list[dict[str, Any]]:
    """ECDF of both gaps, and of z / z of the best entry less 1 (Dolan and More), of every entry.

    The denominator is all instances of the section.
    """
    found = []
    ratios = metrics.performance_profile(_objectives(section))
    for i, standing in enumerate(section.standings):
        cells = [row.cells[standing.entry] for row in section.rows]
        best = [c.gap_best if c is not None else np.inf for c in cells]
        bound = [c.gap_bound if c is not None and c.answered == c.runs else np.inf for c in cells]
        found.append(
            {
                "name": standing.entry,
                "color": COLOURS[i % len(COLOURS)],
                "dash": DASHES[i // len(COLOURS) % len(DASHES)],
                "best": [each.tolist() for each in metrics.profile(best)],
                "bound": [each.tolist() for each in metrics.profile(bound)],
                "ratio": [(ratios[i][0] - 1).tolist(), ratios[i][1].tolist()],
            }
        )
    return found


def _objectives(section: Section) -> np.ndarray:
    """Instances x entries in the order of the standings; inf unless every run answered."""
    cells = [[row.cells[s.entry] for s in section.standings] for row in section.rows]
    return np.array(
        [
            [np.inf if c is None or c.answered < c.runs else c.objective for c in row]
            for row in cells
        ],
        float,
    )


def _machine(environment: Any) -> list[tuple[str, str]]:
    """The environment of a batch as (what, value), flat, long values cut."""
    found = []
    for key, value in sorted(environment.items()):
        if isinstance(value, dict):
            shown = ", ".join(f"{k} {v}" for k, v in sorted(value.items()))
        elif isinstance(value, list):
            shown = ", ".join(map(str, value))
        else:
            shown = str(value)
        found.append((key.replace("_", " "), shown if len(shown) < 400 else shown[:400] + " ..."))
    return found
