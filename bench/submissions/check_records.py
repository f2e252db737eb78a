"""Checks of the records: that they are whole, of these instances, and all there."""

from __future__ import annotations

from collections import Counter, defaultdict

from bench.environment import suite_version
from bench.records import Record
from bench.selection import SelectionError, select
from bench.submissions.checking import Case, Found, check
from bench.submissions.layout import ClaimedRun, Submission, asked_digest, content_digest
from bench.verify import inconsistent


def told(run: Record | ClaimedRun) -> str:
    """One run in words."""
    return f"{run.instance}, seed {run.seed}"


@check("every line is a record, and all are there", "submission")
def lines(case: Case, found: Found) -> None:
    """Read the records, and hold them against what was counted."""
    runs = case.folder.runs
    found.looked = len(runs) + len(case.folder.broken)
    found.errors += case.folder.broken
    if not runs:
        found.error("no record can be read")
        return
    if len(runs) != case.about.records:
        found.error(f"{len(runs)} of {case.about.records} records are there")
    if content_digest(runs) != case.about.content:
        why = "the records are not those that were submitted (content)"
        if case.about.published:
            why += "; where they were published anew: `python -m bench.publish`"
        found.error(why)


@check("keys, entry, options and source are those of the submission", "submission", "runs")
def keys(case: Case, found: Found) -> None:
    """See that a record was not edited, and is of this method."""
    about = case.about
    for record in case.records:
        found.looked += 1
        why = inconsistent(record)
        if why is not None:
            found.error(f"{told(record)}: {why}")
        for what in ("entry", "options", "source"):
            if getattr(record, what) != getattr(about, what):
                found.error(
                    f"{told(record)}: {what} is {getattr(record, what)!r}, that of the submission"
                    f" {getattr(about, what)!r}"
                )
    if not case.records:
        return
    name = case.records[0].method
    method = case.shared.method(name)
    if about.source:
        if method is not None:
            found.error(f"{name!r} is the name of one of the suite's methods, and this is another")
    elif method is None:
        found.warn(f"the suite has no method {name!r} any more, and no source is told")
    elif set(method.options) != set(about.options):
        found.warn(f"the options of {name!r} are others by now: {', '.join(method.options)}")


@check("instances are those of the library", "runs")
def instances(case: Case, found: Found) -> None:
    """Look every digest up, and hold id, problem and family against the catalogue."""
    for run in case.folder.runs:
        found.looked += 1
        entry = case.shared.entries.get(run.digest)
        if entry is None:
            found.error(f"{told(run)}: the library has no instance with its digest")
            continue
        parts = ("id", "problem", "family") if isinstance(run, Record) else ("id",)
        for what in parts:
            said = run.instance if what == "id" else getattr(run, what)
            if said != getattr(entry, what):
                found.error(f"{told(run)}: {what} is {said!r}, not {getattr(entry, what)!r}")


@check("limits, threads and suite as stated", "submission", "runs")
def limits(case: Case, found: Found) -> None:
    """Hold the conditions of every run to those of the submission."""
    about = case.about
    for record in case.records:
        found.looked += 1
        for what in ("time_limit_s", "threads", "memory_limit_bytes", "suite"):
            stated, had = getattr(about, what), getattr(record, what)
            own = what == "time_limit_s" and stated is None and about.division == "open"
            if had != stated and not own:
                found.error(f"{told(record)}: {what} is {had!r}, stated is {stated!r}")
    for claim in case.claims:
        found.looked += 1
        if about.time_limit_s is not None and claim.time_s > about.time_limit_s:
            found.error(f"{told(claim)}: {claim.time_s} s, over the limit of {about.time_limit_s}")
    if case.records and about.suite != suite_version():
        found.warn(f"runs of version {about.suite} of the suite; this is {suite_version()}")


@check("every instance asked for was run, or is refused", "submission", "runs")
def coverage(case: Case, found: Found) -> None:
    """Hold the instances that were run against those that were asked for."""
    about = case.about
    run = {each.digest for each in case.folder.runs}
    refused = _refused(case, found)
    found.looked = len(run)
    both = run & refused
    for digest in sorted(both):
        found.error(f"{_name(case, digest)}: refused, but there are runs of it")
    now = _asked(about, case, found)
    if now is None:
        return
    have = run | refused
    if asked_digest(now) == about.asked:
        if about.count != len(now):
            found.error(f"count is {about.count}, the selection has {len(now)} instances")
        for digest in sorted(have - now):
            found.error(f"{_name(case, digest)}: not of the selection")
        missing = [_name(case, each) for each in sorted(now - have)]
    else:  # it has grown, say
        new = now - have
        if new:
            found.warn(f"the selection has {len(new)} instances now that were not asked for then")
        whole = asked_digest(have) == about.asked and len(have) == about.count
        missing = [] if whole else ["some instances of the selection as it was"]
    if about.incomplete:
        if not missing and _seeds_missing(case) == 0:
            found.error("it is said to be incomplete, but nothing is missing")
        elif missing:
            found.warn(f"{len(missing)} instances missing: {about.incomplete}")
    else:
        for each in missing:
            found.error(f"{each}: not run")


def _asked(about: Submission, case: Case, found: Found) -> set[str] | None:
    """Digests of the instances that the selection has today."""
    files = [text for text in about.instances if text.endswith((".json", ".json.gz"))]
    for text in files:
        found.error(f"{text!r} is a file; submissions are about instances of the library")
    if files:
        return None
    try:
        selected = select(about.instances, case.shared.library)
    except SelectionError as error:
        found.error(str(error))
        return None
    return {each.entry.digest for each in selected if each.entry is not None}


def _refused(case: Case, found: Found) -> set[str]:
    """Digests of what the method is said not to take; its own word, where it is the suite's."""
    about, digests = case.about, set()
    own = case.records[0].method if case.records and not about.source else ""
    method = case.shared.method(own)
    for reason, ids in about.refused.items():
        if not reason.strip():
            found.error("refused without a reason")
        for each in ids:
            entry = case.shared.by_id.get(each)
            if entry is None:
                found.error(f"refused {each!r} is no instance of the library")
                continue
            digests.add(entry.digest)
            instance = case.shared.find(entry.digest) if method is not None else None
            if method is not None and instance is not None and method.refusal(instance) is None:
                found.error(f"{each}: said to be refused, but {own} takes it")
    return digests


def _name(case: Case, digest: str) -> str:
    entry = case.shared.entries.get(digest)
    return entry.id if entry is not None else digest[:16]


def _seeds(case: Case) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for run in case.folder.runs:
        found[run.instance].append(run.seed)
    return found


def _seeds_missing(case: Case) -> int:
    asked = set(case.about.seeds)
    return sum(len(asked - set(seeds)) for seeds in _seeds(case).values())


@check("every instance under every seed, and no other", "submission", "runs")
def seeds(case: Case, found: Found) -> None:
    """Hold the seeds of every instance against those stated."""
    asked = set(case.about.seeds)
    if len(asked) < len(case.about.seeds):
        found.error("a seed is stated twice")
    for instance, had in sorted(_seeds(case).items()):
        found.looked += len(had)
        for seed in sorted(set(had) - asked):
            found.error(f"{instance}: seed {seed} is not stated")
        if missing := sorted(asked - set(had)):
            text = f"{instance}: seed {', '.join(map(str, missing))} is missing"
            (found.warn if case.about.incomplete else found.error)(text)


@check("no run is there twice", "runs")
def duplicates(case: Case, found: Found) -> None:
    """Count instances with their seeds, and keys."""
    runs = case.folder.runs
    found.looked = len(runs)
    cells = Counter((run.instance, run.seed) for run in runs)
    for (instance, seed), count in sorted(cells.items()):
        if count > 1:
            found.error(f"{instance}, seed {seed}: {count} times")
    same = Counter(record.key for record in case.records)
    for key, count in sorted(same.items()):
        if count > 1:
            found.error(f"key {key[:16]}: {count} times")
