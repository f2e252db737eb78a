"""The task of an instance, by its problem."""

from __future__ import annotations

from heuristics.rl.chips_task import ChipsTask
from heuristics.rl.task import Task
from heuristics.rl.throughput_task import ThroughputTask
from problems.instance import Instance, check_problem

PROBLEMS = ("throughput", "chips")


def task_of(instance: Instance, seed: int = 0) -> Task:
    """The task of an instance.

    Parameters
    ----------
    seed : int
        Of the draws that a repair makes after a failed attempt.

    Raises
    ------
    ValueError
        If it is an instance of a problem that has none.
    """
    check_problem(instance, PROBLEMS, "a policy")
    return ChipsTask(instance, seed) if instance.problem == "chips" else ThroughputTask(instance)
