"""The cost model held against placements that are executed on this machine."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import api
from bench.records import Store
from problems import files
from problems.answer import Answer
from problems.capture.execute import Executed, execute, plan_of, predicted, with_copies
from problems.catalogue import ROOT
from problems.graph import GraphFile, from_file
from problems.instance import Instance, InstanceSpec
from problems.platform import Device, DeviceFile, LinkFile, Platform
from problems.resolve import resolve

METHODS = {"latency": ("heft", "annealing"), "throughput": ("prefix@highs", "annealing")}
RULES: dict[str, dict[str, bool]] = {"latency": {}, "throughput": {"contiguous": True}}


@dataclass(frozen=True)
class Row:
    """One placement: what was predicted and what was measured, in seconds.

    Attributes
    ----------
    placement : str
        ``single`` or the problem with the method that found the placement.
    with_copies_s : float or None
        Prediction of a latency when both ends are busy with a transfer.
    """

    network: str
    placement: str
    predicted_s: float
    measured_s: float
    least_s: float
    with_copies_s: float | None
    difference: float

    @property
    def error(self) -> float:
        """Relative error of the prediction; negative: it takes longer than predicted."""
        return self.predicted_s / self.measured_s - 1


def validate(
    network: str,
    device: str = "epyc3-1t-pair",
    link: str = "shm",
    *,
    threads: int = 1,
    samples: int = 20,
    time_limit_s: float = 10.0,
    store: str | Path | None = None,
    force: bool = False,
) -> list[Row]:
    """Place a network on two devices of this machine, execute it and compare.

    Parameters
    ----------
    network : str
        A network of the registry whose inference graph is in the library.
    device, link : str
        Files of the library that describe this machine: a device of `threads` threads, the link
        through shared memory.
    samples : int
        Of each placement.
    time_limit_s : float
        Of each method that looks for a placement; the best answer is executed.
    store : path, optional
        Where the runs of these methods are kept; default: nowhere, as they are no comparison.

    Raises
    ------
    FileError
        If a file is not there or does not know an operator.
    BusyError
        If the machine is not quiet.
    RuntimeError
        If no method finds a placement, or an execution fails.
    """
    graph = from_file(files.read(ROOT / "graphs" / f"{network}.json.gz", GraphFile))
    device_file = files.read(ROOT / "devices" / f"{device}.json.gz", DeviceFile)
    link_file = files.read(ROOT / "links" / f"{link}.json", LinkFile)

    def instance(problem: str, count: int) -> Instance:
        platform = Platform(
            format="placebench-platform/1",
            name="here",
            topology="direct",
            devices=[Device(name=f"worker{k}", device=device) for k in range(count)],
            default_link=link,
        )
        spec = InstanceSpec(graph=network, platform="here", problem=problem, rules=RULES[problem])
        return resolve(spec, graph, platform, {device: device_file}, {link: link_file})

    placed = [("single", instance("latency", 1), Answer.of([0] * graph.n, [range(graph.n)]))]
    with tempfile.TemporaryDirectory() as nowhere:
        for problem, methods in METHODS.items():
            case = instance(problem, 2)
            label, answer = _best(case, methods, store or nowhere, time_limit_s)
            placed.append((f"{problem}, {label}", case, answer))
    plans = [plan_of(case, answer, samples) for _, case, answer in placed]
    done = execute(network, graph, plans, threads, force=force)
    return [_row(network, *each, executed) for each, executed in zip(placed, done, strict=True)]


def _best(
    case: Instance, methods: Sequence[str], store: str | Path, time_limit_s: float
) -> tuple[str, Answer]:
    records = api.run(case, methods, store=store, time_limit_s=time_limit_s)
    good = [record for record in records if record.objective is not None]
    if not good:
        raise RuntimeError(f"{case.id}: no placement found by {', '.join(methods)}")
    best = min(good, key=lambda record: record.objective or 0.0)
    file = Store(store).get_answer(best.answer)
    return best.entry, Answer.of(file.device, file.order)


def _row(network: str, placement: str, case: Instance, answer: Answer, executed: Executed) -> Row:
    return Row(
        network=network,
        placement=placement,
        predicted_s=predicted(case, answer),
        measured_s=executed.seconds,
        least_s=executed.min_s,
        with_copies_s=with_copies(case, answer) if case.problem == "latency" else None,
        difference=executed.difference,
    )
