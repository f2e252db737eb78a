"""What ``placebench run`` says of runs that were not made."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence

from bench import packages, presets
from bench.entries import load_method


def lines(skipped: Mapping[tuple[str, str], int]) -> list[str]:
    """One line a reason, with the entries that it kept from runs.

    Parameters
    ----------
    skipped : mapping of (str, str) to int
        (entry, reason) -> runs.
    """
    by_reason: dict[str, list[tuple[int, str]]] = {}
    for (entry, reason), count in sorted(skipped.items()):
        method = entry.partition("[")[0]
        why = reason.removeprefix(f"{method} ").removeprefix("is ")
        by_reason.setdefault(why, []).append((count, entry))
    told = [f"skipped: {_runs(sum(skipped.values()))}"]
    for why, each in sorted(by_reason.items(), key=lambda item: -sum(n for n, _ in item[1])):
        names = ", ".join(entry for _, entry in each)
        told.append(f"  {why}: {names} ({_runs(sum(count for count, _ in each))})")
    return told if skipped else []


def unavailable(texts: Sequence[str]) -> list[str]:
    """Entries that were asked for by name and can run on nothing here, each with why.

    What only came along with ``default`` or ``all`` is not among them: not every machine has
    everything.
    """
    found = []
    for entry in presets.by_name(texts):
        method = load_method(entry.method, entry.file, entry.source)
        missing = [each for each in method.needs if importlib.util.find_spec(each) is None]
        if missing:
            found.append(f"{entry.label} needs {', '.join(missing)}, which is not installed")
        elif not packages.usable(method):
            found.append(method.summary)
    return found


def _runs(count: int) -> str:
    return f"{count} run{'s' if count != 1 else ''}"
