"""``placebench import``: instances and answers from the formats of others."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from bench.cli import UsageError
from bench.cli.import_aiconfigurator import aiconfigurator

app = typer.Typer(
    name="import",
    help="Bring instances and answers from other formats; every import writes a file to use.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("aiconfigurator")(aiconfigurator)


class TimeUnit(StrEnum):
    """Units that files mix up."""

    s = "s"
    ms = "ms"


# typer wants Optional spelled at run time on every Python that is supported.
Source = Annotated[Path, typer.Argument(metavar="FILE", help="May end in .gz.")]
Output = Annotated[
    Path,
    typer.Option("-o", "--output", metavar="BUNDLE", help="Bundle to write (.json, .json.gz)."),
]
Name = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option("--name", help="Of the instance; default: the file's, without ending."),
]
Origin = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option("--source", metavar="TEXT", help="Where the data come from, for the provenance."),
]
Licence = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option("--licence", metavar="TEXT", help="Licence of the data, for the provenance."),
]
Problem = Annotated[str, typer.Option("--problem", help="throughput or latency.")]
Contiguous = Annotated[
    bool,
    typer.Option("--contiguous/--free", help="Devices form a chain, or any placement is allowed."),
]
SplitPhases = Annotated[
    bool,
    typer.Option("--split-phases", help="Forward and backward loads have a maximum each."),
]


@app.callback()
def _formats() -> None:
    """Bring instances and answers from other formats; every import writes a file to use."""


@app.command("msr")
def msr(
    file: Source,
    output: Output,
    problem: Problem = "throughput",
    contiguous: Contiguous = False,
    split_phases: SplitPhases = False,
    cost_unit: Annotated[
        TimeUnit, typer.Option("--cost-unit", help="Unit of the transfer costs; times are ms.")
    ] = TimeUnit.ms,
    slots: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option("--slots", metavar="Q", help="Subgraphs an accelerator (problem calls)."),
    ] = None,
    name: Name = None,
    source: Origin = None,
    licence: Licence = None,
) -> None:
    """JSON of the NeurIPS 2020 device-placement code."""
    from problems.formats import msr
    from problems.formats.reading import load

    if slots is not None or problem == "calls":
        raise UsageError("the problem `calls` is not here yet; --problem throughput or latency")
    _check_rules(problem, contiguous, split_phases)
    imported = msr.read(
        load(file),
        str(file),
        name or stem(file),
        problem=problem,
        contiguous=contiguous,
        split_phases=split_phases,
        cost_unit=cost_unit.value,
        provenance=provenance(file, source, licence),
    )
    finish(imported, output)


def stem(file: Path) -> str:
    """The name of a file without its endings."""
    return file.name.removesuffix(".gz").rpartition(".")[0] or file.name


def provenance(file: Path, source: str | None, licence: str | None) -> dict[str, Any]:
    """What is said about where a file comes from."""
    return {
        "file": file.name,
        **({"source": source} if source else {}),
        **({"licence": licence} if licence else {}),
    }


def _check_rules(problem: str, contiguous: bool, split_phases: bool) -> None:
    if problem not in ("throughput", "latency"):
        raise UsageError(f"no problem {problem!r}; the problems are throughput, latency")
    if problem != "throughput" and (contiguous or split_phases):
        raise UsageError("--contiguous and --split-phases are rules of --problem throughput")


def finish(imported: Any, output: Path) -> None:
    """Write a bundle; say on stderr what is noteworthy, on stdout what it became."""
    from bench.cli.output import warn
    from problems import files
    from problems.resolve import from_bundle

    if not output.name.endswith((".json", ".json.gz")):
        raise UsageError(f"{output}: the name of a bundle ends in .json or .json.gz")
    instance = from_bundle(imported.bundle)
    files.write(output, imported.bundle)
    for note in imported.notes:
        warn(f"placebench: note: {note}")
    print(
        f"{output}: {instance.problem}, {instance.n} nodes, {instance.m} edges,"
        f" {instance.K} devices, digest {instance.digest[:16]}"
    )
