"""``placebench import aiconfigurator``: GPU times from NVIDIA's tables (extra: gpu-data)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from bench.cli import FAILED, USAGE


def aiconfigurator(
    gpus: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Argument(metavar="[GPU]...", help="Default: six that are unlike; or 'all'."),
    ] = None,
    graphs: Annotated[
        Optional[list[Path]],  # noqa: UP045
        typer.Option("--graph", help="Graph file, repeatable; default: all of the library."),
    ] = None,
    halve: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(
            "--halve",
            metavar="NAME",
            help="Only write graph NAME of the library as NAME-bf16, its payloads and weights of"
            " half the bytes; repeatable.",
        ),
    ] = None,
    output: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--output", "-o", help="Folder for the files; default: the library."),
    ] = None,
) -> None:
    """Write device and link files of data-centre GPUs for the transformer graphs.

    Matrix products and attention come from the tables of aiconfigurator-core (extra gpu-data);
    what they lack is modelled and marked so, signature by signature. Graphs with convolutions are
    left out and named.
    """
    from problems.catalogue import ROOT
    from problems.formats.aiconfigurator.library import CARDS, DEFAULT, halve_graphs, import_gpus
    from problems.formats.aiconfigurator.package import Package

    chosen = list(CARDS) if gpus == ["all"] else gpus or list(DEFAULT)
    paths = graphs or sorted((ROOT / "graphs").glob("*.json.gz"))
    try:
        if halve:
            for path in halve_graphs(ROOT, halve, output or ROOT):
                typer.echo(str(path))
            return
        outcome = import_gpus(Package(), paths, chosen, output or ROOT)
    except ModuleNotFoundError as error:
        message = f"{error.name} is not installed: pip install -e '.[gpu-data]'"
        typer.echo(f"placebench: {message}", err=True)
        raise typer.Exit(FAILED) from None
    except ValueError as error:
        typer.echo(f"placebench: {error}", err=True)
        raise typer.Exit(USAGE) from None
    for path in outcome.written:
        typer.echo(str(path))
    for name, counts in outcome.counts.items():
        parts = ", ".join(f"{count} {rule}" for rule, count in counts.items())
        typer.echo(f"{name}: {outcome.memory[name] / 2**30:.0f} GiB; signatures: {parts}", err=True)
    typer.echo(f"served: {', '.join(outcome.served) or 'no graph'}", err=True)
    for graph, why in outcome.left.items():
        typer.echo(f"left out: {graph}: {why}", err=True)
