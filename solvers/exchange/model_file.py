"""Neutral models as MPS (free format) and LP files, every number to its last bit.

Formats: the free MPS format as HiGHS, SCIP, CBC, Gurobi and CPLEX read it, and CPLEX's LP format.
A row with two different sides becomes two rows where a range would be rounded.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np

from solvers.exchange.stamp import Stamp
from solvers.model import Model

OBJECTIVE = "objective"
WIDTH = 100


def mps(model: Model, stamp: Stamp) -> str:
    """The model in free MPS."""
    columns = model.column_names()
    rows = _rows(model)
    out = [f"* {line}" for line in stamp.lines()]
    out += [f"NAME {stamp.name}", "ROWS", f" N {OBJECTIVE}"]
    out += [f" {kind} {name}" for name, kind, _, _ in rows]
    out.append("COLUMNS")
    entries = _by_column(model, rows)
    integer = False
    for j, name in enumerate(columns):
        if model.integer[j] != integer:
            integer = not integer
            out.append(f" MARKER 'MARKER' '{'INTORG' if integer else 'INTEND'}'")
        found = entries[j]
        # Readers learn of a column here, of one without entries too.
        if model.cost[j] or not found:
            out.append(f" {name} {OBJECTIVE} {_number(model.cost[j])}")
        out += [f" {name} {row} {_number(value)}" for row, value in found]
    if integer:
        out.append(" MARKER 'MARKER' 'INTEND'")
    out.append("RHS")
    out += [f" RHS {name} {_number(side)}" for name, _, side, _ in rows if side]
    out.append("BOUNDS")
    for name, low, high in zip(columns, model.lower.tolist(), model.upper.tolist(), strict=True):
        out += [f" {bound}" for bound in _mps_bounds(name, low, high)]
    out += ["ENDATA", ""]
    return "\n".join(out)


def lp(model: Model, stamp: Stamp) -> str:
    """The model in the LP format."""
    columns = model.column_names()
    out = [f"\\ {line}" for line in stamp.lines()]
    out += [f"\\Problem name: {stamp.name}", "", "Minimize"]
    paid = np.flatnonzero(model.cost).tolist()
    costs = [(model.cost[j], columns[j]) for j in paid] or [(0.0, columns[0])]
    out += _wrapped(f" {OBJECTIVE}:", _terms(costs))
    out.append("Subject To")
    sense = {"L": "<=", "G": ">=", "E": "="}
    matrix = model.matrix
    for name, kind, side, i in _rows(model):
        entries = slice(matrix.indptr[i], matrix.indptr[i + 1])
        terms = [
            (value, columns[j])
            for value, j in zip(
                matrix.data[entries].tolist(), matrix.indices[entries].tolist(), strict=True
            )
        ]
        ends = [f"{sense[kind]} {_number(side)}"]
        out += _wrapped(f" {name}:", [*_terms(terms or [(0.0, columns[0])]), *ends])
    out.append("Bounds")
    for name, low, high in zip(columns, model.lower.tolist(), model.upper.tolist(), strict=True):
        if low == high:
            out.append(f" {name} = {_number(low)}")
        elif math.isinf(low) and math.isinf(high):
            out.append(f" {name} free")
        else:
            left = "-inf" if math.isinf(low) else _number(low)
            right = "+inf" if math.isinf(high) else _number(high)
            out.append(f" {left} <= {name} <= {right}")
    integral = [columns[j] for j in np.flatnonzero(model.integer).tolist()]
    if integral:
        out += ["General", *_wrapped("", integral)]
    return "\n".join([*out, "End", ""])


def _rows(model: Model) -> list[tuple[str, str, float, int]]:
    """Name, kind, side and row of the model: two for a row with two different sides."""
    rows: list[tuple[str, str, float, int]] = []
    sides = zip(model.row_lower.tolist(), model.row_upper.tolist(), strict=True)
    for i, (name, (low, high)) in enumerate(zip(model.row_names(), sides, strict=True)):
        if low == high:
            rows.append((name, "E", low, i))
            continue
        if math.isfinite(high):
            rows.append((name, "L", high, i))
        if math.isfinite(low):
            rows.append((f"{name}_low" if math.isfinite(high) else name, "G", low, i))
    return rows


def _by_column(
    model: Model, rows: Iterable[tuple[str, str, float, int]]
) -> list[list[tuple[str, float]]]:
    result: list[list[tuple[str, float]]] = [[] for _ in model.cost]
    matrix = model.matrix
    for name, _, _, i in rows:
        entries = slice(matrix.indptr[i], matrix.indptr[i + 1])
        for j, value in zip(
            matrix.indices[entries].tolist(), matrix.data[entries].tolist(), strict=True
        ):
            result[j].append((name, value))
    return result


def _mps_bounds(name: str, low: float, high: float) -> Iterator[str]:
    if low == high:
        yield f"FX BND {name} {_number(low)}"
        return
    if math.isinf(low) and math.isinf(high):
        yield f"FR BND {name}"
        return
    if math.isinf(low):
        yield f"MI BND {name}"
    elif low != 0 or high < 0:
        yield f"LO BND {name} {_number(low)}"
    # Said in any case: an integral column without a bound ends at 1 with some readers.
    yield f"PL BND {name}" if math.isinf(high) else f"UP BND {name} {_number(high)}"


def _terms(terms: Iterable[tuple[float, str]]) -> list[str]:
    return [f"{'-' if value < 0 else '+'} {_number(abs(value))} {name}" for value, name in terms]


def _wrapped(head: str, words: Iterable[str]) -> list[str]:
    """Lines of limited width: some readers cut long ones."""
    lines, current = [], head
    for word in words:
        if len(current) + len(word) >= WIDTH:
            lines.append(current)
            current = " "
        current += f" {word}"
    return [*lines, current]


def _number(value: float) -> str:
    """The shortest text that reads as the same number."""
    whole = float(value)
    return str(int(whole)) if whole == int(whole) and abs(whole) < 2**53 else repr(whole)
