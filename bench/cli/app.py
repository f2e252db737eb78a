"""The commands and their options.

Every command imports its own module when it is called: ``--help`` must not wait for numpy, numba,
pandas or the library (under half a second is the aim).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from bench.cli.options import (
    Allowed,
    Cluster,
    Compared,
    Entries,
    Instances,
    Jobs,
    Json,
    Memory,
    Records,
    Sides,
    StoreFolder,
    Submissions,
    WarmTime,
)

app = typer.Typer(
    name="placebench",
    help="Compare methods that place deep neural networks on heterogeneous devices.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
bks_app = typer.Typer(
    help="Best-known answers and bounds.", no_args_is_help=True, rich_markup_mode=None
)
app.add_typer(bks_app, name="bks")

RUNS = Path("results/runs")


@app.command("list")
def list_(
    what: Annotated[
        str, typer.Argument(help="instances, entries, platforms or selections.")
    ] = "instances",
    instances: Instances = None,
    json: Json = False,
) -> int:
    """List instances, entries, platforms or selections."""
    from bench.cli import listing

    return listing.run(what, instances or [], json)


@app.command()
def show(
    instance: Annotated[str, typer.Argument(help="Instance id, glob or bundle file.")],
    json: Json = False,
) -> int:
    """Show one instance: sizes, devices, provenance, bounds, best known."""
    from bench.cli import show

    return show.run(instance, json)


@app.command()
def run(
    instances: Instances = None,
    entries: Entries = None,
    time: Annotated[
        str, typer.Option("--time", metavar="TIME", help="Limit of a run: 500ms, 10s, 2m, 1h.")
    ] = "10s",
    seeds: Annotated[int, typer.Option("--seeds", metavar="N", min=1, help="Seeds a run.")] = 1,
    seed: Annotated[int, typer.Option("--seed", metavar="S", min=0, help="First seed.")] = 0,
    jobs: Jobs = 1,
    cluster: Cluster = None,
    threads: Annotated[
        int, typer.Option("--threads", metavar="N", min=1, help="Threads of a method.")
    ] = 1,
    memory: Memory = None,
    warm_time: WarmTime = "2m",
    store: StoreFolder = RUNS,
    rerun: Annotated[bool, typer.Option("--rerun", help="Run again what is there.")] = False,
    json: Json = False,
) -> int:
    """Run entries on instances; finished runs are kept and reused.

    Exit code 1: a run crashed, raised, ran out of memory or gave an invalid answer.
    """
    from bench.cli import running

    return running.run(
        instances=instances or ["default"],
        entries=entries or ["default"],
        time=time,
        seeds=range(seed, seed + seeds),
        jobs=jobs,
        cluster=cluster,
        threads=threads,
        memory=memory,
        warm_time=warm_time,
        store=store,
        rerun=rerun,
        json=json,
    )


@app.command()
def conformance(
    target: Annotated[
        list[str],
        typer.Argument(
            help="A .py or .toml file, an entry, or 'exec:PROGRAM {instance} {seconds} {seed}'."
        ),
    ],
    time: Annotated[
        str, typer.Option("--time", metavar="TIME", help="Limit of a run: 500ms, 2s.")
    ] = "1s",
    jobs: Jobs = 1,
    folder: Annotated[
        Path,
        typer.Option("-o", "--output", metavar="DIR", help="Where instances of faults are kept."),
    ] = Path("results/conformance"),
    json: Json = False,
) -> int:
    """Check that a method keeps what methods promise; exit code 1 when a check fails.

    It is run on instances at the edges (one node, one device, tight memory, ties, ...).
    """
    from bench.cli import conformance

    return conformance.run(target, time, jobs, folder, json)


@app.command()
def check(
    file: Annotated[Path, typer.Argument(help="Answer file (.json or .json.gz).")],
    instance: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--instance",
            metavar="ID|FILE",
            help="Its instance; by default the one of the library with the digest in the file.",
        ),
    ] = None,
    json: Json = False,
) -> int:
    """Judge an answer; exit code 1 when it is invalid."""
    from bench.cli import check

    return check.run(file, instance, json)


@app.command()
def compare(
    sides: Sides,
    records: Records = None,
    store: StoreFolder = RUNS,
    entries: Compared = None,
    instances: Instances = None,
    allow: Allowed = None,
    changes: Annotated[
        int, typer.Option("--changes", metavar="N", min=0, help="Largest changes listed each way.")
    ] = 5,
    json: Json = False,
) -> int:
    """Compare entries, or the same entries in two files: what improved and what got worse.

    Exit code 1: a record does not hold, or a checked answer contradicts a claim.
    """
    from bench.cli import comparing

    return comparing.run(
        sides, store, records, entries or [], instances or [], allow or [], changes, json
    )


@app.command()
def leaderboard(
    instances: Instances = None,
    store: StoreFolder = RUNS,
    records: Records = None,
    submissions: Submissions = None,
    output: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            "-o",
            "--output",
            metavar="DIR",
            help="Where the pages go; default: page in the store, results/leaderboard for"
            " --records and --submissions.",
        ),
    ] = None,
    publish: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--publish",
            metavar="NAME",
            help="Also merge the records into results/records/NAME.jsonl, with their answers.",
        ),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("-q", "--quiet", help="Write the pages, print no table.")
    ] = False,
    json: Json = False,
) -> int:
    """Rank the entries; write a site of pages (index.html), and tables as .md, .csv and .tex.

    Exit code 1: a record was set aside, as it does not hold, or an answer refutes a bound.
    """
    from bench.cli import ranking

    if output is None:  # what is published is only written over by what is published
        ours = records is not None or submissions is not None
        output = Path("results/leaderboard") if ours else store / "page"
    if submissions is not None:
        from bench.cli import ranking_submissions

        given = {"--records": records, "--publish": publish}
        return ranking_submissions.run(instances or [], submissions, output, given, quiet, json)
    return ranking.run(instances or [], store, records, output, publish, quiet, json)


@app.command()
def bounds(
    instance: Annotated[str, typer.Argument(help="Instance id, glob, selection or bundle file.")],
    search: Annotated[
        bool, typer.Option("--search", help="Run the bounds that search, too.")
    ] = False,
    seconds: Annotated[
        str, typer.Option("--seconds", metavar="TIME", help="What each of these may take.")
    ] = "60",
    save: Annotated[
        bool, typer.Option("--save", help="Keep the values in results/bounds.")
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Compute again what is on file.")] = False,
    json: Json = False,
) -> int:
    """Compute the lower bounds of instances: * is the best, - is not valid or not run."""
    from bench.cli import bounds, units

    options = bounds.Options(search, units.seconds(seconds), save, fresh)
    return bounds.run(instance, options, json)


@bks_app.command("list")
def bks_list(instances: Instances = None, json: Json = False) -> int:
    """List what is best known of every instance with a claim on file."""
    from bench.cli import known

    return known.list_(instances or [], json)


@bks_app.command("update")
def bks_update(store: StoreFolder = RUNS, records: Records = None, json: Json = False) -> int:
    """Add the claims of records; print old -> new. Each new answer is checked again before."""
    from bench.cli import known

    return known.update(store, records, json)


@bks_app.command("verify")
def bks_verify(
    instances: Instances = None,
    recompute: Annotated[
        bool, typer.Option("--bounds", help="Compute the cheap bounds again, too.")
    ] = False,
    json: Json = False,
) -> int:
    """Check every stored best-known answer again; exit code 1 when a claim is wrong.

    A solver's proof that a checked answer contradicts is listed as in conflict.
    """
    from bench.cli import known

    return known.verify(instances or [], recompute, json)


@app.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    add_help_option=False,
)
def capture(context: typer.Context) -> int:
    """Capture graphs, devices and links (needs the extra `capture`)."""
    from bench.cli import capture

    return (
        capture.app(args=context.args, prog_name="placebench capture", standalone_mode=False) or 0
    )


@app.command(
    "import",
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    add_help_option=False,
)
def import_(context: typer.Context) -> int:
    """Bring instances and answers from other formats."""
    from bench.cli import importing

    return (
        importing.app(args=context.args, prog_name="placebench import", standalone_mode=False) or 0
    )


@app.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    add_help_option=False,
)
def export(context: typer.Context) -> int:
    """Write instances and answers in other formats."""
    from bench.cli import exporting

    return (
        exporting.app(args=context.args, prog_name="placebench export", standalone_mode=False) or 0
    )


@app.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    add_help_option=False,
)
def submit(context: typer.Context) -> int:
    """Write a submission to the leaderboard from records; or withdraw one."""
    from bench.cli import submitting

    return (
        submitting.app(args=context.args, prog_name="placebench submit", standalone_mode=False) or 0
    )


@app.command("submit-check")
def submit_check(
    folders: Annotated[
        list[str], typer.Argument(help="Folders, names in results/submissions, or all.")
    ],
    json: Json = False,
) -> int:
    """Make every check of submissions; exit code 1 when one fails."""
    from bench.cli import submitting

    return submitting.check(folders, json)


@app.command()
def doctor(json: Json = False) -> int:
    """Say what is installed and whether the solvers can be used."""
    from bench.cli import doctor

    return doctor.run(json)
