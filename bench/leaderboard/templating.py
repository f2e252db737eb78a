"""Jinja, and how Python's values go into a page."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from bench.leaderboard import names, words
from bench.leaderboard.board import Board

FOLDER = Path(__file__).parent
LONGEST = 400  # characters of one value of a description


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["v"] = sort_value
    return environment


def sort_value(value: float) -> str:
    """A number that a column is sorted by: seven digits, which are more than its cell shows."""
    return str(value) if isinstance(value, int) else f"{value:.7g}"


# The end tags of cells and rows are optional in HTML; left out they make tables a tenth smaller.
_OPTIONAL = re.compile(r"</t[dhr]>\s*(?=</?t)")


def page(template: str, board: Board, root: str, **values: Any) -> str:
    """A page of the site.

    Parameters
    ----------
    root : str
        Way from the page to the top of the site: empty, or ``../``.
    """
    made = _environment().get_template(template)
    return _OPTIONAL.sub(
        "", made.render(board=board, root=root, words=words, names=names, **values)
    )


def script_safe(value: Any) -> str:
    """JSON for a script element; infinities and NaN are null."""
    text = json.dumps(_finite(value), separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")  # `</script>` in a name must not end the script


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return value


def facts(description: Mapping[str, Any]) -> list[tuple[str, str]]:
    """A description as (what, value), flat, long values cut."""
    found = []
    for key, value in sorted(description.items()):
        if isinstance(value, Mapping):
            shown = ", ".join(f"{k} {v}" for k, v in sorted(value.items()))
        elif isinstance(value, list | tuple):
            shown = ", ".join(map(str, value))
        else:
            shown = str(value)
        cut = shown if len(shown) < LONGEST else shown[:LONGEST] + " ..."
        found.append((key.replace("_", " "), cut))
    return found
