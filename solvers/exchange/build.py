"""The model of an instance as it is exported: the same whenever it is built again."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from problems.answer import Answer
from problems.instance import Instance
from solvers import catalogue, objective
from solvers.exchange.stamp import Stamp
from solvers.method import Unsupported
from solvers.mip import ROOM, guess
from solvers.model import Model

FIRST = ("prefix", "assign", "disjunctive", "calls")
"""Formulations that are taken before others, where none is named."""
FIRST_NATIVE = ("stages", "intervals", "slots", "hops")


@dataclass(frozen=True, eq=False)
class Native:
    """A CP-SAT model and how the values of its variables read as an answer.

    Attributes
    ----------
    model : ortools.sat.python.cp_model.CpModel
    width : int
        Number of variables.
    read : callable
        Values of all variables, in their order, to answer.
    """

    model: Any
    width: int
    read: Callable[[Sequence[int]], Answer]


def neutral(
    instance: Instance, formulation: str | None = None, *, symmetry: bool = True
) -> tuple[Model, Stamp]:
    """A neutral model that depends on nothing but the arguments.

    Its unit is a power of ten, and the period or makespan of a simple starting answer is an upper
    bound in it.

    Raises
    ------
    KeyError
        If there is no such formulation.
    Unsupported
        If the formulation, or each where none is named, refuses the instance.
    """
    name, module = _chosen(
        instance, formulation, catalogue.formulations(), catalogue.formulation, FIRST
    )
    upper = _upper(instance)
    size = upper if math.isfinite(upper) else guess(instance)
    unit = float(f"1e{math.floor(math.log10(size))}")
    model: Model = module.build(instance, symmetry=symmetry, upper=upper * ROOM, scale=unit)
    return model, Stamp(instance.id, instance.digest, name, symmetry, unit)


def native(
    instance: Instance, formulation: str | None = None, *, symmetry: bool = True
) -> tuple[Native, Stamp]:
    """A CP-SAT model that depends on nothing but the arguments; see :func:`neutral`.

    A module of ``solvers/cpsat`` offers ``build(instance, upper, model, symmetry=...)``, which
    fills a ``CpModel`` and returns an object with ``unit`` (seconds) and ``read(value)``, where
    `value` tells the value of a variable or literal.
    """
    from ortools.sat.python import cp_model  # heavy: out of start-up

    name, module = _chosen(
        instance, formulation, catalogue.natives(), catalogue.native, FIRST_NATIVE
    )
    model = cp_model.CpModel()
    program = module.build(instance, _upper(instance), model, symmetry=symmetry)
    stamp = Stamp(instance.id, instance.digest, name, symmetry, float(program.unit))
    model.name = "\n".join(stamp.lines())

    def read(values: Sequence[int]) -> Answer:
        def value(variable: Any) -> int:
            index: int = variable.index
            return values[index] if index >= 0 else 1 - values[-index - 1]

        answer: Answer = program.read(value)
        return answer

    return Native(model, len(model.proto.variables), read), stamp


def serialized(model: Any, *, text: bool) -> bytes:
    """A CP-SAT model as a ``CpModelProto``, binary or text."""
    if text:
        return str(model.proto).encode()
    with tempfile.TemporaryDirectory() as folder:  # the binding writes to files only
        path = Path(folder) / "model.pb"
        if not model.export_to_file(str(path)):
            raise OSError(f"CP-SAT could not write {path}")
        return path.read_bytes()


def _upper(instance: Instance) -> float:
    answer = objective.starting(instance)
    value = None if answer is None else objective.value(instance, answer)
    if value == 0.0:
        raise Unsupported(
            "the instance has an answer that takes no time: there is nothing to solve"
        )
    return math.inf if value is None else value


def _chosen(
    instance: Instance,
    name: str | None,
    names: list[str],
    load: Callable[[str], ModuleType],
    first: tuple[str, ...],
) -> tuple[str, ModuleType]:
    if name is not None:
        module = load(name)
        reason = _refusal(name, module, instance)
        if reason is not None:
            raise Unsupported(reason)
        return name, module
    for each in sorted(names, key=lambda each: (each not in first, each)):
        module = load(each)
        if _refusal(each, module, instance) is None:
            return each, module
    raise Unsupported(
        f"no formulation takes {instance.id} (problem {instance.problem}); there are"
        f" {', '.join(names)}"
    )


def _refusal(name: str, module: ModuleType, instance: Instance) -> str | None:
    if not hasattr(module, "build"):
        return f"{name} builds no model of a whole instance"
    method = getattr(module, "METHOD", None)  # of a native formulation
    problems: tuple[str, ...] = module.PROBLEMS if method is None else method.problems
    if instance.problem not in problems:
        return f"{name} is for {', '.join(problems)}, not {instance.problem}"
    reason: str | None = (module if method is None else method).refuses(instance)
    return reason
