"""The published runs, brought up to date: what is missing is run, then submitted.

``python -m bench.publish`` looks at every track of :mod:`bench.submissions.tracks`, runs what its
published file lacks, merges it in, writes the submissions of the suite's own entries anew where
their records changed, and says what it did. Run again, it goes on where it was stopped: runs are
kept in a store of their own. ``--plan`` only says what is missing; ``--submit`` runs nothing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import bks, presets
from bench.entries import Entry, load_method
from bench.environment import suite_version
from bench.leaderboard import gather
from bench.leaderboard.gather import Source
from bench.records import Record, Store
from bench.selection import select
from bench.submissions import folder as folders
from bench.submissions import making, writing
from bench.submissions.checking import Shared
from bench.submissions.folder import Folder, published
from bench.submissions.layout import Submission
from bench.submissions.making import About, Asked
from bench.submissions.ranked import Several
from bench.submissions.tracks import THREADS, TRACKS, Track
from bench.suite import Finished, run_suite
from problems.files import FileError
from problems.instance import Instance

AUTHOR = "the placebench authors"
RUNS = Path("results/runs/published")
SEEDS = 3


@dataclass(frozen=True)
class Missing:
    """Runs that a published file lacks: one entry under one seed."""

    entry: Entry
    seed: int
    instances: Sequence[Instance]


def asked(track: Track, shared: Shared) -> Asked:
    """The instances of a track."""
    selected = [each.entry for each in select(track.instances, shared.library)]
    return Asked(track.instances, {each.digest: each.id for each in selected if each is not None})


def on_file(track: Track) -> list[Record]:
    """The published records of a track; none where there is no file yet."""
    path = bks.RESULTS / "records" / f"{track.published}.jsonl"
    return published(track.published) if path.exists() else []


def missing(track: Track, shared: Shared) -> list[Missing]:
    """What the published file of a track lacks; a run that failed is there."""
    there = {
        (record.digest, record.entry, record.seed)
        for record in on_file(track)
        if (record.time_limit_s, record.threads, record.memory_limit_bytes, record.suite)
        == (track.time_limit_s, THREADS, None, suite_version())
    }
    digests = asked(track, shared).digests
    found = []
    for entry, seeds in wanted(track):
        method = load_method(entry.method)
        for seed in range(seeds):
            lacking = [d for d in sorted(digests) if (d, entry.label, seed) not in there]
            loaded = [each for each in map(shared.find, lacking) if each is not None]
            taken = [each for each in loaded if method.refusal(each) is None]
            if taken:
                found.append(Missing(entry, seed, taken))
    return found


def wanted(track: Track) -> list[tuple[Entry, int]]:
    """The entries of a track, each with how many seeds it has, from 0 on."""
    once = [(entry, 1) for entry in presets.parse(track.entries)] if track.entries else []
    often = [(entry, SEEDS) for entry in presets.parse(track.repeated)] if track.repeated else []
    return once + often


def run(track: Track, lacking: Sequence[Missing], store: Store, jobs: int) -> list[Record]:
    """Run what is missing, and merge it into the published file; what ended there already counts.

    Raises
    ------
    FileError
        If an entry lacks its package here.
    """
    records: list[Record] = []
    for each in lacking:
        done = run_suite(
            each.instances,
            [each.entry],
            store=store,
            seeds=[each.seed],
            time_limit_s=track.time_limit_s,
            threads=THREADS,
            jobs=jobs,
            progress=lambda event: _tell(event),
        )
        if len(done) < len(each.instances):
            raise FileError(f"{each.entry.label}: is not installed here; `placebench doctor`")
        records += done
    _merge(track, Source(store, records, str(store.root)))
    return records


def _tell(event: object) -> None:
    if isinstance(event, Finished):
        record = event.record
        print(f"  {record.entry} on {record.instance}, seed {record.seed}: {record.termination}")


def _merge(track: Track, new: Source) -> None:
    """Add records to a published file, with their answers and environments."""
    keys = {record.key for record in new.records}
    earlier = [record for record in on_file(track) if record.key not in keys]
    both = Several([new.store, Store(bks.RESULTS)])
    gather.publish(Source(both, [*earlier, *new.records], new.name), track.published, bks.RESULTS)


def submit(track: Track, shared: Shared) -> list[str]:
    """Write the submissions of a track that are not there, or not of the records on file.

    What people wrote into one that is there is kept. Returns what was done, a line each.
    """
    records = on_file(track)
    store = Store(bks.RESULTS)
    source = Source(store, records, f"results/records/{track.published}.jsonl")
    instances = asked(track, shared)
    done = []
    for entry, _ in wanted(track):
        name = (
            f"{entry.label.replace('[', '-').replace(']', '').replace(',', '-').replace('=', '-')}"
        )
        name = f"{name}-{track.name}"
        before = Folder(shared.root / name).submission if (shared.root / name).is_dir() else None
        if isinstance(before, Submission) and before.status != "active":
            continue
        try:
            found, _ = making.of_records(
                source, entry, instances, _about(name, entry, before), shared.find,
                track.time_limit_s, track.published,
            )  # fmt: skip
        except FileError as error:
            done.append(f"{name}: not submitted: {error}")
            continue
        if found != before:
            writing.write_reference(shared.root / name, found)
            done.append(f"{name}: {'written' if before is None else 'written anew'}")
    return done


def _about(name: str, entry: Entry, before: Submission | str | None) -> About:
    if isinstance(before, Submission):
        return About(name, before.authors, before.description, before.links, "closed", before.date)
    method = load_method(entry.method)
    text = f"{method.source or method.name}. Code: {method.run.__module__.replace('.', '/')}.py."
    return About(name, [AUTHOR], text)


def main(arguments: Sequence[str] | None = None) -> int:
    """Bring the published tracks up to date; exit code 1 where something is missing after all."""
    parser = argparse.ArgumentParser(prog="python -m bench.publish", description=__doc__)
    parser.add_argument("--plan", action="store_true", help="only say what is missing")
    parser.add_argument("--submit", action="store_true", help="run nothing, write submissions")
    parser.add_argument(
        "--track", action="append", choices=[t.name for t in TRACKS if t.published], default=[]
    )
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    parser.add_argument("--store", type=Path, default=RUNS, metavar="DIR")
    options = parser.parse_args(arguments)
    shared = Shared()
    left = 0
    for track in TRACKS:
        if not track.published or (options.track and track.name not in options.track):
            continue
        lacking = missing(track, shared)
        count = sum(len(each.instances) for each in lacking)
        print(f"{track.name}: {len(on_file(track))} runs on file, {count} missing", flush=True)
        for each in lacking if options.plan else []:
            print(f"  {each.entry.label}, seed {each.seed}: {len(each.instances)} instances")
        if lacking and not (options.plan or options.submit):
            run(track, lacking, Store(options.store), options.jobs)
            count = 0
        left += count
        for line in [] if options.plan else submit(track, shared):
            print(f"  {line}")
    if not options.plan:
        print(f"submissions: {folders.root()}; `placebench submit-check all`, `make page`")
    return int(left > 0)


if __name__ == "__main__":
    sys.exit(main())
