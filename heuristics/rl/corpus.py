"""What policies are trained on: captured and generated graphs on chains of like chips.

No graph of a family that has a held-out member is in it, nor any relative of BERT: results on those
are results on graphs that no training has seen. A case is drawn by its number, so that a training
that goes on later sees the same ones.
"""

from __future__ import annotations

import numpy as np

from problems.catalogue import Library
from problems.generate.platforms import module
from problems.generate.scaling import Generated, generate
from problems.generate.scaling_shapes import Layered, SeriesParallel
from problems.graph import OpGraph
from problems.instance import Instance, InstanceSpec, Level
from problems.platform import Platform, link_names
from problems.resolve import resolve
from problems.selections import HOLDOUT

LARGEST = 500
"""Nodes of a captured graph at most."""
CHIPS = (4, 8, 16, 36)
LINKS = ("chip-hop01", "pcie3-x16")
TIGHT = (None, 1.15, 1.5)
"""Memory of all chips together over what there is to hold."""
GENERATED = 0.4
"""Share of the cases with a generated graph."""


def families_held_out(library: Library) -> set[str]:
    """Families of the graphs that are held out."""
    catalogue = library.catalogue()
    family = {graph.name: graph.family for graph in catalogue.graphs}
    held = {e.id.partition(":")[0] for e in catalogue.instances if e.split == HOLDOUT}
    return {family[name] for name in held if name in family}


def captured(library: Library) -> list[str]:
    """Names of the captured graphs that may be trained on, in the order of the catalogue."""
    held = families_held_out(library)
    return [
        graph.name
        for graph in library.catalogue().graphs
        if graph.family not in held
        and "bert" not in graph.name
        and not graph.training
        and graph.kind == "measured"
        and 20 <= graph.nodes["operator"] <= LARGEST
    ]


def case(number: int, seed: int, library: Library) -> Instance:
    """One case of the training set; the same number and seed give the same one."""
    rng = np.random.default_rng([seed, number])
    names = captured(library)
    name = names[int(rng.integers(len(names)))]
    level: Level = "operator"
    if rng.random() < GENERATED:
        graph = _generated(name, rng, library)
    else:
        graph = library.graph(name)
        level = ("operator", "operator", "parent")[int(rng.integers(3))]
    count = CHIPS[int(rng.integers(len(CHIPS)))]
    tight = TIGHT[int(rng.integers(len(TIGHT)))]
    link = LINKS[int(rng.random() < 0.2)]
    held = int(graph.output_bytes.sum()) + sum(
        {key: size for each in graph.weights for key, size in each.items()}.values()
    )
    memory = None if tight is None else int(tight * held / count) + 1
    platform = module(f"train-{count}", count, memory, "for training", link)
    return _resolved(graph, level, platform, number, library)


def _resolved(
    graph: OpGraph, level: Level, platform: Platform, number: int, library: Library
) -> Instance:
    spec = InstanceSpec(graph=graph.name, platform=platform.name, problem="chips", level=level)
    devices = {each.device: library.device(each.device) for each in platform.devices}
    links = {each: library.link(each) for each in sorted(link_names(platform))}
    return resolve(spec, graph, platform, devices, links, f"training case {number}")


def _generated(name: str, rng: np.random.Generator, library: Library) -> OpGraph:
    shape = (
        Layered(shape=float(rng.uniform(0.2, 1.0)), jump=1 + int(rng.integers(3)))
        if rng.random() < 0.5
        else SeriesParallel(parallel=float(rng.uniform(0.2, 0.8)))
    )
    how = Generated(shape, int(rng.integers(40, 301)), int(rng.integers(2**31)), [name])
    return generate(f"generated-{how.seed}", how, [library.graph(name)])
