"""The tables of the library's README: what they say, and that they are not stale."""

from __future__ import annotations

import msgspec
import pytest

from problems.catalogue import GraphEntry, Library
from problems.files import FileError
from problems.tables import BEGIN, END, TIMED, between, graphs, instances, rewrite, tables

LIBRARY = Library()


def test_readme_is_as_the_catalogue_says() -> None:
    text = (LIBRARY.root / "README.md").read_text()
    section = between(text, "README.md")[1]
    shown = "\n".join(line for line in section.splitlines() if not line.startswith(TIMED))
    assert shown.strip() == tables(LIBRARY, LIBRARY.catalogue()), "run make library"


def test_a_row_a_graph() -> None:
    graph = GraphEntry("g", "bert", "measured", True, {"operator": 9, "leaf": 3}, 8, 2,
                       2.5e9, 1_500_000, {"batch": 4, "sequence": 128})  # fmt: skip
    head, _, row = graphs([graph]).splitlines()
    cells = dict(zip(head.split(" | "), row.split(" | "), strict=True))
    assert (cells["phases"], cells["operators"], cells["leaf"], cells["parent"]) == (
        "training", "9", "3", "-",
    )  # fmt: skip
    assert (cells["GFLOP"], cells["weights, MB"], cells["batch"]) == ("2.5", "1.5", "4")


def test_families_are_counted_by_problem_split_and_origin() -> None:
    entry = LIBRARY.entries()[0]
    told = [("a", "latency", "tiny", "public", "measured"),
            ("b", "calls", "tiny", "public", "imported"),
            ("a", "latency", "huge", "holdout", "modelled")]  # fmt: skip
    entries = [
        msgspec.structs.replace(
            entry, family=family, problem=problem, tier=tier, split=split, parts={"x": kind}
        )
        for family, problem, tier, split, kind in told
    ]
    rows = [
        [c.strip() for c in line.strip("|").split("|")] for line in instances(entries).splitlines()
    ]
    table = {row[0]: dict(zip(rows[0], row, strict=True)) for row in rows[2:]}
    assert list(table) == ["a", "b", "**all**"]
    assert [row["instances"] for row in table.values()] == ["2", "1", "3"]
    assert (table["a"]["latency"], table["a"]["calls"], table["a"]["hold-out"]) == ("2", "-", "1")
    assert (table["b"]["with imported"], table["**all**"]["tiny"]) == ("1", "2")
    assert (table["**all**"]["measured"], table["**all**"]["with modelled"]) == ("1", "1")


def test_rewriting_keeps_the_rest_and_the_last_timing(tmp_path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    rewrite(readme, "new", f"{TIMED} takes 1 s.")
    assert readme.read_text() == f"before\n{BEGIN}\n\nnew\n\n{TIMED} takes 1 s.\n\n{END}\nafter\n"
    rewrite(readme, "newer", "")
    assert readme.read_text() == f"before\n{BEGIN}\n\nnewer\n\n{TIMED} takes 1 s.\n\n{END}\nafter\n"
    readme.write_text("nothing")
    with pytest.raises(FileError, match="no section between"):
        rewrite(readme, "new", "")
