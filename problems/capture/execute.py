"""Execution of a placement for real, to hold the cost model against.

One process a device, each with its threads on cores of its own; results travel through shared
memory as :mod:`problems.capture.links` measures it. The network has random weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from multiprocessing.shared_memory import SharedMemory
from statistics import median
from typing import Any, Literal

import numpy as np

from problems import latency, throughput
from problems.answer import Answer
from problems.capture import child, machine
from problems.capture.channel import room
from problems.graph import OpGraph
from problems.instance import Instance

Way = Literal["latency", "period"]


@dataclass(frozen=True)
class Plan:
    """A placement to execute, in names.

    Attributes
    ----------
    device : dict
        Operator -> device.
    order : list of list of str
        The operators of every device as it runs them.
    way : {'latency', 'period'}
        One sample at a time, or one after the other through the pipeline.
    samples : int
        That count.
    """

    device: dict[str, int]
    order: list[list[str]]
    way: Way
    samples: int = 20


@dataclass(frozen=True)
class Executed:
    """What an execution took.

    Attributes
    ----------
    seconds : float
        Median latency of a sample, or the period: mean time between the ends of samples; of the
        median pass.
    min_s : float
        The smallest latency, or time between two ends.
    parts : list of dict, one a device
        Median seconds a sample in ``operator``, ``view``, ``send`` and ``receive`` (with waiting).
    difference : float
        Largest relative difference of the outputs to those of the network run as it is.
    """

    seconds: float
    min_s: float
    parts: list[dict[str, float]]
    difference: float


def plan_of(instance: Instance, answer: Answer, samples: int = 20) -> Plan:
    """The plan of an answer to a `latency` or `throughput` instance at operator level.

    Under `throughput` every device runs its nodes in their topological order.

    Raises
    ------
    ValueError
        If it is an instance of another problem.
    """
    order: Sequence[np.ndarray]
    if instance.problem == "latency":
        completed = (
            answer if answer.order is not None else latency.dispatch(instance, answer.device)
        )
        assert completed.order is not None
        order, way = completed.order, "latency"
    elif instance.problem == "throughput":
        order = [np.flatnonzero(answer.device == k) for k in range(instance.K)]
        way = "period"
    else:
        raise ValueError(f"{instance.id} is a {instance.problem} instance: nothing to execute")
    names = instance.names
    return Plan(
        device={name: int(k) for name, k in zip(names, answer.device, strict=True)},
        order=[[names[v] for v in nodes] for nodes in order],
        way="latency" if way == "latency" else "period",
        samples=samples,
    )


def predicted(instance: Instance, answer: Answer) -> float:
    """Objective of the answer by the cost model, in seconds."""
    if instance.problem == "latency":
        return latency.makespan(instance, answer)
    return throughput.period(instance, answer.device)


def with_copies(instance: Instance, answer: Answer) -> float:
    """Makespan when both ends of a transfer are busy with it, each for half of its time.

    The `latency` problem takes transfers for pure delays, as between devices with copy engines. A
    process that copies through shared memory computes nothing meanwhile. Devices do here what
    those of :func:`execute` do: send a result to each reader right after it is made, receive it
    right before its first use.

    Raises
    ------
    ValueError
        If the orders of the answer are impossible.
    """
    if answer.order is None:
        answer = latency.dispatch(instance, answer.device)
    sequence = latency.sequence_of(instance, answer)
    if sequence is None:
        raise ValueError("the orders of the answer contradict the edges")
    device = answer.device
    free = [0.0] * instance.K
    sent: dict[tuple[int, int], tuple[float, float]] = {}
    received: set[tuple[int, int]] = set()
    end = 0.0
    for v in map(int, sequence):
        k = int(device[v])
        t = free[k]
        for u in map(int, instance.pred[instance.pred_ptr[v] : instance.pred_ptr[v + 1]]):
            if device[u] != k and (u, k) not in received:
                there, half = sent[u, k]
                t = max(t, there) + half
                received.add((u, k))
        t += float(instance.time[v, k])
        end = max(end, t)
        readers = instance.succ[instance.succ_ptr[v] : instance.succ_ptr[v + 1]]
        for to in sorted({int(each) for each in device[readers]} - {k}):
            half = float(latency.delays(instance, v)[k, to]) / 2
            t += half
            sent[v, to] = (t, half)
        free[k] = t
    return end


def execute(
    network: str,
    graph: OpGraph,
    plans: Sequence[Plan],
    threads: int = 1,
    *,
    seed: int = 0,
    passes: int = 3,
    force: bool = False,
) -> list[Executed]:
    """Run placements of one network in the same processes.

    Parameters
    ----------
    network : str
        Name in the registry of :mod:`problems.capture.models`.
    graph : OpGraph
        The same network at operator level.
    threads : int
        Of every device.
    passes : int
        All plans are run in turn so often, each time with all of their samples: the speed of a
        machine changes by 10-20 % from minute to minute, and all plans should meet the same.

    Raises
    ------
    ValueError
        If there are fewer cores than the devices need, or a plan does not fit the network.
    BusyError
        If the machine is not quiet.
    RuntimeError
        If a process fails; the message has the end of its error output.
    """
    workers = max(len(plan.order) for plan in plans)
    if workers * threads > machine.available_cores():
        raise ValueError(
            f"{workers} devices of {threads} threads need {workers * threads} cores,"
            f" {machine.available_cores()} are there"
        )
    if any(set(plan.device) != set(graph.names) for plan in plans):
        raise ValueError(f"a plan does not place the operators of {graph.name!r}")
    if not force:
        machine.require_quiet()
    with ExitStack() as stack:
        memories = []
        for plan in [*plans] * passes:
            sizes = _crossing(graph, plan)
            memory = SharedMemory(create=True, size=room(sizes))
            stack.callback(memory.unlink)
            stack.callback(memory.close)
            memories.append(memory.name)
        common: dict[str, Any] = {
            "network": network,
            "seed": seed,
            "workers": workers,
            "memories": memories,
            "plans": [
                {
                    "device": plan.device,
                    "order": [*plan.order, *[[]] * (workers - len(plan.order))],
                    "way": plan.way,
                    "samples": plan.samples,
                }
                for plan in [*plans] * passes
            ],
        }
        results, _ = child.run_together(
            "problems.capture.stage",
            [common | {"own": k} for k in range(workers)],
            threads,
            lambda line: None,
        )
    return [
        _together(
            [
                _executed(plan, [result["plans"][j] for result in results])
                for j in range(i, passes * len(plans), len(plans))
            ]
        )
        for i, plan in enumerate(plans)
    ]


def _crossing(graph: OpGraph, plan: Plan) -> list[int]:
    """Bytes of every transfer: one a producer and other device that reads it."""
    names, device = graph.names, plan.device
    pairs = {
        (int(u), device[names[v]]) for u, v in graph.edges if device[names[u]] != device[names[v]]
    }
    return [int(graph.output_bytes[u]) for u, _ in sorted(pairs)]


def _executed(plan: Plan, results: list[dict[str, Any]]) -> Executed:
    times = [result["times"] for result in results]
    if plan.way == "latency":
        whole = [max(each) for each in zip(*times, strict=True)]
        seconds, least = median(whole), min(whole)
    else:
        ends = max(times, key=lambda each: each[-1])
        gaps = np.diff(ends)
        seconds, least = float(gaps.mean()), float(gaps.min())
    return Executed(
        seconds=seconds,
        min_s=least,
        parts=[result["parts"] for result in results],
        difference=max(result["difference"] for result in results),
    )


def _together(each: list[Executed]) -> Executed:
    """The passes of one plan as one: the median pass, the smallest minimum."""
    middle = sorted(each, key=lambda executed: executed.seconds)[len(each) // 2]
    return replace(
        middle,
        min_s=min(executed.min_s for executed in each),
        difference=max(executed.difference for executed in each),
    )
