"""``placebench bks``: best-known answers and bounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from bench import bks, bounds, known
from bench.cli import DONE, FAILED, output
from bench.leaderboard import gather
from bench.leaderboard.words import seconds
from bench.records import Store
from bench.selection import select
from bench.verify import require_answers
from bench.wanted import Wanted
from problems.catalogue import Library


def list_(texts: Sequence[str], json: bool) -> int:
    """Print the headline of every instance with claims on file."""
    library = Library()
    claims = _chosen(texts, library)
    entries = [entry for entry in library.entries() if entry.digest in claims]
    cheap, searched = bounds.recomputed(entries), bounds.load().searched(entries)
    claims = bks.gather([], cheap, claims, searched)
    heads = {digest: bks.headline(each.claims) for digest, each in claims.items()}
    ordered = sorted(heads.items(), key=lambda item: claims[item[0]].instance)
    if json:
        output.as_json(
            [{"instance": claims[d].instance, "digest": d, "headline": h} for d, h in ordered]
        )
        return DONE
    columns = {
        "instance": "fold", "best known": "right", "by": "left", "bound": "right", "kind": "left",
        "status": "left",
    }  # fmt: skip
    output.rows(
        columns,
        [
            [claims[d].instance, seconds(h.objective), h.by, seconds(h.bound), h.bound_kind,
             _status(h)]
            for d, h in ordered
        ],
    )  # fmt: skip
    for digest, head in ordered:
        for claim in head.refuted:
            what = bks.refutation(claims[digest].instance, claim, head.objective or 0.0, head.by)
            print(f"in conflict: {what}")
    return DONE


def update(store: Path, records: Path | None, json: bool) -> int:
    """Add the claims of records in a store, or in a published file, and print what changed.

    Every answer is checked again before it becomes a claim.
    """
    source = gather.from_store(store) if records is None else gather.from_file(records)
    library = Library()
    wanted = Wanted(library)
    mine = [record for record in source.records if record.digest in wanted.entries]
    require_answers(mine, source.store, source.name)
    found = known.update(
        mine,
        source.store,
        bks.load(),
        bounds.recomputed(library.entries()),
        bounds.load().searched(library.entries()),
        wanted.find,
    )
    for name in found.answers:
        Store(bks.RESULTS).put_answer(source.store.get_answer(name))
    bks.save(found.claims)
    faults = [*source.faults, *found.faults]
    output.faults(faults)
    if json:
        output.as_json(
            [{"instance": c.instance, "old": c.old, "new": c.new} for c in found.changes]
        )
        return FAILED if faults else DONE
    columns = {
        "instance": "fold", "best known": "right", "by": "left", "bound": "right", "status": "left"
    }  # fmt: skip
    rows = [
        [
            change.instance,
            _arrow(change.old, change.new, lambda h: seconds(h.objective)),
            _arrow(change.old, change.new, lambda h: h.by),
            seconds(change.new.bound),
            _arrow(change.old, change.new, _status),
        ]
        for change in found.changes
    ]
    output.rows(columns, rows)
    skipped = len(source.records) - len(mine)
    note = f"; {skipped} records of instances outside the library left out" if skipped else ""
    print(f"{len(found.changes)} of {len(found.claims)} instances changed{note}")
    return FAILED if faults else DONE


def verify(texts: Sequence[str], recompute: bool, json: bool) -> int:
    """Check every stored best-known answer again, and hold the bounds against them."""
    library = Library()
    results = list(
        known.verified(
            _chosen(texts, library),
            Store(bks.RESULTS),
            Wanted(library).find,
            bounds.recomputed(library.entries()),
            bounds.load().searched(library.entries()),
            recompute,
        )
    )
    wrong = [each for each in results if each.state == "wrong"]
    if json:
        output.as_json(results)
        return FAILED if wrong else DONE
    columns = {"instance": "fold", "claim": "left", "state": "left", "note": "fold"}
    shown = [each for each in results if each.state != "ok"]
    if shown:
        output.rows(
            columns, [[e.instance, f"{e.kind} {e.by}", e.state.upper(), e.note] for e in shown]
        )
    answers = sum(each.kind == "answer" for each in results)
    computed = sum(each.by == "theoretical" and each.kind == "bound" for each in results)
    conflicts = sum(each.state == "conflict" for each in results)
    print(
        f"{answers} answers checked"
        + (f", {computed} bounds recomputed" if recompute else "")
        + f": {len(wrong)} wrong, {conflicts} claims in conflict"
    )
    return FAILED if wrong else DONE


def _status(head: bks.Headline) -> str:
    status = f"{head.status}, proved by {head.closed_by}" if head.closed_by else head.status
    return status + (f", {len(head.refuted)} in conflict" if head.refuted else "")


def _arrow(old: bks.Headline | None, new: bks.Headline, show: Callable[[bks.Headline], str]) -> str:
    """``old -> new``, or one of them where they read the same."""
    before = "-" if old is None else show(old) or "-"
    after = show(new) or "-"
    return after if before == after else f"{before} -> {after}"


def _chosen(texts: Sequence[str], library: Library) -> dict[str, bks.Claims]:
    """Claims on file, of the selected instances."""
    claims = bks.load()
    if not texts:
        return claims
    wanted = {s.entry.digest for s in select(texts, library) if s.entry is not None}
    return {digest: each for digest, each in claims.items() if digest in wanted}
