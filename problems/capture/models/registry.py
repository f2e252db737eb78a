"""Networks by name: how they are registered, found and captured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import nn

from problems.capture import Progress, silent
from problems.capture.graph import export_graph
from problems.graph import GraphFile


@dataclass(frozen=True)
class Built:
    """A network with example inputs, on the default device of the moment.

    Attributes
    ----------
    block : str
        Regular expression for the blocks of the network at the start of module paths.
    provenance : dict
        Source, batch, sequence, seeds: whatever describes the structure.
    """

    model: nn.Module
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    block: str
    provenance: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Builder:
    """Name, family and the function that builds the network.

    Attributes
    ----------
    build : callable
        Called without arguments.
    network : str
        What is built, with its source: ``ResNet-50 (arXiv 1512.03385).``
    """

    name: str
    family: str
    build: Callable[[], Built]
    network: str


BUILDERS: dict[str, Builder] = {}


def register(
    name: str, family: str, network: str, build: Callable[..., Built], **sizes: int
) -> None:
    """Let `name` stand for ``build(**sizes)``.

    Raises
    ------
    ValueError
        If the name is taken.
    """
    if name in BUILDERS:
        raise ValueError(f"network {name!r} is registered twice")
    BUILDERS[name] = Builder(name, family, partial(build, **sizes), network)


def builder(name: str, family: str) -> Callable[[Callable[..., Built]], Callable[..., Built]]:
    """Register the decorated function under `name`; its docstring says what it builds.

    The function takes sizes (``batch``, ``sequence``, ...) as keywords with defaults.
    """

    def decorate(build: Callable[..., Built]) -> Callable[..., Built]:
        register(name, family, (build.__doc__ or "").removeprefix("Build ").strip(), build)
        return build

    return decorate


def variant(name: str, base: str, **sizes: int) -> None:
    """Register the network `base` once more, in other sizes.

    Raises
    ------
    ValueError
        If the name is taken or there is no such base.
    """
    of = find(base)
    register(name, of.family, of.network, of.build, **sizes)


def find(name: str) -> Builder:
    """Look a network up.

    Raises
    ------
    ValueError
        If there is none of this name; the message lists those there are.
    """
    if name not in BUILDERS:
        raise ValueError(f"no network {name!r}; the networks are {', '.join(BUILDERS)}")
    return BUILDERS[name]


def capture_graph(name: str, progress: Progress = silent) -> GraphFile:
    """Capture the graph of a network by its name.

    Parameters
    ----------
    name : str
        One of :data:`BUILDERS`.
    progress : callable
        Told the fraction done, 0..1, and what is being done.

    Raises
    ------
    ValueError
        If there is no network of this name.
    """
    chosen = find(name)
    progress(0.0, f"building {name}")
    with torch.device("meta"):
        built = chosen.build()
    progress(0.3, f"exporting {name}")
    file = export_graph(
        name,
        chosen.family,
        built.model,
        built.args,
        built.kwargs,
        block=built.block,
        provenance={"network": chosen.network} | built.provenance,
    )
    progress(1.0, f"{name}: {len(file.nodes)} nodes, {len(file.signatures)} signatures")
    return file
