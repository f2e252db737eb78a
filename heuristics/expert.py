"""Expert splits: from a file, or by the rule of thumb."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from heuristics.partition import network as network_
from heuristics.partition.layers import split
from heuristics.partition.repair import repair
from heuristics.shared import space as space_
from heuristics.shared import state as state_
from heuristics.shared.best import Best
from heuristics.shared.feasible import baseline
from problems import checker, files
from problems.answer import Answer, AnswerFile, from_file
from problems.files import FileError
from problems.formats import msr, msr_split, msr_write
from problems.formats.reading import load
from problems.instance import Bundle, Instance
from solvers.method import Context, method

FORMS = "an answer file (placebench-answer/1) or a split of the MSR code (fpgas, cpus)"


def clash(options: Mapping[str, Any]) -> str | None:
    """Why these options do not go together, or None."""
    if options["graph"] and not options["file"]:
        return "option graph names the graph that the ids of a file are of: give file=..., too"
    return None


@method(
    problems=["throughput", "latency", "calls"], source="as practitioners do", warm=True,
    clash=clash,
)  # fmt: skip
def expert(
    instance: Instance, context: Context, *, file: str = "", graph: str = ""
) -> Answer | None:
    """A split by hand from `file`, or equal runs of consecutive layers on all accelerators.

    `file` is an answer file of the instance, or a split of the MSR code. The ids in a split of an
    imported graph are those of the file it came from; `graph` names that file, or a bundle of it.
    Without a file: repeated modules are counted by their paths, and each accelerator gets the same
    number of them in topological order, or, without such names, the same number of operators; the
    accelerators are all of them or those of the fastest class. Units that a device cannot take move
    to another. The best single device is answered where it is better.
    """
    best = Best(instance, context)
    begin = time.monotonic()
    space = space_.build(instance)
    clue = time.monotonic() - begin  # what follows takes about as long
    baseline(instance, space, context, best)
    if file:
        best.offer(_read(instance, file, graph))
        return best.answer
    if clue > context.time_left():
        return best.answer
    state, network = state_.empty(space), network_.build(instance, space)
    for devices in _devices(instance, space):
        if best.done():
            break
        cost = network_.seconds(instance, space, network, devices)
        place = split(instance, space, devices)
        if repair(space, state, place, network.ptr, network.neighbour, cost):
            best.offer_device(state.place[space.unit])
    return best.answer


def _devices(instance: Instance, space: space_.Space) -> list[np.ndarray]:
    """All accelerators, and those of the fastest class, in the platform's order."""
    chosen = np.flatnonzero(~instance.host)
    if not len(chosen):
        chosen = np.arange(instance.K)
    speed = network_.work(space, chosen)[1]
    alike = instance.device_class[chosen]
    fastest = chosen[alike == alike[np.argmax(speed)]]
    return [chosen] if len(fastest) == len(chosen) else [chosen, fastest]


def _read(instance: Instance, file: str, graph: str) -> Answer:
    """The answer in a file.

    Raises
    ------
    FileError
        If a file is missing or malformed, or the answer is not one of this instance.
    """
    path = Path(file)
    if not path.is_file():
        hint = "" if path.is_absolute() else f" in {Path.cwd()} (better give an absolute path)"
        raise FileError(f"expert: file={file}: no such file{hint}; valid is {FORMS}")
    data = load(path)
    kind = _format(data, file)
    if kind == "fpgas":
        answer = msr_split.read(data, file, instance, _ids(instance, file, graph))
    elif kind == "placebench-answer/1":
        found = files.decode(data, AnswerFile, file)
        if found.instance != instance.digest:
            raise FileError(
                f"{file}: answers the instance {found.instance[:12]}, not {instance.digest[:12]}"
                f" ({instance.id}) - at `$.instance`"
            )
        answer = from_file(found)
    else:
        raise FileError(f"{file}: neither `format` nor `fpgas` says what it is; valid is {FORMS}")
    # The judge and not the evaluator, which takes sound numbers for granted.
    verdict = checker.check(instance, answer)
    if not verdict.valid:
        said = "; ".join(f"{rule}: {what}" for rule, what in verdict.violations)
        raise FileError(f"{file}: no valid answer to {instance.id}: {said}")
    return answer


def _format(data: bytes, where: str) -> str:
    """What a JSON file says that it is; `fpgas` for a split, empty for anything else."""
    try:
        whole = msgspec.json.decode(data)
    except (ValueError, RecursionError) as error:
        raise FileError(f"{where}: no JSON: {error}; valid is {FORMS}") from None
    if not isinstance(whole, dict):
        return ""
    return "fpgas" if "fpgas" in whole else str(whole.get("format", ""))


def _ids(instance: Instance, file: str, graph: str) -> dict[str, int]:
    """Id of every node, by name."""
    if not graph:
        if instance.provenance.get("graph", {}).get("format") == msr.FORMAT:
            raise FileError(
                f"{file}: its ids are those of the file that {instance.id} was imported from: name"
                " that file, or the bundle, by graph=..., or give an answer file"
            )
        return {name: v for v, name in enumerate(instance.names)}
    path = Path(graph)
    if not path.is_file():
        raise FileError(f"expert: graph={graph}: no such file; valid is an MSR file or a bundle")
    data = load(path)
    if _format(data, graph) == "placebench-bundle/1":
        bundle = files.decode(data, Bundle, graph)
    else:
        bundle = msr.read(data, graph, path.stem).bundle
    known = msr_write.ids_of(instance, bundle)
    if {node.name for node in bundle.graph.nodes} >= set(instance.names):
        return known
    raise FileError(f"{graph}: not the graph of {instance.id}: its nodes have other names")
