"""The ranked tables as LaTeX (package booktabs)."""

from __future__ import annotations

from bench.leaderboard import words
from bench.leaderboard.board import Board, Section

_SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "µ": r"\textmu{}", "|": r"\textbar{}",
}  # fmt: skip
_LEFT = ("entry",)


def escape(text: str) -> str:
    """Text that LaTeX prints as it is."""
    return "".join(_SPECIAL.get(letter, letter) for letter in text)


def tables(board: Board) -> str:
    """One table a section, with the conditions in the caption."""
    lines = ["% \\usepackage{booktabs}; Unicode input (the default since 2018)."]
    lines += [f"% {' '.join(each.split())}" for each in words.machines(board)]
    for section in board.sections:
        lines += ["", *_table(board, section)]
    return "\n".join(lines) + "\n"


def _table(board: Board, section: Section) -> list[str]:
    total = len(section.rows)
    columns = "".join("l" if key in _LEFT else "r" for key in words.COLUMNS)
    caption = f"{section.title}: {total} instance{'s' if total != 1 else ''}; {words.header(board)}"
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escape(caption)}}}",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        _line([heading for heading, _ in words.COLUMNS.values()]),
        r"\midrule",
    ]
    lines += [_line(words.ranked(s, total)) for s in section.standings]
    return [*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}"]


def _line(cells: list[str]) -> str:
    return " & ".join(map(escape, cells)) + r" \\"
