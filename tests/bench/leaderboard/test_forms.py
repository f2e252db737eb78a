"""The leaderboard on a terminal, as Markdown, as CSV and as a page."""

from __future__ import annotations

import csv
import io
import re

import pytest
from rich.console import Console

from bench import bks
from bench.leaderboard import curves, page, terminal, text, words
from bench.leaderboard.board import build
from tests.bench.synthetic import bounds, comparison, record


@pytest.fixture(scope="module")
def board():
    records = comparison()
    # A name that would end a script or a table cell if it were not escaped.
    nasty = {"instance": "a|b</script><b>:block/p/latency", "digest": "f" * 64}
    records.append(record(**nasty, problem="latency", family="net", entry="single"))
    claims = bks.gather(records, bounds())
    known = {digest: bks.headline(each.claims) for digest, each in claims.items()}
    machine = {
        "cpu": "A CPU", "cores": 4, "git_commit": "c" * 40, "git_dirty": True,
        "packages": {"numpy": "2.4"}, "noise": "20% apart; noisy",
    }  # fmt: skip
    return build(records, known, {r.digest: (12, 3) for r in records}, [machine])


def rendered(board):
    return page.render(board, [curves.anytime(s, {}, 10.0) for s in board.sections])


def shown(board, width):
    console = Console(width=width, file=io.StringIO(), highlight=False)
    terminal.show(board, console)
    return console.file.getvalue()


def test_the_table_fits_80_columns_and_uses_more(board):
    narrow, wide = shown(board, 80), shown(board, 140)
    assert max(map(len, narrow.splitlines())) <= 80
    rows = [line for line in narrow.splitlines() if re.match(r"\d+ ", line)]
    assert len(rows) == 6  # no entry takes two lines
    assert any("annealing[restarts=4]" in row for row in rows)
    assert "mean rank" in wide
    assert "mean rank" not in re.sub(r"by\s+mean\s+rank", "", narrow)


def test_markdown_tables_are_rectangular(board):
    for table in re.findall(r"(?:^\|.*\n)+", text.markdown(board), re.MULTILINE):
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(widths) == 1


def test_csv_has_one_line_an_instance_and_entry(board):
    rows = list(csv.DictReader(io.StringIO(text.comma_separated(board))))
    assert len(rows) == 2 * 8 * 3 + 1
    best = next(r for r in rows if r["entry"] == "annealing[restarts=4]")
    assert float(best["gap_best"]) == 0.0


def test_the_page_needs_no_network(board):
    html = rendered(board)
    assert len(html) < 200_000
    assert not re.findall(r"(?:src|href|url)\s*[=(]\s*[\"']?(?:https?:)?//", html)
    assert "@import" not in html


def test_profiles_count_all_instances_and_the_ratio_is_to_the_best_entry(board):
    found = {each["name"]: each for each in curves.ecdf(board.sections[1])}
    # 8 instances: greedy answers 5, each at 1.5 times the best.
    for which in ("best", "ratio"):
        x, share = found["greedy"][which]
        assert x == pytest.approx([0.5] * len(x))
        assert share[-1] == 5 / 8
        assert found["single"][which][1][-1] == 1.0
    assert found["annealing[restarts=4]"]["ratio"] == [[0.0], [1.0]]
    assert 'value="ratio"' in rendered(board)


def test_the_page_escapes_names_and_is_the_same_every_time(board):
    html = rendered(board)
    assert "</script><b>" not in html
    assert "a|b&lt;/script&gt;" in html
    assert html == rendered(board)


def test_the_page_reads_without_script(board):
    html = rendered(board)
    for entry in ("annealing[restarts=4]", "greedy", "single"):
        assert entry in html
    assert "invalid (memory)" in html
    for heading, meaning in words.COLUMNS.values():
        assert heading in html
        assert meaning.split(":")[0][:40] in html.replace("&#39;", "'")


def test_every_form_names_machine_commit_and_noise(board):
    head = rendered(board).split("<details>")[0]  # what shows without a click
    for form in (head, text.markdown(board), shown(board, 140)):
        assert f"A CPU, 4 cores, git {'c' * 12}+dirty" in form
        assert "20% apart; noisy" in form


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0, "0%"), (1e-6, "<0.01%"), (0.01234, "1.23%"), (0.5, "50.0%"), (-0.02, "-2.00%"),
     (float("inf"), "-")],
)  # fmt: skip
def test_percent(value, shown):
    assert words.percent(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "-"), (0.0, "0 s"), (0.0123, "12.3 ms"), (1.5, "1.5 s"), (4.2e-5, "42 µs"),
     (4567.0, "4567 s"), (3e-9, "3 ns"), (0.9996, "1000 ms")],
)  # fmt: skip
def test_seconds(value, shown):
    assert words.seconds(value).replace("1e+03", "1000") == shown
