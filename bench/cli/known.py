"""``placebench bks``: best-known answers and bounds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bench import bks, bounds
from bench.cli import DONE, FAILED, output
from bench.leaderboard import gather
from bench.leaderboard.words import seconds
from bench.records import Store
from bench.selection import select
from problems import answer as answers
from problems.catalogue import Library
from problems.checker import check
from problems.files import FileError


def list_(texts: Sequence[str], json: bool) -> int:
    """Print the headline of every instance with claims on file."""
    library = Library()
    entries = {entry.digest: entry for entry in library.entries()}
    claims = bks.load()
    if texts:
        wanted = {s.entry.digest for s in select(texts, library) if s.entry is not None}
        claims = {digest: each for digest, each in claims.items() if digest in wanted}
    claims = bks.gather(
        [], bounds.load().of_entries(e for d, e in entries.items() if d in claims), claims
    )
    heads = {digest: bks.headline(each.claims) for digest, each in claims.items()}
    if json:
        output.as_json(
            [{"instance": claims[d].instance, "digest": d, "headline": h} for d, h in heads.items()]
        )
        return DONE
    columns = {
        "instance": "fold", "best known": "right", "by": "left", "bound": "right", "status": "left"
    }  # fmt: skip
    output.rows(
        columns,
        [
            [claims[d].instance, seconds(h.objective), h.by, seconds(h.bound), h.status]
            for d, h in sorted(heads.items(), key=lambda item: claims[item[0]].instance)
        ],
    )
    return DONE


def update(store: Path, records: Path | None, json: bool) -> int:
    """Add the claims of records in a store, or in a published file, and print what changed.

    Every answer is checked again before it becomes the best known one.
    """
    source = gather.from_store(store) if records is None else gather.from_file(records)
    output.faults(source.faults)
    library = Library()
    entries = {entry.digest: entry for entry in library.entries()}
    earlier = bks.load()
    mine = [record for record in source.records if record.digest in entries]
    trusted = bounds.load().of_entries(entries.values())
    now = bks.gather(mine, trusted, earlier)
    changes = []
    for digest, each in now.items():
        old = bks.headline(earlier[digest].claims) if digest in earlier else None
        new = bks.headline(each.claims)
        if old is not None and old.objective == new.objective and old.status == new.status:
            continue
        best = next((c for c in each.claims if c.kind == "answer"), None)
        if best is not None:
            file = source.store.get_answer(best.answer)
            instance = library.load(entries[digest].id)
            verdict = check(instance, answers.from_file(file))
            if verdict.objective != best.value:
                raise FileError(
                    f"{each.instance}: the record of {best.by} says {best.value!r}, the checker"
                    f" says {verdict.objective!r}: nothing was changed"
                )
            Store(bks.RESULTS).put_answer(file)
        changes.append((each.instance, old, new))
    bks.save(now)
    if json:
        output.as_json([{"instance": i, "old": o, "new": n} for i, o, n in changes])
        return FAILED if source.faults else DONE
    columns = {"instance": "fold", "old": "right", "new": "right", "by": "left", "status": "left"}
    output.rows(
        columns,
        [
            [name, seconds(old.objective if old else None), seconds(new.objective), new.by,
             new.status]
            for name, old, new in changes
        ],
    )  # fmt: skip
    skipped = len(source.records) - len(mine)
    note = f"; {skipped} records of instances outside the library left out" if skipped else ""
    print(f"{len(changes)} of {len(now)} instances changed{note}")
    return FAILED if source.faults else DONE


def verify(json: bool) -> int:
    """Check the best answer of every instance on file again."""
    library = Library()
    entries = {entry.digest: entry for entry in library.entries()}
    results = []
    for digest, each in bks.load().items():
        best = next((c for c in each.claims if c.kind == "answer"), None)
        if best is None:
            continue
        if digest not in entries:
            results.append((each.instance, False, "no instance of the library has its digest"))
            continue
        try:
            file = Store(bks.RESULTS).get_answer(best.answer)
        except FileError as error:
            results.append((each.instance, False, str(error)))
            continue
        verdict = check(library.load(entries[digest].id), answers.from_file(file))
        same = verdict.objective == best.value
        results.append((each.instance, same, f"{verdict.objective!r} s, claimed {best.value!r} s"))
    if json:
        output.as_json([{"instance": i, "ok": ok, "note": n} for i, ok, n in results])
    else:
        columns = {"instance": "fold", "state": "left", "note": "fold"}
        output.rows(columns, [[i, "ok" if ok else "WRONG", note] for i, ok, note in results])
    return DONE if all(ok for _, ok, _ in results) else FAILED
