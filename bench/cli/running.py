"""``placebench run``."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from bench import bks, machine, presets, results
from bench.cli import DONE, FAILED, Interrupted, Unread, UsageError, output, skipped, units
from bench.cli.progress import Lively, Plain, Progress, plan_text
from bench.cli.ranking import standings
from bench.cluster_slots import ClusterError
from bench.entries import Entry, load_method
from bench.leaderboard import gather, terminal
from bench.records import Record, Store
from bench.selection import load, select
from bench.suite import run_suite
from problems.catalogue import Library

SHOWN = 10
DEFAULT_STORE = Path("results/runs")
LEAST_MEMORY = 384 * 2**20
"""Address space that a run has to have before any method is loaded."""


def run(
    *,
    instances: Sequence[str],
    entries: Sequence[str],
    time: str,
    seeds: Sequence[int],
    jobs: int,
    cluster: str | None,
    threads: int,
    memory: str | None,
    warm_time: str,
    store: Path,
    rerun: bool,
    json: bool,
) -> int:
    """Run, and say at the end who ranks where and what failed."""
    limit = units.seconds(time)
    warm_limit = units.seconds(warm_time)
    if seeds[-1] >= 2**31:
        count = f" for {len(seeds)} seeds" if seeds[0] < 2**31 else ""
        raise UsageError(f"--seed {seeds[0]} is too large{count}: seeds are below 2**31")
    if cluster is not None and jobs > 1:
        raise UsageError("--jobs is for this machine; with --cluster the workers' slots count")
    memory_bytes = None if memory is None else units.size(memory)
    if memory_bytes is not None and memory_bytes < LEAST_MEMORY:
        least = f"{LEAST_MEMORY / 2**20:g} MiB"
        raise UsageError(f"--memory {memory}: Python and numpy alone need more: at least {least}")
    if cluster is None and threads > (cores := machine.usable_cores()):
        output.warn(f"placebench: --threads {threads}, but only {cores:g} cores may be used here")
    chosen_entries = presets.parse(entries)
    library = Library()
    selected = select(instances, library)
    known = gather.Known.of(library.entries(), bks.load())
    loaded = []
    for each in selected:
        instance = load(each, library)
        loaded.append(instance)
        if instance.digest not in known.bounds:
            known = known.with_instance(instance)
    console = output.console()
    progress: Progress
    if json or not console.is_terminal:
        progress = Plain(sys.stderr if json else sys.stdout)
    else:
        progress = Lively(console)
    if machine.compile_cache()["functions"] == 0 and not cluster:
        output.warn(
            "placebench: no compiled code is on file yet: the first run of a method compiles for"
            " some seconds, before its clock starts"
        )
    try:
        with progress:
            records = run_suite(
                loaded,
                chosen_entries,
                store=Store(store),
                seeds=list(seeds),
                time_limit_s=limit,
                memory_limit_bytes=memory_bytes,
                threads=threads,
                jobs=jobs,
                cluster=cluster,
                rerun=rerun,
                load_limit_s=warm_limit,
                progress=progress,
            )
    except ClusterError as error:
        output.warn(f"placebench: {error}")
        return FAILED
    except KeyboardInterrupt:
        output.warn(f"placebench: interrupted; {_kept(progress, store)}")
        raise Interrupted from None
    except BrokenPipeError:  # `placebench run | head`: to go on unseen is not what that asks for
        output.warn(f"placebench: nobody reads the output any more; {_kept(progress, store)}")
        raise Unread from None
    failures = [record for record in records if results.failed(record)]
    # What was reused was checked again by the suite, and made again where it did not hold.
    source = gather.Source(Store(store), records, str(store))
    board = gather.board(source, known) if records else None
    lacking = skipped.unavailable(entries)
    for line in lacking:
        output.warn(f"placebench: {line}")
    contradicted = board is not None and board.contradictions
    code = FAILED if failures or contradicted or lacking else DONE
    if json:
        output.as_json(
            {
                "ranking": [] if board is None else standings(board),
                "records": records,
                "skipped": [
                    {"entry": entry, "reason": reason, "runs": count}
                    for (entry, reason), count in sorted(progress.skipped.items())
                ],
            }
        )
        return code
    if console.is_terminal:
        console.print(plan_text(progress.plan))
    for line in skipped.lines(progress.skipped):
        print(line)
    if board is None:
        output.warn("placebench: every run was skipped, for the reasons above: there is no row")
        return FAILED
    console.print()
    terminal.show(board, console)
    _failures(failures)
    _unanswered([r for r in records if r.check == "none" and not results.failed(r)], chosen_entries)
    where = "" if store == DEFAULT_STORE else f" --store {shlex.quote(str(store))}"
    print(f"records: {store}   next: placebench leaderboard{where}")
    return code


def _kept(progress: Progress, store: Path) -> str:
    count = len(progress.finished)
    said = f"{count} finished run{' is' if count == 1 else 's are'} kept in {store}"
    return f"{said}; the same command goes on from there"


def _unanswered(records: Sequence[Record], entries: Sequence[Entry]) -> None:
    """Say how many runs found nothing in their time: a result, not a failure.

    A stranger's method that was not warm may have spent its time on compiling.
    """
    if not records:
        return
    count = len(records)
    print(f"no answer: {count} run{'s' if count != 1 else ''} ended without one in time")
    late = {record.entry for record in records if record.termination == "time-limit"}
    for entry in entries:
        of_a_file = entry.file is not None and entry.file.endswith(".py")
        if not (of_a_file and entry.label in late):
            continue
        if not load_method(entry.method, entry.file, entry.source).warm:
            print(
                f"  {entry.label} has no warm-up: what it compiles or imports late counts as its"
                " time; see `warm=True` of @method"
            )


def _failures(failures: Sequence[Record]) -> None:
    if not failures:
        return
    print(f"failed: {len(failures)} run{'s' if len(failures) != 1 else ''}")
    for record in failures[:SHOWN]:
        print(f"  {record.entry}  {record.instance}  seed {record.seed}: {results.reason(record)}")
    if len(failures) > SHOWN:
        print(f"  ... and {len(failures) - SHOWN} more")
