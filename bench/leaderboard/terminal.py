"""The ranked tables on a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from bench.leaderboard import words
from bench.leaderboard.board import Board, Section

WIDE = 110
MACHINES = 3


def show(board: Board, console: Console) -> None:
    """Print one table a section, with fewer columns where there is no room."""
    console.print(f"[bold]Leaderboard[/bold]  {words.header(board)}", highlight=False)
    told = words.machines(board)
    for line in told[:MACHINES]:
        console.print(line, style="dim", markup=False, highlight=False)
    if len(told) > MACHINES:
        console.print(f"[dim]and {len(told) - MACHINES} more; the page has all[/dim]")
    for section in board.sections:
        console.print()
        console.print(_table(section, wide=console.width >= WIDE))
    console.print(
        f"[dim]gaps: shifted geometric means (s = {words.SHIFT}); no valid answer counts 100%;"
        " rank by mean rank (95% interval, where it is more than that rank)[/dim]",
        highlight=False,
    )
    for note in words.notes(board):
        # An id may have brackets, which are no markup.
        console.print(note, style="yellow", markup=False, highlight=False)


def _table(section: Section, wide: bool) -> Table:
    total = len(section.rows)
    title = f"{section.title} ({total} instance{'s' if total != 1 else ''})"
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    table.add_column("rank", no_wrap=True)
    table.add_column("entry", overflow="fold")
    if wide:
        table.add_column("mean rank", justify="right")
    table.add_column("gap to\nbound", justify="right", no_wrap=True)
    table.add_column("gap to\nbest", justify="right", no_wrap=True)
    if wide:
        table.add_column("integral", justify="right")
    table.add_column("answered", justify="right")
    table.add_column("invalid/\nfailed", justify="right", no_wrap=True)
    table.add_column("mean\ntime", justify="right", no_wrap=True)
    for s in section.standings:
        cells = [words.place(s), s.entry]
        cells += [words.mean_rank(s)] if wide else []
        cells += [words.percent(s.gap_bound), words.percent(s.gap_best)]
        cells += [f"{s.integral:.3f}"] if wide else []
        wrong = words.wrong(s)
        cells += [
            words.answered(s, total),
            wrong if wrong == "0" else f"[red]{wrong}[/red]",
            words.seconds(s.time_s),
        ]
        table.add_row(*(c if c.startswith("[red]") else c.replace("[", r"\[") for c in cells))
    return table
