"""Solution files of other solvers: names and values, and what the file claims.

Known by their content: HiGHS (raw and pretty), SCIP, CBC, GLPK (``glpsol -o``), Gurobi and CPLEX
(XML). The layout of each is that of the program's own writer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from xml.etree import ElementTree

from problems.files import FileError


@dataclass
class Solution:
    """What a file says.

    Attributes
    ----------
    source : str
        Whose format it is.
    values : dict of str to float
    objective : float or None
        Claimed, in the model's units.
    model : str or None
        Name of the model, where the format has a place for it.
    complete : bool
        The format lists every variable; others leave zeros out.
    optimal : bool
        The file claims that nothing better exists. Gurobi writes no such word.
    """

    source: str
    complete: bool
    values: dict[str, float] = field(default_factory=dict)
    objective: float | None = None
    model: str | None = None
    optimal: bool = False

    def put(self, name: str, value: str, where: str) -> None:
        """Add a value.

        Raises
        ------
        FileError
            If it is no finite number, or there is one already.
        """
        number = _number(value, f"{where}: {name}")
        if name in self.values:
            raise FileError(f"{where}: {name} has two values")
        self.values[name] = number


def read(text: str, where: str) -> Solution:
    """Read a solution file.

    Raises
    ------
    FileError
        If the format is not known, a value is no finite number, or the file holds no solution.
    """
    for mark, reader in _FORMATS.items():
        if re.search(mark, text, re.MULTILINE):
            solution = reader(text, where)
            break
    else:
        raise FileError(
            f"{where}: not a solution file of HiGHS, SCIP, CBC, GLPK (-o), Gurobi or CPLEX (XML)"
        )
    if not solution.values and solution.complete:
        raise FileError(f"{where}: holds no solution")
    return solution


def _highs(text: str, where: str) -> Solution:
    solution = Solution("HiGHS", complete=True)
    solution.optimal = bool(re.search(r"^Model status\nOptimal$", text, re.MULTILINE))
    lines = iter(text.splitlines())
    for line in lines:
        words = line.split()
        if words[:1] == ["Objective"] and len(words) == 2:
            solution.objective = _number(words[1], f"{where}: Objective")
        elif words[:2] == ["#", "Columns"]:
            for _ in range(_count(words, where)):
                pair = next(lines, "").split()
                if len(pair) != 2:
                    raise FileError(f"{where}: {' '.join(pair)!r} is not a name and a value")
                solution.put(pair[0], pair[1], where)
            break
    return solution


def _count(words: list[str], where: str) -> int:
    if len(words) == 3 and words[2].isdigit():
        return int(words[2])
    raise FileError(f"{where}: {' '.join(words)!r} does not say how many columns follow")


def _highs_pretty(text: str, where: str) -> Solution:
    solution = Solution("HiGHS", complete=True)
    columns, _, rest = text.partition("\nRows")
    header, *lines = [line for line in columns.splitlines() if line.strip() and line != "Columns"]
    # Columns of fixed width, some of them empty: the value ends where its heading ends.
    end = header.index("Primal") + len("Primal")
    for line in lines:
        solution.put(line.split()[-1], line[:end].split()[-1], where)
    solution.optimal = bool(re.search(r"^Model status *: *Optimal$", rest, re.MULTILINE))
    claimed = re.search(r"^Objective value: *(\S+)", rest, re.MULTILINE)
    solution.objective = claimed and _number(claimed[1], f"{where}: Objective value")
    return solution


def _scip(text: str, where: str) -> Solution:
    solution = Solution("SCIP", complete=False)
    if "no solution available" in text:
        raise FileError(f"{where}: holds no solution")
    solution.optimal = bool(re.match(r"solution status: *optimal", text))
    for line in text.splitlines():
        words = line.split()
        if line.startswith("objective value:"):
            solution.objective = _number(words[-1], f"{where}: objective value")
        elif words and not line.startswith(("solution status:", "#")):
            _pair(solution, words, where)
    return solution


def _cbc(text: str, where: str) -> Solution:
    solution = Solution("CBC", complete=False)
    head, *lines = text.splitlines()
    if "no integer solution" in head or head.startswith(("Infeasible", "Integer infeasible")):
        raise FileError(f"{where}: holds no solution: {head.strip()}")
    solution.objective = _number(head.split()[-1], f"{where}: objective value")
    solution.optimal = head.startswith("Optimal - ")
    for line in lines:
        words = line.removeprefix("**").split()  # ** marks what violates the model
        if words[:1] == ["0"]:
            solution.values.clear()  # the rows came before, if they are there
        if words:
            _pair(solution, words[1:], where)
    return solution


def _glpk(text: str, where: str) -> Solution:
    solution = Solution("GLPK", complete=True)
    name = re.search(r"^Problem: +(\S+)", text, re.MULTILINE)
    solution.model = name and name[1]
    claimed = re.search(r"^Objective: .*= *(\S+) \(", text, re.MULTILINE)
    solution.objective = claimed and _number(claimed[1], f"{where}: Objective")
    solution.optimal = bool(re.search(r"^Status: +(INTEGER )?OPTIMAL$", text, re.MULTILINE))
    _, _, columns = text.partition("Column name")
    # A long name stands on a line of its own, before its values.
    columns = re.sub(r"^( *\d+ \S+)\n", r"\1", columns.partition("\n\n")[0], flags=re.MULTILINE)
    for line in columns.splitlines()[2:]:
        words = [word for word in line.split() if word not in ("*", "B", "NL", "NU", "NS", "NF")]
        _pair(solution, words[1:], where)
    return solution


def _gurobi(text: str, where: str) -> Solution:
    solution = Solution("Gurobi", complete=True)
    for line in text.splitlines():
        words = line.split()
        if line.startswith("#"):
            if "Objective value" in line:
                solution.objective = _number(words[-1], f"{where}: Objective value")
            elif "Solution for model" in line:
                solution.model = words[-1]
        elif words:
            _pair(solution, words, where)
    return solution


_CPLEX_OPTIMAL = ("optimal", "integer optimal solution")


def _cplex(text: str, where: str) -> Solution:
    solution = Solution("CPLEX", complete=True)
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise FileError(f"{where}: {error}") from None
    header = root.find("header")
    if header is not None:
        solution.model = header.get("problemName")
        solution.optimal = header.get("solutionStatusString") in _CPLEX_OPTIMAL
        claimed = header.get("objectiveValue")
        if claimed:
            solution.objective = _number(claimed, f"{where}: objectiveValue")
    for variable in root.iter("variable"):
        solution.put(variable.get("name", "?"), variable.get("value", "?"), where)
    return solution


_FORMATS: dict[str, Callable[[str, str], Solution]] = {
    r"<CPLEXSolution": _cplex,
    r"^# Columns \d+": _highs,
    r"^ +Index Status +Lower +Upper +Primal": _highs_pretty,
    r"^Problem: .*\n+Rows: ": _glpk,
    r"^(# Solution for model|# Objective value)": _gurobi,
    r"\A.* - objective value ": _cbc,
    r"^(solution status:|objective value:|no solution available)": _scip,
}
"""A mark in the text, and who reads it; the first that is there."""


def _pair(solution: Solution, words: Iterable[str], where: str) -> None:
    name, value, *_ = [*words, "", ""]
    solution.put(name, value, where)


def _number(text: str, where: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise FileError(f"{where}: {text!r} is not a number") from None
    if not math.isfinite(number):
        raise FileError(f"{where}: {text} is not finite")
    return number
