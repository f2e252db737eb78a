"""Problem `throughput` as a task: candidates are repaired as parts of a graph partition are."""

from __future__ import annotations

import numpy as np

from heuristics.greedy import construct
from heuristics.partition import network as network_
from heuristics.partition.repair import project, repair
from heuristics.rl.task import Task
from heuristics.shared import space as space_
from heuristics.shared import state as state_
from heuristics.shared.best import Best
from heuristics.shared.feasible import baseline
from heuristics.shared.space import Space
from problems import throughput
from problems.instance import Instance
from solvers.method import Context


class ThroughputTask(Task):
    """Units on devices."""

    chain = False

    def __init__(self, instance: Instance, of: Space | None = None) -> None:
        self.space = space_.build(instance) if of is None else of
        super().__init__(instance, self.space.unit)
        self._state = state_.empty(self.space)
        self._network = network_.build(instance, self.space)
        devices = np.arange(instance.K)
        self._seconds = network_.seconds(instance, self.space, self._network, devices)
        self._rank = devices

    def measure(self, place: np.ndarray) -> tuple[float, np.ndarray]:
        """Period, and all loads (of both phases together)."""
        loads = throughput.loads(self.instance, place[self.unit])
        return float(loads.max(axis=1).sum()), loads.sum(axis=0)

    def begin(self, place: np.ndarray) -> None:
        """Remember the order of the devices along the chain, where they stand in one."""
        if self.space.contiguous:
            order = throughput.chain(self.instance, place[self.unit])
            assert order is not None, "a valid placement"
            self._rank = np.argsort(np.array(order))

    def repair(self, candidate: np.ndarray, moved: np.ndarray) -> np.ndarray | None:
        """Units go on where they can; under `contiguous` in the order of the devices so far."""
        space, wished = self.space, np.ascontiguousarray(candidate, np.int64)
        if space.contiguous:
            chain = np.argsort(self._rank)
            forward = len(moved) == 0 or moved[0] % 2 == 0  # either way, by the draw
            ptr = space.before_ptr if forward else space.after_ptr
            others = space.before if forward else space.after
            wished = chain[project(ptr, others, self._rank[wished], forward)]
        network = self._network
        if not repair(space, self._state, wished, network.ptr, network.neighbour, self._seconds):
            return None
        place: np.ndarray = self._state.place.copy()
        return place if throughput.is_valid(self.instance, place[self.unit]) else None

    def starts(self) -> list[np.ndarray]:
        """What `greedy` finds, and the best single device."""
        best, result = Best(self.instance, Context()), []
        if baseline(self.instance, self.space, best.context, best):
            result.append(self._place(best))
            construct(self.instance, self.space, best)
            result.insert(0, self._place(best))
        return result

    def _place(self, best: Best) -> np.ndarray:
        assert best.answer is not None
        place: np.ndarray = best.answer.device[self.space.unit_node[self.space.unit_ptr[:-1]]]
        return place.astype(np.int64)
