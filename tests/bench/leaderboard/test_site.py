"""The folder of pages: links, content, what is drawn; no browser needed."""

from __future__ import annotations

import base64
import gzip
import html.parser
import itertools
import json
import re
from dataclasses import replace
from urllib.parse import unquote

import msgspec
import numpy as np
import pytest

from bench.leaderboard import (
    charts,
    curves,
    duels,
    evidence,
    latex,
    names,
    packed_runs,
    page,
    picture,
    site,
)
from bench.records import Record, Store
from problems import checker, latency, mixture
from problems.answer import Answer
from problems.generate.random import random_bundle
from problems.resolve import from_bundle
from tests.bench.leaderboard import made


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return made.site(tmp_path_factory.mktemp("store"))


@pytest.fixture(scope="module")
def files(built):
    return dict(site.files(*built))


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.ids = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        told = dict(attributes)
        self.ids += [told["id"]] if "id" in told else []
        self.links += [told[k] for k in ("href", "src", "data-runs") if told.get(k)]


def test_every_link_leads_somewhere_in_the_site(files):
    pages = {n: Page(c.decode()) for n, c in files.items() if n.endswith(".html")}
    count = 0
    for name, each in pages.items():
        assert len(each.ids) == len(set(each.ids)), name
        for link in each.links:
            if link == "data:,":
                continue
            assert not re.match(r"[a-z]*:?//", link)
            file, _, anchor = link.partition("#")
            at = name
            if file:
                parts = [*name.split("/")[:-1], *unquote(file).split("/")]
                while ".." in parts:
                    i = parts.index("..")
                    del parts[i - 1 : i + 1]
                at = "/".join(parts)
            assert at in files, (name, link)
            assert not anchor or anchor in pages[at].ids, (name, link)
            count += 1
    assert count > 500


def test_every_number_of_the_first_page_leads_to_its_runs_and_every_run_has_its_record(
    built, files
):
    board, behind = built
    for section in board.sections:
        for row in section.rows:
            text = files[names.instance(row.instance, row.digest)].decode()
            packed = files[names.runs(row.instance, row.digest)].decode()
            data = re.fullmatch(r'placebenchRuns\("(.*)"\);\n', packed)
            content = json.loads(gzip.decompress(base64.b64decode(data[1])))
            assert len(content["columns"]["key"]) == len(behind.runs[row.digest])
            digests = []
            for i, run in enumerate(behind.runs[row.digest]):
                assert f'id="{names.run(run)}"' in text
                told = {name: each[i] for name, each in content["columns"].items()}
                assert msgspec.convert(content["shared"] | told, Record) == run
                if run.answer and run.answer not in digests:
                    digests.append(run.answer)
            for digest, answer in zip(digests, content["answers"], strict=True):
                if answer is None:  # a made-up digest
                    assert digest == "a" * 64
                else:
                    assert answer == json.loads(behind.store.answer_bytes(digest))
            for entry, cell in row.cells.items():
                if cell is not None:
                    target = f"{names.instance(row.instance, row.digest)}#"
                    assert target + names.entry_anchor(entry) in files["index.html"].decode()


def test_the_best_answer_is_drawn_with_the_objective_beside_it(built, files):
    board, behind = built
    kinds = set()
    for section in board.sections:
        for row in section.rows:
            text = files[names.instance(row.instance, row.digest)].decode()
            best = min(r.objective for r in behind.runs[row.digest] if r.check == "ok")
            drawn = behind.drawn(row.digest, behind.load(row.digest))
            assert drawn.objective == pytest.approx(best, rel=1e-12)
            assert "its record</a>" in text
            data = json.loads(re.search(r'id="plots"[^>]*>(.*?)</script>', text)[1])
            kinds.add((section.title.split(",")[0], data["chart"]["kind"]))
    assert kinds == {
        ("throughput", "loads"), ("chips", "loads"), ("latency", "gantt"), ("calls", "gantt"),
    }  # fmt: skip


def test_an_answer_that_is_not_what_is_claimed_is_not_drawn(built):
    _, behind = built
    digest, runs = next(iter(behind.runs.items()))
    good = [r for r in runs if r.check == "ok"]
    wrong = type(good[0])(
        **{f: getattr(good[0], f) for f in good[0].__struct_fields__} | {"objective": 1e-12}
    )
    told = evidence.Evidence({digest: [wrong]}, behind.store, {}, None, behind.load)
    assert told.drawn(digest, behind.load(digest)) is None


def test_names_do_not_end_scripts_and_the_same_input_gives_the_same_bytes(built, files):
    for name, content in files.items():
        if name.endswith(".html"):
            assert b"mine</script>" not in content
    assert dict(site.files(*built)) == files


def test_writing_removes_pages_of_an_earlier_site_and_nothing_else(built, tmp_path):
    old = tmp_path / "instances" / f"{names.slug('gone')}.html"
    old.parent.mkdir()
    old.write_text("")
    (tmp_path / "instances" / "notes.html").write_text("mine")
    site.write(tmp_path, *built)
    assert not old.exists()
    assert (tmp_path / "instances" / "notes.html").read_text() == "mine"
    assert (tmp_path / "index.html").is_file()


def test_bars_of_a_gantt_chart_are_the_schedule():
    instance = next(i for i in made.instances(1) if i.problem == "latency" and i.n < 20)
    answer, value = next(made.answers(instance, 0))
    found = charts.chart(instance, answer)
    bars = found.data["bars"]
    assert len(bars) == instance.n
    assert found.data["end"] == pytest.approx(value)
    start = latency.starts(instance, answer)
    assert [b[3] for b in bars] == pytest.approx(start.tolist(), rel=1e-5, abs=1e-12)
    for k in range(instance.K):  # within a lane nothing overlaps
        for lane in {b[1] for b in bars if b[0] == k}:
            mine = sorted((b[3], b[3] + b[4]) for b in bars if b[:2] == [k, lane])
            assert all(a[1] <= b[0] + 1e-5 * value for a, b in itertools.pairwise(mine))


def test_bars_of_calls_end_with_the_makespan():
    for instance in (i for i in made.instances(4) if i.problem == "calls"):
        for answer, value in made.answers(instance, 1):
            found = charts.chart(instance, answer)
            assert max(b[3] + b[4] for b in found.data["bars"]) == pytest.approx(value, rel=1e-5)
            assert min(b[3] for b in found.data["bars"]) > -1e-9


def test_many_bars_are_joined_and_keep_their_span(monkeypatch):
    instance = made.instances(0)[0]
    answer, _value = next(made.answers(instance, 0))
    plain = charts.chart(instance, answer)
    monkeypatch.setattr(charts, "BARS", 20)
    joined = charts.chart(instance, answer)
    assert joined.data["joined"] > 0 == plain.data["joined"]
    assert len(joined.data["bars"]) < len(plain.data["bars"])
    for k in {b[0] for b in plain.data["bars"]}:
        spans = []
        for told in (plain.data, joined.data):
            mine = [(b[3], b[3] + b[4]) for b in told["bars"] if b[0] == k]
            spans.append((min(a for a, _ in mine), max(b for _, b in mine)))
        assert spans[0] == pytest.approx(spans[1], rel=1e-4)


def test_loads_are_those_of_the_objective():
    for instance in (i for i in made.instances(3) if i.problem in ("throughput", "chips")):
        answer, value = next(made.answers(instance, 0))
        found = charts.chart(instance, answer)
        assert found.data["objective"] == pytest.approx(value)
        assert checker.check(instance, answer).objective == pytest.approx(max(found.data["load"]))
        assert sum(u.nodes for u in found.uses) == instance.n


def test_loads_of_a_mixture_are_means_over_its_samples():
    instance = from_bundle(
        random_bundle(3, n=9, devices=3, problem="throughput", rules={"replicate": "mixture"}), ""
    )
    pure = [np.full(instance.n, k) for k in range(instance.K)]
    pure = [d for d in pure if mixture.is_valid(instance, Answer(d))]
    assert len(pure) > 1
    answer = mixture.answer_of(instance, pure, np.full(len(pure), 1 / len(pure)))
    found = charts.chart(instance, answer)
    assert found.data["objective"] == pytest.approx(checker.check(instance, answer).objective)
    assert found.data["objective"] == pytest.approx(max(found.data["load"]))


def test_small_graphs_show_every_node_and_large_ones_counts():
    small, *_, large = made.instances(1)
    told = picture.draw(small, np.zeros(small.n, np.int64))
    assert told.svg.count("h0") == small.n
    told = picture.draw(large, np.arange(large.n) % 2)
    assert "too many to draw one by one" in told.caption
    assert "<path" in told.svg
    assert picture.layers(small)[small.edges[:, 1]].min() >= 1
    assert (
        picture.layers(large)[large.edges[:, 0]] < picture.layers(large)[large.edges[:, 1]]
    ).all()


def test_anytime_curves_are_the_primal_gap():
    at = np.array([0.005, 0.01, 0.1, 1.0])
    run = made.record(objective=2.0, trace=[(0.01, 8.0), (0.1, 4.0), (0.9, 2.0)])
    assert curves.gaps(run, 2.0, at).tolist() == [1.0, 0.75, 0.5, 0.0]
    assert curves.gaps(made.record(check="none"), 2.0, at).tolist() == [1.0] * 4
    assert curves.gaps(made.record(objective=4.0, wall_s=0.5), 2.0, at).tolist() == [1, 1, 1, 0.5]


def test_what_was_not_run_counts_as_no_answer_in_curves(built):
    board, behind = built
    section = board.sections[0]
    rows = [replace(row, cells=dict.fromkeys(row.cells)) for row in section.rows]
    none = curves.anytime(replace(section, rows=rows), {}, 10.0)
    assert all(c["gap"] == [1.0] * curves.POINTS for c in none["curves"])
    full = curves.anytime(section, behind.runs, 10.0)
    assert all(a >= b for c in full["curves"] for a, b in zip(c["gap"], c["gap"][1:], strict=False))


def test_wins_ties_and_losses_mirror_each_other(built):
    board, _ = built
    for section in board.sections:
        told = duels.Matrices(section)
        for a in told.entries:
            for duel in told.duels(a):
                back = next(d for d in told.duels(duel.other) if d.other == a)
                assert (duel.better, duel.tied, duel.worse) == (back.worse, back.tied, back.better)
                assert duel.better + duel.tied + duel.worse == len(section.rows)
            assert sum(f.instances for f in told.families(a)) == len(section.rows)


def test_means_by_family_of_a_single_family_are_those_of_the_ranked_table(built):
    board, _ = built
    for section in board.sections:
        found = page.by_family(section)
        assert sum(count for _, count, _ in found) == len(section.rows)
        if len(found) == 1:
            assert found[0][2] == pytest.approx([s.gap_best for s in section.standings])


def test_the_overview_names_the_first_and_who_cannot_be_told_apart(built):
    board, _ = built
    section = board.sections[0]
    assert not page.overview(section)["judged"]  # under six instances
    first, *rest = section.standings
    places = [(1, (1, 2)), (2, (2, 3)), (3, (3, 4))]
    placed = [
        replace(s, place=place, interval=interval)
        for s, (place, interval) in zip(section.standings[:3], places, strict=True)
    ]
    told = page.overview(replace(section, standings=placed))
    assert [s.entry for s in told["first"]] == [first.entry]
    assert [s.entry for s in told["rivals"]] == [rest[0].entry]
    assert told["gaps"] == [first.gap_best, first.gap_bound]
    assert told["what"]


def test_latex_has_a_table_a_section_and_escapes_names(built):
    board, _ = built
    text = latex.tables(board)
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == len(board.sections)
    assert r"mine\textless{}/script\textgreater{}" in text
    assert latex.escape("a_b&50%") == r"a\_b\&50\%"
    widths = {line.count(" & ") for line in text.splitlines() if line.endswith(r"\\")}
    assert widths == {8}


def test_slugs_are_file_names_that_differ():
    texts = ["a/b", "a b", "A/B", "x" * 300, "x" * 301, "", "ü"]
    slugs = [names.slug(text) for text in texts]
    assert len(set(slugs)) == len(texts)
    assert all(names.is_slug(each) and len(each) < 80 for each in slugs)


def test_times_of_packed_records_are_told_to_the_nanosecond(tmp_path):
    run = made.record(objective=2.0, wall_s=0.1234567890123, trace=[(1 / 3, 2.0)], answer="a" * 64)
    packed = packed_runs.pack([run], Store(tmp_path)).decode()
    content = json.loads(gzip.decompress(base64.b64decode(packed.split('"')[1])))
    assert content["shared"]["wall_s"] == 0.123456789
    assert content["shared"]["trace"] == [[0.333333333, 2.0]]
    assert content["shared"]["memory_limit_bytes"] is None  # required in a record
    assert "log" not in content["shared"]
    assert content["answers"] == [None]  # the store lacks it
