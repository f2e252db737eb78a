"""``placebench export mps|lp|proto``: models for solvers that the suite does not know."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from bench.cli import UsageError

if TYPE_CHECKING:
    from problems.instance import Instance
    from solvers.exchange.stamp import Stamp

    Write = Callable[[Instance, str | None, bool], tuple[bytes, Stamp]]

Chosen = Annotated[
    list[str],
    typer.Argument(metavar="INSTANCE...", help="Ids, bundle files; selections with --folder."),
]
Output = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option("-o", "--output", metavar="FILE", help="File of the one instance."),
]
Folder = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option(
        "--folder", metavar="DIR", help="One file an instance, and manifest.json that lists them."
    ),
]
Formulation = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option("--formulation", metavar="NAME", help="Default: the first that takes it."),
]
Symmetry = Annotated[
    bool, typer.Option("--symmetry/--no-symmetry", help="With rows that order like devices.")
]
MANIFEST = "manifest.json"


def mps(
    instances: Chosen,
    output: Output = None,
    folder: Folder = None,
    formulation: Formulation = None,
    symmetry: Symmetry = True,
) -> int:
    """Mixed-integer model in free MPS; `import solution` reads the answer of any solver back."""
    return _export(instances, output, folder, formulation, symmetry, "mps", _neutral("mps"))


def lp(
    instances: Chosen,
    output: Output = None,
    folder: Folder = None,
    formulation: Formulation = None,
    symmetry: Symmetry = True,
) -> int:
    """Mixed-integer model as an LP file; `import solution` reads the answer back."""
    return _export(instances, output, folder, formulation, symmetry, "lp", _neutral("lp"))


def proto(
    instances: Chosen,
    output: Output = None,
    folder: Folder = None,
    formulation: Formulation = None,
    symmetry: Symmetry = True,
    text: Annotated[bool, typer.Option("--text", help="Text, not binary.")] = False,
) -> int:
    """CP-SAT model (CpModelProto); `import solution` reads its CpSolverResponse back."""

    def write(instance: Instance, name: str | None, symmetry: bool) -> tuple[bytes, Stamp]:
        from solvers.exchange import build

        native, stamp = build.native(instance, name, symmetry=symmetry)
        return build.serialized(native.model, text=text), stamp

    ending = "pbtxt" if text else "pb"
    return _export(instances, output, folder, formulation, symmetry, ending, write)


def _neutral(kind: str) -> Write:
    def write(instance: Instance, name: str | None, symmetry: bool) -> tuple[bytes, Stamp]:
        from solvers.exchange import build, model_file

        model, stamp = build.neutral(instance, name, symmetry=symmetry)
        return getattr(model_file, kind)(model, stamp).encode(), stamp

    return write


def _export(
    texts: list[str],
    output: Path | None,
    folder: Path | None,
    formulation: str | None,
    symmetry: bool,
    ending: str,
    write: Write,
) -> int:
    from bench.cli.exporting import keep_sources
    from bench.cli.output import warn
    from bench.selection import load, select
    from problems.catalogue import Library
    from problems.files import write as write_file
    from problems.files import write_atomically
    from solvers.exchange.stamp import Entry, Manifest
    from solvers.method import Unsupported

    if (output is None) == (folder is None):
        raise UsageError("give -o FILE for one instance, or --folder DIR for a selection")
    library = Library()
    chosen = select(texts, library)
    if output is not None:
        if len(chosen) > 1:
            raise UsageError(f"{len(chosen)} instances are selected: give --folder DIR, not -o")
        keep_sources(output, *texts)
        wanted = {"pb": (".pb",), "pbtxt": (".pbtxt",)}.get(ending, (f".{ending}",))
        if output.suffix not in wanted:
            raise UsageError(f"{output}: the name must end in {wanted[0]}")
    entries: list[Entry] = []
    for each in chosen:
        instance = load(each, library)
        try:
            data, stamp = write(instance, formulation, symmetry)
        except KeyError as error:
            raise UsageError(error.args[0]) from None
        except Unsupported as error:
            if folder is None:
                raise UsageError(str(error)) from None
            warn(f"placebench: note: left out: {error}")
            continue
        path = output if folder is None else folder / f"{_plain(instance.id)}.{ending}"
        assert path is not None
        if any(entry.file == path.name for entry in entries):
            path = path.with_name(f"{path.stem}-{instance.digest[:8]}.{ending}")
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, data)
        entries.append(Entry(path.name, stamp))
        print(f"{path}: {stamp.formulation}, objective in {stamp.unit_s!r} s")
    if not entries:
        raise UsageError("none of the chosen instances could be exported")
    if folder is not None:
        write_file(folder / MANIFEST, Manifest("placebench-models/1", entries))
    return 0


def _plain(identity: str) -> str:
    return re.sub(r"[^A-Za-z0-9.=-]+", "_", identity).strip("_")
