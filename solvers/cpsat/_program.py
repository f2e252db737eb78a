"""What the CP-SAT model of a pipeline is made of: its literals, what follows from them, hints."""

from __future__ import annotations

from typing import Any

import numpy as np

from problems import throughput
from problems.answer import Answer
from problems.instance import Instance
from solvers.cpsat._units import whole
from solvers.formulations._symmetry import canonical, leaders


class Program:
    """The CP-SAT model of an instance and its variables; see :func:`build`.

    Attributes
    ----------
    model : ortools.sat.python.cp_model.CpModel
    unit : float
        Seconds.
    end : int
        Units that no load exceeds.
    x : list of list
        Literal "group g is on device k", or None where it cannot be.
    at : list of list
        `contiguous`: literal "group g is at position b", or None; empty otherwise.
    seat : list of list
        `contiguous` with unlike devices: literal "device k is at position b"; empty otherwise.
    top : list
        Largest load of each phase in units.
    floor : float
        A cheap lower bound in seconds.
    classes : int64 array, shape (K,)
        Which devices are interchangeable in the model.
    order : int64 array
        Groups along which like devices are ordered where there is no chain.
    """

    def __init__(
        self, instance: Instance, model: Any, unit: float, end: int, symmetry: bool
    ) -> None:
        self.instance, self.model, self.symmetry = instance, model, symmetry
        self.unit, self.end = unit, end
        self.classes = instance.device_class if symmetry else np.arange(instance.K)
        self.x: list[list[Any]] = []
        self.at: list[list[Any]] = []
        self.seat: list[list[Any]] = []
        self.top: list[Any] = []
        self.floor = 0.0
        self.order = leaders(instance)
        self._implied: list[tuple[Any, list[list[Any]]]] = []

    def units(self, seconds: np.ndarray) -> np.ndarray:
        """Whole units; see :func:`solvers.cpsat._units.whole`."""
        return whole(seconds, self.unit, self.end)

    def literal(self, possible: bool = True) -> Any:
        """A new literal, or None."""
        return self.model.new_bool_var("") if possible else None

    def implied(self, bodies: list[list[Any]]) -> Any:
        """A literal that holds where all of a body hold; None for no bodies, or the body itself."""
        if not bodies:
            return None
        if len(bodies) == 1 == len(bodies[0]):
            return bodies[0][0]
        head = self.literal()
        for body in bodies:
            self.model.add_bool_or([head, *(each.negated() for each in body)])
        self._implied.append((head, bodies))
        return head

    def hint(self, answer: Answer) -> None:
        """Hint an answer, and all literals that follow from it."""
        instance = self.instance
        placed = answer.device[np.unique(instance.group, return_index=True)[1]]
        rank = np.arange(instance.K)
        if self.at:
            chain = throughput.chain(instance, answer.device)
            assert chain is not None
            used = set(placed.tolist())
            rank = np.argsort(sorted(chain, key=lambda k: k not in used))
            placed, rank = _in_order(placed, rank, self.classes)
        elif self.symmetry:
            placed = canonical(self.order, placed, instance.device_class)
        self.model.clear_hints()
        known: dict[int, bool] = {}

        def put(rows: list[list[Any]], chosen: np.ndarray) -> None:
            for row, c in zip(rows, chosen.tolist(), strict=True):
                for i, on in enumerate(row):
                    if on is not None:
                        index, value = on.index, i == c
                        known[max(index, -index - 1)] = value if index >= 0 else not value

        def holds(literal: Any) -> bool:
            i = literal.index
            return known[i] if i >= 0 else not known[-i - 1]

        put(self.x, placed)
        if self.at:
            put(self.at, rank[placed])
        if self.seat:
            put(self.seat, rank)
        for head, bodies in self._implied:
            known[head.index] = any(all(map(holds, body)) for body in bodies)
        for i, value in known.items():
            self.model.add_hint(self.model.get_bool_var_from_proto_index(i), value)

    def read(self, value: Any) -> Answer:
        """The answer of a solution, given as a function of literals."""
        placed = [
            next(k for k, on in enumerate(row) if on is not None and value(on)) for row in self.x
        ]
        return Answer(np.array(placed, np.int64)[self.instance.group])


def _in_order(
    placed: np.ndarray, rank: np.ndarray, classes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Relabel like devices by position: device of every group, position of every device."""
    to, position = np.arange(len(rank)), rank.copy()
    for i in range(int(classes.max()) + 1):
        mine = np.flatnonzero(classes == i)
        by_rank = mine[np.argsort(rank[mine])]
        to[by_rank] = mine
        position[mine] = np.sort(rank[mine])
    return to[placed], position


def real(literals: list[Any]) -> list[Any]:
    """The literals that are not None."""
    return [each for each in literals if each is not None]
