"""``placebench import solution``: what an outside solver made of an exported model, judged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from bench.cli import DONE, FAILED, UsageError

if TYPE_CHECKING:
    from problems.answer import Answer
    from problems.instance import Instance
    from solvers.exchange.stamp import Stamp

PROTO = (".pb", ".pbtxt", ".bin")
AGREES = 1e-6  # relative
# Solvers say "optimal" within a relative gap of 1e-4 unless told otherwise, and round.
FALSE = 2e-4


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
        Optional[bool],  # noqa: UP045
        typer.Option("--symmetry/--no-symmetry", help="As at the export; default --symmetry."),
    ] = None,
) -> int:
    """Solution file of an exported model as an answer, checked.

    Exit code 1 if it is invalid, worse than the file claims, or claimed optimal and is not.
    """
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
        if formulation not in (None, stamp.formulation):
            raise UsageError(f"{model} is of the formulation {stamp.formulation}")
        if symmetry not in (None, stamp.symmetry):
            told = "--symmetry" if stamp.symmetry else "--no-symmetry"
            raise UsageError(f"{model} was exported with {told}")
        formulation, symmetry = stamp.formulation, stamp.symmetry
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
    answer, claimed, optimal = _read(file, resolved, formulation, symmetry is not False, stamp)
    files.write(output, answers.to_file(answer, resolved.digest))
    verdict = checker.check(resolved, answer)
    said = "; ".join(f"invalid ({rule}): {what}" for rule, what in verdict.violations)
    print(f"{output}: {said or f'valid: {verdict.objective!r} s'} on {resolved.id}")
    faults = len(verdict.violations)
    if claimed is not None:
        print(f"{file} claims {claimed!r} s{_compared(claimed, verdict.objective)}")
        for fault in _false_claims(claimed, optimal, verdict.objective, resolved.digest):
            print(f"{file}: false claim: {fault}")
            faults += 1
    return FAILED if faults else DONE


def _read(
    file: Path,
    instance: Instance,
    formulation: str | None,
    symmetry: bool,
    stamp: Stamp | None,
) -> tuple[Answer, float | None, bool]:
    """The answer in a solution file, its claimed objective in seconds, and if that is optimal."""
    from problems.files import require_file
    from solvers.exchange import build, read_back, solution_file
    from solvers.method import Unsupported

    require_file(file, "a solution file")
    # Before the model is built, which takes seconds: an empty or cut file is the usual fault.
    if file.suffix in PROTO:
        values, objective, optimal = read_back.proto_values(file)
    else:
        found = solution_file.read(file.read_text(errors="replace"), str(file))
    try:
        if file.suffix in PROTO:
            native, told = build.native(instance, formulation, symmetry=symmetry)
            read_back.require_width(values, native.width, str(file))
            return native.read(values), objective * (stamp or told).unit_s, optimal
        model, told = build.neutral(instance, formulation, symmetry=symmetry)
    except KeyError as error:
        raise UsageError(error.args[0]) from None
    except Unsupported as error:
        raise UsageError(str(error)) from None
    names = found.model or ""
    if names.startswith("placebench_") and not names.startswith(told.name):
        raise UsageError(
            f"{file} is of the model {names}, but that of {instance.id} is {told.name}"
        )
    x = read_back.vector(model, found, str(file))
    claimed = None if found.objective is None else found.objective * (stamp or told).unit_s
    return model.read(x), claimed, found.optimal


def _compared(claimed: float, checked: float | None) -> str:
    if checked is None:
        return ""
    if abs(claimed - checked) <= AGREES * max(abs(claimed), abs(checked)):
        return ", the checker agrees"
    return f"; what the checker finds is {(checked - claimed) / (abs(claimed) or 1.0):+.3%} off"


def _false_claims(
    claimed: float, optimal: bool, checked: float | None, digest: str
) -> Iterator[str]:
    """What a file says of its answer that the checker, or an answer on file, contradicts."""
    from bench import bks

    if checked is None:
        return
    if checked > claimed + FALSE * abs(claimed):
        yield f"the answer takes {checked!r} s"
    if not optimal:
        return
    best, by = checked, "the answer itself"
    known = bks.load().get(digest)
    head = None if known is None else bks.headline(known.claims)
    if head is not None and head.objective is not None and head.objective < best:
        best, by = head.objective, f"the best known answer ({head.by})"
    if best < claimed - FALSE * abs(claimed):
        yield f"said to be optimal, but {by} takes {best!r} s"
