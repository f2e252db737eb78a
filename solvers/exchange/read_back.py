"""From what an outside solver made of an exported model to an answer."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from problems.files import FileError
from solvers.exchange.solution_file import Solution
from solvers.exchange.stamp import Stamp, parse
from solvers.model import Model

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


def proto_values(path: Path, width: int) -> tuple[list[int], float]:
    """Values and claimed objective in a ``CpSolverResponse``, binary or text.

    Raises
    ------
    FileError
        If it is none, holds no solution, or one of another size than `width`.
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
    if len(response.solution) != width:
        raise FileError(
            f"{path}: {len(response.solution)} values, but the model has {width} variables; {HINT}"
        )
    return list(response.solution), float(response.objective_value)


def stamp_of(path: Path) -> Stamp:
    """The stamp of an exported model, in whichever format.

    Raises
    ------
    FileError
        If it has none.
    """
    if path.suffix in (".pb", ".pbtxt"):
        from ortools.sat.python import cp_model  # heavy: out of start-up

        model = cp_model.CpModel()
        if not model.proto.parse_text_format(path.read_text(errors="replace")):
            from ortools.sat import cp_model_pb2

            proto = cp_model_pb2.CpModelProto()
            proto.ParseFromString(path.read_bytes())
            return parse(proto.name, str(path))
        return parse(model.proto.name, str(path))
    with path.open(errors="replace") as file:
        return parse("".join(line for _, line in zip(range(20), file, strict=False)), str(path))
