"""``placebench submit`` and ``placebench submit-check``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Optional

import msgspec
import typer

from bench import presets
from bench.cli import DONE, FAILED, UsageError, output, units
from bench.cli.options import Instances, Json, Records, StoreFolder
from bench.entries import Entry
from bench.environment import suite_version
from bench.leaderboard import gather
from bench.selection import select
from bench.submissions import folder as folders
from bench.submissions import making, tracks, writing
from bench.submissions.checking import Result, Shared, examine, there
from bench.submissions.folder import Folder
from bench.submissions.layout import NAME, ClaimedRun, Division, content_digest
from bench.submissions.making import About, Asked
from problems import answer as answers
from problems import files
from problems.files import FileError

app = typer.Typer(
    help="Submit results to the leaderboard: write a folder from records, or retire one.",
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
SHOWN = 3  # faults of a check in the table


class _Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line of the file that --claims names; `answer` is a path beside it."""

    answer: str
    time_s: float
    seed: int = 0
    claim: str = ""


@app.command()
def submit(
    name: Annotated[str, typer.Argument(help="Name of the submission, which is its folder's.")],
    method: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("-m", "--method", metavar="ENTRY", help="The entry; as -m of run takes it."),
    ] = None,
    instances: Instances = None,
    time: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--time", metavar="TIME", help="Limit of the runs, where there are several."),
    ] = None,
    store: StoreFolder = Path("results/runs"),
    records: Records = None,
    refer: Annotated[
        bool,
        typer.Option("--refer", help="Do not copy the records of --records, name the file."),
    ] = False,
    claims: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            "--claims",
            metavar="FILE",
            help='Instead of records, JSON lines {"answer": FILE, "time_s": 12.5}; open division.',
        ),
    ] = None,
    division: Annotated[str, typer.Option("--division", help="closed or open.")] = "closed",
    authors: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option("--author", metavar="TEXT", help="Who; repeatable."),
    ] = None,
    description: Annotated[
        str, typer.Option("--description", metavar="TEXT", help="What the method does.")
    ] = "",
    links: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option("--link", metavar="URL", help="Code or paper; repeatable."),
    ] = None,
    machine: Annotated[
        str, typer.Option("--machine", metavar="TEXT", help="What --claims were made on.")
    ] = "",
    incomplete: Annotated[
        str, typer.Option("--incomplete", metavar="WHY", help="Why runs are missing.")
    ] = "",
    supersedes: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--supersedes", metavar="NAME", help="The submission that this one replaces."),
    ] = None,
    withdraw: Annotated[
        bool, typer.Option("--withdraw", help="Withdraw the submission; it is kept, not ranked.")
    ] = False,
    why: Annotated[
        str, typer.Option("--why", metavar="TEXT", help="For --withdraw and --supersedes.")
    ] = "",
    replace: Annotated[
        bool, typer.Option("--replace", help="Write anew what is there under the name.")
    ] = False,
    folder: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("-o", "--output", metavar="DIR", help="Default: results/submissions."),
    ] = None,
    json: Json = False,
) -> int:
    """Write the folder of a submission from records, and check it.

    Exit code 1: a check of the new folder fails.
    """
    if not NAME.fullmatch(name):
        raise UsageError(f"{name!r} is no name: letters, digits, dots and dashes only")
    root = folders.root() if folder is None else folder
    writing.put_back(root)
    shared = Shared(root=root)
    if withdraw or supersedes:
        _need(why, "--why: say why")
    if withdraw:
        done = making.retire(name, "withdrawn", why, shared)
        print(f"{name}: withdrawn on {done.changed}; kept in {root / name}")
        return DONE
    _need(method, "-m ENTRY: say what is submitted")
    _need(authors, "--author: say who submits")
    _need(description, "--description: say what the method does")
    assert method is not None
    if division not in ("closed", "open"):
        raise UsageError(f"division {division!r}; the divisions are closed, open")
    if supersedes and supersedes not in shared.siblings():
        raise UsageError(f"no submission {supersedes!r}; there are {_names(shared)}")
    if refer and records is None:
        raise UsageError("--refer is for --records results/records/NAME.jsonl")
    limit = None if time is None else units.seconds(time)
    kind: Division = "closed" if division == "closed" else "open"
    asked = _asked(instances or [], kind, limit, shared)
    about = About(
        name, authors or [], description, links or [], kind, incomplete=incomplete, machine=machine
    )
    target = root / name
    writing.require_room(target, replace)
    if claims is not None:
        rows = _claims(claims, shared)
        submission, _ = making.of_claims(rows, method, asked, about, suite_version())
        writing.write_claims(target, submission, rows)
    else:
        source = gather.from_store(store) if records is None else gather.from_file(records)
        output.faults(source.faults)
        published = _published(records) if refer and records is not None else ""
        submission, runs = making.of_records(
            source, _entry(method), asked, about, shared.find, limit, published
        )
        if not published:
            runs = writing.brief(runs)
            submission = msgspec.structs.replace(submission, content=content_digest(runs))
        if published:
            writing.write_reference(target, submission)
        else:
            writing.write_records(target, submission, runs, source.store)
    if supersedes:
        making.retire(supersedes, "superseded", why, shared, name)
    results = examine(Folder(target), Shared(shared.library, root))
    show(results, json, f"{target}: {submission.records} records")
    return FAILED if any(each.errors for each in results) else DONE


def _need(value: object, message: str) -> None:
    if not value:
        raise UsageError(message)


def _names(shared: Shared) -> str:
    return ", ".join(sorted(shared.siblings())) or "none"


def _entry(text: str) -> Entry:
    found = presets.parse([text])
    if len(found) != 1:
        raise UsageError(f"{text!r} is {len(found)} entries; a submission is of one")
    return found[0]


def _asked(texts: Sequence[str], division: Division, limit: float | None, shared: Shared) -> Asked:
    """The instances: those given, else those of the track of the limit."""
    if not texts and division == "closed":
        fitting = [t for t in tracks.TRACKS if t.time_limit_s == limit and t.ranked]
        if len(fitting) != 1:
            raise UsageError(f"-i, or the --time of a track: {tracks.describe()}")
        texts = fitting[0].instances
    if not texts:
        raise UsageError("-i SELECTION: say what was run")
    selected = select(texts, shared.library)
    if outside := [each.name for each in selected if each.entry is None]:
        raise UsageError(f"{outside[0]}: submissions are about instances of the library")
    return Asked(texts, {e.entry.digest: e.entry.id for e in selected if e.entry is not None})


def _published(path: Path) -> str:
    """The name of a published file."""
    if path.resolve().parent != (folders.root().parent / "records").resolve():
        raise UsageError("--refer: only files of results/records can be named")
    return path.stem


def _claims(path: Path, shared: Shared) -> list[tuple[ClaimedRun, answers.AnswerFile]]:
    """Claims in a file with the answers that it names."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}") from None
    found = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        row = files.decode(line, _Row, where)
        file = files.read(path.parent / row.answer, answers.AnswerFile)
        entry = shared.entries.get(file.instance)
        if entry is None:
            raise FileError(f"{where}: the library has no instance of the answer {row.answer}")
        values = {
            "instance": entry.id, "digest": file.instance, "answer": answers.digest(file),
            "time_s": row.time_s, "seed": row.seed, "claim": row.claim,
        }  # fmt: skip
        found.append((files.decode(files.encode(values), ClaimedRun, where), file))
    return found


def check(which: Sequence[str], json: bool) -> int:
    """Make all checks of submissions: folders, names of the repository's, or ``all``.

    Raises
    ------
    UsageError
        If there is no such folder.
    """
    paths: list[Path] = []
    for text in which:
        if text == "all":
            paths += there(folders.root())
            if not paths:
                raise UsageError(f"{folders.root()}: no submissions there")
        elif Path(text).is_dir():
            paths.append(Path(text))
        elif NAME.fullmatch(text) and (folders.root() / text).is_dir():
            paths.append(folders.root() / text)
        else:
            known = ", ".join(path.name for path in there(folders.root())) or "none"
            raise UsageError(f"no folder {text!r}; the repository's submissions are {known}")
    results = []
    library = Shared()
    for path in dict.fromkeys(paths):
        inside = path.resolve().parent == library.root.resolve()
        shared = library if inside else library.beside(path.resolve().parent)
        results += examine(Folder(path), shared)
    show(results, json)
    return FAILED if any(each.errors for each in results) else DONE


def show(results: Sequence[Result], json: bool, first: str = "") -> None:
    """Print the checks: a table of one submission; of several a line each and what is wrong."""
    if json:
        output.as_json(results)
        return
    if first:
        print(first)
    names = list(dict.fromkeys(each.submission for each in results))
    if len(names) == 1:
        output.rows(
            {"check": "left", "looked at": "right", "errors": "right", "warnings": "right",
             "state": "left", "what": "fold"},
            [
                [r.check, str(r.looked), str(len(r.errors)), str(len(r.warnings)), r.state, what(r)]
                for r in results
            ],
        )  # fmt: skip
    else:
        rows = []
        for name in names:
            mine = [each for each in results if each.submission == name]
            wrong = [each for each in mine if each.state != "ok"]
            rows.append(
                [name, str(len(mine)), str(sum(len(r.errors) for r in mine)),
                 str(sum(len(r.warnings) for r in mine)),
                 "; ".join(f"{r.check}: {what(r) or r.state}" for r in wrong)]
            )  # fmt: skip
        output.rows(
            {"submission": "left", "checks": "right", "errors": "right", "warnings": "right",
             "what": "fold"},
            rows,
        )  # fmt: skip
    errors = sum(len(each.errors) for each in results)
    warnings = sum(len(each.warnings) for each in results)
    print(f"{len(names)} submissions, {len(results)} checks: {errors} errors, {warnings} warnings")


def what(result: Result) -> str:
    """The first faults of a check, errors first."""
    told = [*result.errors, *result.warnings]
    more = [f"and {len(told) - SHOWN} more"] if len(told) > SHOWN else []
    return "; ".join([*told[:SHOWN], *more])
