"""``placebench export``: instances, answers and records in the formats of others."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from bench.cli import UsageError
from bench.cli.exporting_models import lp, mps, proto
from bench.cli.exporting_records import records

if TYPE_CHECKING:
    from problems.answer import Answer
    from problems.instance import Bundle, Instance

app = typer.Typer(
    name="export",
    help="Write instances, answers and records in other formats.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("mps")(mps)
app.command("lp")(lp)
app.command("proto")(proto)
app.command("records")(records)
Chosen = Annotated[
    str, typer.Argument(metavar="INSTANCE", help="Instance id or the path of a bundle.")
]
Output = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option("-o", "--output", metavar="FILE", help="Default: standard output."),
]


@app.command("msr")
def msr(instance: Chosen, output: Output = None) -> None:
    """JSON of the NeurIPS 2020 device-placement code, where it can express the instance."""
    from bench.cli.output import warn
    from problems.files import FileError
    from problems.formats import msr, msr_write

    keep_sources(output, instance)
    bundle, resolved = _resolved(instance)
    data = msr_write.write(resolved, msr_write.ids_of(resolved, bundle))
    try:  # before it is written: what the import refuses is of no use
        back = msr.read(
            data,
            "export",
            "export",
            problem=resolved.problem,
            contiguous=bool(getattr(resolved.rules, "contiguous", False)),
            split_phases=bool(getattr(resolved.rules, "split_phases", False)),
            slots=getattr(resolved.rules, "slots", None),
        ).bundle
    except FileError as error:
        what = str(error).removeprefix("export: ")
        raise UsageError(f"{resolved.id} is not written, no import would take it: {what}") from None
    _put(data, output)
    command = shlex.join(["placebench import msr", *msr_write.flags(resolved)]).replace("'", "")
    differs = msr_write.differences(resolved, back)
    if differs:
        warn(f"placebench: note: `{command}` brings it back but for {', '.join(differs)}")
    else:
        warn(f"placebench: note: `{command}` brings the same instance back")


@app.command("msr-split")
def msr_split(
    answer: Annotated[Path, typer.Argument(metavar="ANSWER", help="Answer file.")],
    instance: Annotated[
        str, typer.Option("--instance", metavar="BUNDLE|ID", help="The instance it answers.")
    ],
    output: Output = None,
) -> None:
    """An answer as a split file of that code: node ids a device."""
    from bench.cli.output import warn
    from problems.formats import msr_split, msr_write

    keep_sources(output, answer, instance)
    bundle, resolved = _resolved(instance)
    found = _answer(answer, resolved)
    _put(msr_split.write(found, resolved, msr_write.ids_of(resolved, bundle)), output)
    dropped = [
        what
        for what, given in (("the order on each device", found.order), ("start times", found.start))
        if given is not None
    ]
    if dropped:
        warn(f"placebench: note: a split file has no place for {' and '.join(dropped)}: left out")


@app.command("dot")
def dot(
    instance: Chosen,
    answer: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--answer", metavar="FILE", help="Colour the nodes by their device."),
    ] = None,
    output: Output = None,
) -> None:
    """DOT, to be drawn by Graphviz."""
    from problems.formats import dot

    keep_sources(output, instance, *([] if answer is None else [answer]))
    _, resolved = _resolved(instance)
    device = None if answer is None else _answer(answer, resolved).device
    _put(dot.write(resolved, device).encode(), output)


def keep_sources(output: Path | None, *sources: Path | str) -> None:
    """Refuse an output that is one of the files that are read.

    Raises
    ------
    UsageError
        If it is, by whatever path.
    """
    for source in sources:
        try:
            same = output is not None and output.samefile(source)
        except (OSError, ValueError):
            same = False  # one of them is no file, or the id of an instance
        if same:
            raise UsageError(f"{output} is read and would be overwritten; give another -o")


def bundle_of(text: str) -> Bundle:
    """The bundle in a file, or that of one instance of the library.

    Raises
    ------
    UsageError
        If the text selects several instances.
    """
    from bench.selection import select
    from problems.catalogue import Library
    from problems.files import read
    from problems.instance import Bundle

    if Path(text).name.endswith((".json", ".json.gz")):
        return read(text, Bundle)
    library = Library()
    found = select([text], library)
    if len(found) > 1:
        raise UsageError(f"{text!r} selects {len(found)} instances, not one")
    return next(
        library.bundle(spec)
        for spec in library.index().instances
        if found[0].entry is not None and spec.id == found[0].entry.id
    )


def _resolved(text: str) -> tuple[Bundle, Instance]:
    from problems.resolve import from_bundle

    bundle = bundle_of(text)
    return bundle, from_bundle(bundle, text)


def _answer(path: Path, instance: Instance) -> Answer:
    """The answer in a file, if it is one to `instance`."""
    from problems import answer as answers
    from problems import files
    from problems.checker import check

    content = files.read(path, answers.AnswerFile)
    if content.instance != instance.digest:
        raise UsageError(
            f"{path} answers the instance {content.instance[:16]}..., but {instance.id} is"
            f" {instance.digest[:16]}..."
        )
    answer = answers.from_file(content)
    for rule, what in check(instance, answer).violations:
        if rule in ("shape", "device"):
            raise UsageError(f"{path}: {what}")
    return answer


def _put(data: bytes, output: Path | None) -> None:
    from problems.files import write_atomically

    if output is None:
        sys.stdout.write(data.decode())
    else:
        write_atomically(output, data)
        print(output)
