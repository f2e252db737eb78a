"""``bench.plot``: the curves of the leaderboard's page as figures, from records at hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from bench import runs
from bench.leaderboard import curves
from bench.leaderboard.board import Section, build
from bench.records import Record

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

Kind = Literal["anytime", "best", "bound", "ratio"]
SMALLEST = 1e-4  # gaps below are drawn there: the axis is logarithmic
AXES = {
    "anytime": ("time of the run, s", "mean gap to the best known answer"),
    "best": ("gap to the best known answer", "share of instances"),
    "bound": ("gap to the lower bound", "share of instances"),
    "ratio": ("objective over that of the best entry here, less 1", "share of instances"),
}


def plot(records: Sequence[Record], kind: Kind = "anytime", section: str = "") -> Figure:
    """Draw the curves of all entries.

    Parameters
    ----------
    records : sequence of Record
        What :func:`bench.run` returns; those under the conditions of most of them are drawn.
    kind : {'anytime', 'best', 'bound', 'ratio'}
        Mean primal gap against time; share of instances within a gap to the best known answer, to
        the lower bound, within a ratio to the best entry (Dolan and Moré).
    section : str
        What is ranked together, as the leaderboard names it; needed where there are several.

    Returns
    -------
    plotly.graph_objects.Figure

    Raises
    ------
    ValueError
        On another kind, no records, or a section that is not there or not stated.
    """
    if kind not in AXES:
        raise ValueError(f"kind is {kind!r}, not one of {', '.join(AXES)}")
    known = runs.known(records)
    board = build(records, known.headlines(records), known.sizes)
    chosen = _section(board.sections, section)
    if kind == "anytime":
        by_digest: dict[str, list[Record]] = {}
        for record in records:
            by_digest.setdefault(record.digest, []).append(record)
        told = curves.anytime(chosen, by_digest, board.conditions.time_limit_s)
        lines = [{**each, "x": told["t"], "y": each["gap"]} for each in told["curves"]]
    else:
        lines = [_steps(each, kind) for each in curves.ecdf(chosen)]
    from plotly.graph_objects import Figure, Scatter  # a second, which other calls need not wait

    traces = [
        Scatter(
            x=[x if kind == "anytime" else max(x, SMALLEST) for x in each["x"]],
            y=[max(y, SMALLEST) for y in each["y"]] if kind == "anytime" else each["y"],
            name=each["name"],
            mode="lines",
            line={"shape": "hv", "color": each["color"], "dash": each["dash"]},
        )
        for each in lines
    ]
    figure = Figure(traces)
    figure.update_layout(title=chosen.title, xaxis_title=AXES[kind][0], yaxis_title=AXES[kind][1])
    figure.update_xaxes(type="log")
    figure.update_yaxes(type="log" if kind == "anytime" else "linear")
    return figure


def _section(sections: Sequence[Section], title: str) -> Section:
    titles = [each.title for each in sections]
    if not title and len(sections) == 1:
        return sections[0]
    if title not in titles:
        asked = f"there is no section {title!r}" if title else "which section?"
        raise ValueError(f"{asked}: {'; '.join(titles)}")
    return sections[titles.index(title)]


def _steps(curve: dict[str, Any], kind: str) -> dict[str, Any]:
    """From no instance at the left end of the axis, level beyond the last one."""
    xs, ys = curve[kind]
    return {**curve, "x": [SMALLEST, *xs, 10.0], "y": [0.0, *ys, ys[-1] if ys else 0.0]}
