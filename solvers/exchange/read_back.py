"""From what an outside solver made of an exported model to an answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from problems.files import FileError
from solvers.exchange.solution_file import Solution
from solvers.exchange.stamp import Stamp, parse
from solvers.model import Model

# Of the model itself: the names inside it are indented.
_TEXT_NAME = re.compile(r'^name: "(?:[^"\\\n]|\\.)*"', re.MULTILINE)
HINT = "is it of another instance or formulation, or exported with other options?"


def vector(model: Model, solution: Solution, where: str) -> np.ndarray:
    """Values of all variables, shape (N,).

    Raises
    ------
    FileError
        If a name is none of the model's, or a variable is missing that the format would list.
    """
    index = {name: j for j, name in enumerate(model.column_names())}
    known = index.keys() | set(model.row_names())  # some programs list the rows as well
    _none((name for name in solution.values if name not in known), where, "is in no row and column")
    if solution.complete:
        _none((name for name in index if name not in solution.values), where, "has no value")
    x = np.zeros(len(index))
    for name, value in solution.values.items():
        if name in index:
            x[index[name]] = value
    return x


def _none(names: Iterable[str], where: str, what: str) -> None:
    found = list(names)
    if found:
        more = f", nor have {len(found) - 1} more" if "no value" in what and found[1:] else ""
        more = f", nor are {len(found) - 1} more" if "is in" in what and found[1:] else more
        raise FileError(f"{where}: {found[0]} {what} of the model{more}; {HINT}")


def proto_values(path: Path) -> tuple[list[int], float, bool]:
    """Values, claimed objective and whether it is claimed to be optimal, in a CpSolverResponse.

    The file is binary or text.

    Raises
    ------
    FileError
        If it is none, or holds no solution.
    """
    from google.protobuf import text_format  # comes with ortools, heavy
    from google.protobuf.message import DecodeError
    from ortools.sat import cp_model_pb2

    response, content = cp_model_pb2.CpSolverResponse(), path.read_bytes()
    try:
        if b"status:" in content or b"solution:" in content:
            text_format.Parse(content.decode(), response)
        else:
            response.ParseFromString(content)
    except (DecodeError, text_format.ParseError, UnicodeDecodeError) as error:
        raise FileError(f"{path}: not a CpSolverResponse: {error}") from None
    if not response.solution:
        status = cp_model_pb2.CpSolverStatus.Name(response.status)
        raise FileError(f"{path}: holds no solution: {status}")
    optimal = response.status == cp_model_pb2.OPTIMAL
    return list(response.solution), float(response.objective_value), optimal


def require_width(values: Sequence[int], width: int, where: str) -> None:
    """See that a solution is of a model's size.

    Raises
    ------
    FileError
        If it has not `width` values.
    """
    if len(values) != width:
        raise FileError(
            f"{where}: {len(values)} values, but the model has {width} variables; {HINT}"
        )


def stamp_of(path: Path) -> Stamp:
    """The stamp of an exported model, in whichever format.

    Raises
    ------
    FileError
        If it has none.
    """
    if path.suffix in (".pb", ".pbtxt"):
        return parse(_proto_name(path.read_bytes()), str(path))
    with path.open(errors="replace") as file:
        return parse("".join(line for _, line in zip(range(20), file, strict=False)), str(path))


def _proto_name(content: bytes) -> str:
    """Name of a ``CpModelProto``, binary or text; empty where it has none or is no such model."""
    from google.protobuf import text_format  # comes with ortools, heavy
    from google.protobuf.message import DecodeError
    from ortools.sat import cp_model_pb2

    proto = cp_model_pb2.CpModelProto()
    try:
        proto.ParseFromString(content)
    except DecodeError:
        # Only the one line: the parsers of text are slow on large models, or print what they miss.
        found = _TEXT_NAME.search(content.decode(errors="replace"))
        proto.Clear()
        if found:
            text_format.Parse(found[0], proto)
    name: str = proto.name
    return name
