"""``placebench bounds``."""

from __future__ import annotations

from bench.cli import DONE, output
from bench.leaderboard.words import seconds
from bench.selection import load, select
from problems.bounds.theoretical import theoretical
from problems.catalogue import Library


def run(text: str, json: bool) -> int:
    """Compute and print every bound of every selected instance."""
    library = Library()
    told, rows = [], []
    for selected in select([text], library):
        instance = load(selected, library)
        result = theoretical(instance)
        for bound in result.bounds:
            told.append(
                {
                    "instance": instance.id,
                    "digest": instance.digest,
                    "bound": bound.name,
                    "value_s": bound.value,
                    "seconds": bound.seconds,
                    "note": bound.note,
                }
            )
            best = "*" if bound.value == result.value else ""
            rows.append(
                [instance.id, bound.name, seconds(bound.value) + best, seconds(bound.seconds)]
            )
    if json:
        output.as_json(told)
    else:
        columns = {"instance": "fold", "bound": "left", "value": "right", "took": "right"}
        output.rows(columns, rows)
    return DONE
