"""``placebench import solution``: what an outside solver made of an exported model, judged."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from bench.cli import DONE, FAILED, UsageError

if TYPE_CHECKING:
    from problems.answer import Answer
    from problems.instance import Instance
    from solvers.exchange.stamp import Stamp

PROTO = (".pb", ".pbtxt", ".bin")


def solution(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Solution of HiGHS, SCIP, CBC, GLPK (-o), Gurobi or CPLEX (XML); a"
            " CpSolverResponse in .pb or .pbtxt.",
        ),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="ANSWER", help="Answer file to write.")
    ],
    instance: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--instance", metavar="BUNDLE|ID", help="Default: the one --model names."),
    ] = None,
    model: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            "--model",
            metavar="FILE",
            help="The exported model: says its instance, formulation and options.",
        ),
    ] = None,
    formulation: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--formulation", metavar="NAME", help="As at the export; default as there."),
    ] = None,
    symmetry: Annotated[
        bool, typer.Option("--symmetry/--no-symmetry", help="As at the export.")
    ] = True,
) -> int:
    """Solution file of an exported model as an answer, checked; exit code 1 if it is invalid."""
    from bench.cli.exporting import bundle_of, keep_sources
    from bench.cli.importing import check_name
    from problems import answer as answers
    from problems import checker, files
    from problems.resolve import from_bundle
    from solvers.exchange.read_back import stamp_of

    check_name(output)
    stamp = None
    if model is not None:
        stamp = stamp_of(model)
        formulation, symmetry = formulation or stamp.formulation, stamp.symmetry
        if formulation != stamp.formulation:
            raise UsageError(f"{model} is of the formulation {stamp.formulation}")
    wanted = instance or (None if stamp is None else stamp.instance)
    if wanted is None:
        raise UsageError("say which instance: --instance, or --model with the exported file")
    keep_sources(output, file, wanted, *([] if model is None else [model]))
    resolved = from_bundle(bundle_of(wanted), wanted)
    if stamp is not None and stamp.digest != resolved.digest:
        raise UsageError(
            f"{model} was exported from the instance {stamp.digest[:16]}..., but {resolved.id} is"
            f" {resolved.digest[:16]}..."
        )
    answer, claimed = _read(file, resolved, formulation, symmetry, stamp)
    files.write(output, answers.to_file(answer, resolved.digest))
    verdict = checker.check(resolved, answer)
    said = "; ".join(f"invalid ({rule}): {what}" for rule, what in verdict.violations)
    print(f"{output}: {said or f'valid: {verdict.objective!r} s'} on {resolved.id}")
    if claimed is not None:
        print(f"{file} claims {claimed!r} s{_compared(claimed, verdict.objective)}")
    return FAILED if verdict.violations else DONE


def _read(
    file: Path,
    instance: Instance,
    formulation: str | None,
    symmetry: bool,
    stamp: Stamp | None,
) -> tuple[Answer, float | None]:
    """The answer in a solution file, and the objective that it claims in seconds."""
    from problems.files import FileError
    from solvers.exchange import build, read_back, solution_file
    from solvers.method import Unsupported

    if not file.is_file():
        raise FileError(f"no file {str(file)!r}")
    try:
        if file.suffix in PROTO:
            native, told = build.native(instance, formulation, symmetry=symmetry)
            values, objective = read_back.proto_values(file, native.width)
            return native.read(values), objective * (stamp or told).unit_s
        model, told = build.neutral(instance, formulation, symmetry=symmetry)
    except KeyError as error:
        raise UsageError(error.args[0]) from None
    except Unsupported as error:
        raise UsageError(str(error)) from None
    found = solution_file.read(file.read_text(errors="replace"), str(file))
    names = found.model or ""
    if names.startswith("placebench_") and not names.startswith(told.name):
        raise UsageError(
            f"{file} is of the model {names}, but that of {instance.id} is {told.name}"
        )
    x = read_back.vector(model, found, str(file))
    claimed = found.objective
    return model.read(x), None if claimed is None else claimed * (stamp or told).unit_s


def _compared(claimed: float, checked: float | None) -> str:
    if checked is None:
        return ""
    if abs(claimed - checked) <= 1e-6 * max(abs(claimed), abs(checked)):
        return ", the checker agrees"
    return f"; what the checker finds is {(checked - claimed) / (abs(claimed) or 1.0):+.3%} off"
