"""``placebench import``: instances and answers from the formats of others."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from bench.cli import UsageError
from bench.cli.import_aiconfigurator import aiconfigurator
from bench.cli.solutions import solution

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
app.command("solution")(solution)


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
Devices = Annotated[int, typer.Option("--devices", metavar="K", min=1, help="How many.")]
Memory = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option("--memory", metavar="SIZE", help="Of every device: 4GB, 512MiB."),
]
Problem = Annotated[str, typer.Option("--problem", help="throughput, latency, calls or chips.")]
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
        typer.Option(
            "--slots", metavar="Q", min=1, help="Calls an accelerator (--problem calls); no limit."
        ),
    ] = None,
    name: Name = None,
    source: Origin = None,
    licence: Licence = None,
) -> None:
    """JSON of the NeurIPS 2020 device-placement code."""
    from problems.formats import msr
    from problems.formats.reading import load

    rules(problem, contiguous, split_phases)
    if slots is not None and problem != "calls":
        raise UsageError("--slots is a rule of --problem calls")
    imported = msr.read(
        load(file),
        str(file),
        name or stem(file),
        problem=problem,
        contiguous=contiguous,
        split_phases=split_phases,
        slots=slots,
        cost_unit=cost_unit.value,
        provenance=provenance(file, source, licence),
    )
    finish(imported, output, file)


@app.command("msr-split")
def msr_split(
    file: Source,
    instance: Annotated[
        str, typer.Option("--instance", metavar="BUNDLE|ID", help="The instance that is split.")
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="ANSWER", help="Answer file to write.")
    ],
) -> None:
    """A split file of that code (node ids a device) as an answer, for `placebench check`."""
    from bench.cli.exporting import bundle_of, keep_sources
    from problems import answer as answers
    from problems import checker, files
    from problems.formats import msr_split, msr_write
    from problems.formats.reading import load
    from problems.resolve import from_bundle

    check_name(output)
    keep_sources(output, file, instance)
    bundle = bundle_of(instance)
    resolved = from_bundle(bundle, instance)
    ids = msr_write.ids_of(resolved, bundle)
    answer = msr_split.read(load(file), str(file), resolved, ids)
    files.write(output, answers.to_file(answer, resolved.digest))
    verdict = checker.check(resolved, answer)
    said = "; ".join(f"invalid ({rule}): {what}" for rule, what in verdict.violations)
    print(f"{output}: {said or f'valid: {verdict.objective!r} s'} on {resolved.id}")


@app.command("pipedream")
def pipedream(
    file: Source,
    output: Output,
    devices: Devices,
    bandwidth: Annotated[
        float, typer.Option("--bandwidth", metavar="B", help="Of every link, in bytes/s.")
    ],
    latency: Annotated[
        float, typer.Option("--latency", metavar="S", help="Of every link, in seconds.")
    ] = 0.0,
    memory: Memory = None,
    training: Annotated[
        Optional[bool],  # noqa: UP045
        typer.Option(
            "--training/--inference",
            help="With backward nodes, or forward only; default: as the file has times.",
        ),
    ] = None,
    problem: Problem = "throughput",
    contiguous: Contiguous = False,
    split_phases: SplitPhases = False,
    name: Name = None,
    source: Origin = None,
    licence: Licence = None,
) -> None:
    """PipeDream's graph.txt, on like devices joined by like links."""
    from bench.cli.units import size
    from problems.formats import pipedream
    from problems.formats.reading import load

    imported = pipedream.read(
        load(file),
        str(file),
        name or stem(file),
        devices=devices,
        bandwidth_Bps=bandwidth,
        latency_s=latency,
        memory_bytes=None if memory is None else size(memory),
        training=training,
        problem=problem,
        rules=rules(problem, contiguous, split_phases),
        provenance=provenance(file, source, licence),
    )
    finish(imported, output, file)


@app.command("piper")
def piper(
    file: Source,
    output: Output,
    devices: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option("--devices", metavar="K", min=1, help="Instead of the file's maxDevices."),
    ] = None,
    time_unit: Annotated[
        TimeUnit, typer.Option("--time-unit", help="Of timePerSample; bandwidth is bytes/s.")
    ] = TimeUnit.s,
    problem: Problem = "throughput",
    contiguous: Contiguous = False,
    name: Name = None,
    source: Origin = None,
    licence: Licence = None,
) -> None:
    """Piper's JSON, without its tensor-parallel variants."""
    from problems.formats import piper
    from problems.formats.reading import load

    imported = piper.read(
        load(file),
        str(file),
        name or stem(file),
        time_unit=time_unit.value,
        devices=devices,
        problem=problem,
        rules=rules(problem, contiguous, False),
        provenance=provenance(file, source, licence),
    )
    finish(imported, output, file)


@app.command("graph")
def graph(
    file: Source,
    times: Annotated[Path, typer.Option("--times", metavar="CSV", help="node,device,seconds")],
    devices: Annotated[
        Path, typer.Option("--devices", metavar="CSV", help="name,kind,memory_bytes,host")
    ],
    output: Output,
    links: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            "--links",
            metavar="CSV",
            help="device,latency_s,bandwidth_Bps (ports to host memory) or"
            " source,target,latency_s,bandwidth_Bps (wires).",
        ),
    ] = None,
    problem: Problem = "throughput",
    contiguous: Contiguous = False,
    split_phases: SplitPhases = False,
    name: Name = None,
    source: Origin = None,
    licence: Licence = None,
) -> None:
    """A graph in DOT or GraphML, with times, devices and links in CSV tables."""
    from problems.formats import profile
    from problems.formats.reading import load

    imported = profile.read(
        (load(file), str(file)),
        (load(times), str(times)),
        (load(devices), str(devices)),
        None if links is None else (load(links), str(links)),
        name or stem(file),
        problem=problem,
        rules=rules(problem, contiguous, split_phases),
        provenance=provenance(file, source, licence),
    )
    finish(imported, output, file, times, devices, *([] if links is None else [links]))


def rules(problem: str, contiguous: bool, split_phases: bool) -> dict[str, Any]:
    """The rules that the options ask for.

    Raises
    ------
    UsageError
        If the problem does not have them, or is none.
    """
    from problems.rules import RULES  # msgspec: out of start-up

    if problem not in RULES:
        raise UsageError(f"no problem {problem!r}; the problems are {', '.join(RULES)}")
    if problem != "throughput" and (contiguous or split_phases):
        raise UsageError("--contiguous and --split-phases are rules of --problem throughput")
    given = {"contiguous": contiguous, "split_phases": split_phases}
    return {rule: True for rule, asked in given.items() if asked}


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


def check_name(output: Path) -> None:
    """Refuse a name that the suite would not take as an instance or answer."""
    if not output.name.endswith((".json", ".json.gz")):
        raise UsageError(f"{output}: the name must end in .json or .json.gz")


def finish(imported: Any, output: Path, *sources: Path) -> None:
    """Write a bundle over none of its sources.

    What is noteworthy goes to stderr, what became of it to stdout.
    """
    from bench.cli.exporting import keep_sources
    from bench.cli.output import warn
    from problems import files
    from problems.resolve import from_bundle

    check_name(output)
    keep_sources(output, *sources)
    instance = from_bundle(imported.bundle)
    files.write(output, imported.bundle)
    for note in imported.notes:
        warn(f"placebench: note: {note}")
    print(
        f"{output}: {instance.problem}, {instance.n} nodes, {instance.m} edges,"
        f" {instance.K} devices, digest {instance.digest[:16]}"
    )
