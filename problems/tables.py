"""Tables of the library in Markdown, made from the catalogue alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from problems.catalogue import Catalogue, CatalogueEntry, GraphEntry, Library
from problems.coarsen import LEVELS
from problems.files import FileError, write_atomically
from problems.selections import HOLDOUT
from problems.statistics.ranges import corners, ranges

BEGIN, END = "<!-- begin: made by `make library` -->", "<!-- end -->"
TIMED = "Loading the largest instance"
TIERS = ("tiny", "small", "medium", "large", "huge")


def tables(library: Library, catalogue: Catalogue) -> str:
    """Everything that the library's README says by machine, but for times."""
    return "\n\n".join(
        [
            "## Graphs",
            graphs(catalogue.graphs),
            "## Instances",
            instances(catalogue.instances),
            size(library, catalogue.files),
            "## Spread",
            "![Spread of the instances over the statistics](spread.png)",
            "Smallest, median and largest value; definitions in"
            " [`problems/README.md`](../README.md#statistics-of-an-instance).",
            ranges(catalogue.instances),
            corners(catalogue.instances),
        ]
    )


def graphs(entries: Iterable[GraphEntry]) -> str:
    """One row a graph."""
    head = ["graph", "family", "origin", "phases", "operators", "leaf", "parent", "block", "edges",
            "signatures", "GFLOP", "weights, MB", "batch", "input"]  # fmt: skip
    rows = []
    for graph in entries:
        sizes = [f"{graph.nodes[level]}" if level in graph.nodes else "-" for level in LEVELS]
        shown = {"image": "image {}²", "sequence": "sequence {}"}
        inputs = [shown[key].format(n) for key, n in graph.inputs.items() if key in shown]
        rows.append(
            [
                f"`{graph.name}`",
                graph.family,
                "captured" if graph.kind == "measured" else graph.kind,
                "training" if graph.training else "inference",
                *sizes,
                str(graph.edges),
                str(graph.signatures),
                f"{graph.flops / 1e9:.1f}",
                f"{graph.weight_bytes / 1e6:.1f}",
                str(graph.inputs.get("batch", "-")),
                ", ".join(inputs) or "-",
            ]
        )
    return table(head, rows, left=4)


def instances(entries: Sequence[CatalogueEntry]) -> str:
    """One row a family: instances; by problem, size, split and origin of times and links."""
    problems = sorted({entry.problem for entry in entries})
    head = ["family", "instances", *problems, *TIERS, "public", "hold-out", *ORIGINS]
    rows = []
    for family in [*sorted({entry.family for entry in entries}), None]:
        mine = [entry for entry in entries if family in (None, entry.family)]
        count = Counter([each.problem for each in mine] + [each.tier for each in mine])
        held = sum(each.split == HOLDOUT for each in mine)
        origins = Counter(origin(each) for each in mine)
        numbers = [len(mine), *(count[key] for key in (*problems, *TIERS))]
        numbers += [len(mine) - held, held, *(origins[each] for each in ORIGINS)]
        rows.append([family or "**all**", *(str(n) if n else "-" for n in numbers)])
    return table(head, rows)


ORIGINS = ("measured", "with imported", "with modelled")


def origin(entry: CatalogueEntry) -> str:
    """The least certain kind among the devices, links and structure of an instance."""
    kinds = {kind for part in entry.parts.values() for kind in part.split(" and ")}
    if kinds <= {"measured"}:
        return "measured"
    return "with imported" if kinds <= {"measured", "imported"} else "with modelled"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> str:
    """A table in Markdown; the first `left` columns are left-aligned, the others right."""
    rule = ["---"] * left + ["--:"] * (len(head) - left)
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *rows))


def size(library: Library, names: Iterable[str]) -> str:
    """What the files of the library, `names` from its root, take on disk."""
    sizes: Counter[str] = Counter()
    for name in names:
        sizes[name.partition("/")[0]] += (library.root / name).stat().st_size
    parts = ", ".join(f"`{part}` {count / 1e6:.2f}" for part, count in sorted(sizes.items()))
    return f"The files take {sum(sizes.values()) / 1e6:.1f} MB: {parts}."


def between(text: str, where: str) -> tuple[str, str, str]:
    """What stands before, between and after the markers.

    Raises
    ------
    FileError
        If they are missing.
    """
    match = re.fullmatch(rf"(.*{re.escape(BEGIN)}\n)(.*)({re.escape(END)}.*)", text, re.DOTALL)
    if match is None:
        raise FileError(f"{where}: no section between {BEGIN} and {END}")
    return match[1], match[2], match[3]


def rewrite(readme: Path, generated: str, measured: str) -> None:
    """Replace the section between the markers; keep the measured line where none is given."""
    before, old, after = between(readme.read_text(), str(readme))
    if not measured:
        measured = next((line for line in old.splitlines() if line.startswith(TIMED)), "")
    section = f"\n{generated}\n\n" + (f"{measured}\n\n" if measured else "")
    write_atomically(readme, (before + section + after).encode())
