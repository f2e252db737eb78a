"""The site in a browser, opened from the disk with the network off (extra ``browser``)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from bench.leaderboard import names, site
from tests.bench.leaderboard import made

sync_api = pytest.importorskip("playwright.sync_api", reason="extra `browser` is not installed")

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
PHONE = {"width": 390, "height": 800}
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here (Debian: package chromium)"),
    pytest.mark.timeout(600),
]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    root = tmp_path_factory.mktemp("site")
    board, evidence = made.site(root / "store")
    site.write(root / "page", board, evidence)
    return root / "page", board


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def visit(built, browser):
    """Open a page of the site; whatever the console says of errors fails the test."""
    root, _ = built
    said, contexts = [], []

    def opened(name="index.html", **options):
        context = browser.new_context(offline=True, **options)
        context.set_default_timeout(60_000)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda m: said.append(m.text) if m.type in ("error", "warning") else 0)
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("requestfailed", lambda request: said.append(f"failed: {request.url}"))
        page.goto((root / name).as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert said == []


def instance(built, problem):
    """Page of the first instance of a problem."""
    _, board = built
    section = next(s for s in board.sections if s.title.startswith(problem))
    return names.instance(section.rows[0].instance, section.rows[0].digest)


def drawn(page, plot):
    """Bring a plot into view and wait until it has curves or bars."""
    box = page.locator(f'[data-plot="{plot}"]')
    box.scroll_into_view_if_needed()
    box.locator(".plot .main-svg").first.wait_for()
    return box


def column(page, table, i):
    return page.evaluate(
        "([css, i]) => Array.from(document.querySelectorAll(css + ' tbody tr'),"
        " row => row.cells[i].innerText)",
        [table, i],
    )


def test_a_click_sorts_and_says_so(visit):
    page = visit()
    table = "#s0 table.ranked"
    before = column(page, table, 1)
    head = page.locator(f"{table} thead th").nth(1)
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert column(page, table, 1) == sorted(before, key=str.casefold)
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert column(page, table, 1) == sorted(before, key=str.casefold, reverse=True)
    page.locator(f"{table} thead th").nth(2).locator("button").click()
    assert head.get_attribute("aria-sort") is None
    ranks = [float(each) for each in column(page, table, 2)]
    assert ranks == sorted(ranks)


def test_filters_by_problem_family_and_text(visit, built):
    _, board = built
    page = visit()
    shown = page.locator("section.problem:visible")
    assert shown.count() == len(board.sections)
    page.select_option("[name=problem]", "s1")
    assert shown.count() == 1
    page.select_option("[name=problem]", "")
    page.select_option("[name=family]", "family2")
    rows = [row for section in board.sections for row in section.rows]
    mine = [row for row in rows if row.family == "family2"]
    assert page.locator("table.each tbody tr:visible").count() == len(mine)
    assert page.locator(".shown").inner_text() == f"{len(mine)} instances shown"
    page.fill("[name=text]", "latency")
    mine = [row for row in mine if "latency" in row.instance]
    assert page.locator("table.each tbody tr:visible").count() == len(mine) > 0
    page.locator("form.filters button").click()
    page.wait_for_function("document.querySelectorAll('table.each tbody tr[hidden]').length === 0")
    assert page.locator("table.each tbody tr:visible").count() == len(rows)


def test_plots_are_drawn_and_every_choice_has_curves(visit):
    page = visit()
    box = drawn(page, "section-0")
    assert box.locator(".scatterlayer .trace").count() == len(made.ENTRIES)
    for choice in ("bound", "ratio", "anytime", "scale-best", "scale-bound", "scale-time"):
        box.locator("select").select_option(choice)
        page.wait_for_function(
            "n => document.querySelectorAll('#s0 .scatterlayer .trace').length === n",
            arg=len(made.ENTRIES),
        )
    box.locator(".legend .none").click()
    page.wait_for_function("document.querySelectorAll('#s0 .scatterlayer .trace').length === 0")
    box.locator(".legend input").first.check()
    page.wait_for_function("document.querySelectorAll('#s0 .scatterlayer .trace').length === 1")


def test_a_picture_can_be_downloaded(visit, tmp_path):
    page = visit()
    box = drawn(page, "section-0")
    with page.expect_download() as waiting:
        box.locator(".download").click()
    path = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(path)
    assert path.suffix == ".svg"
    assert ElementTree.parse(path).getroot().tag.endswith("svg")


@pytest.mark.parametrize(
    ("problem", "mark"),
    [("throughput", ".bars .point"), ("chips", ".bars .point"),
     ("latency", ".bars .point"), ("calls", ".bars .point")],
)  # fmt: skip
def test_charts_of_answers_are_drawn(visit, built, problem, mark):
    page = visit(instance(built, problem))
    assert drawn(page, "chart").locator(mark).count() > 0
    assert page.locator("svg.graph path").count() > 0
    assert page.locator("svg.graph").get_attribute("role") == "img"


def test_a_number_leads_to_its_run_and_the_run_to_record_and_answer(visit, built):
    _root, _ = built
    page = visit()
    page.locator("#s0 table.each td.best a").first.click()
    page.locator("tr.here").wait_for()
    run = page.locator("tr.here")
    key = run.get_attribute("id").removeprefix("r-")
    assert run.locator(f"a[href='#r-{key}']").inner_text() == key
    run.locator("td button").click()
    dialog = page.locator("dialog[open]")
    page.wait_for_function("document.querySelector('.record-text').textContent.includes('key')")
    record = json.loads(dialog.locator(".record-text").inner_text())
    answer = json.loads(dialog.locator(".answer-text").inner_text())
    assert record["key"].startswith(key)
    assert answer["instance"] == record["digest"]
    with page.expect_download() as waiting:
        dialog.locator(".save-answer").click()
    assert json.loads(Path(waiting.value.path()).read_text()) == answer
    page.keyboard.press("Escape")
    assert page.locator("dialog[open]").count() == 0


def test_all_of_it_works_by_keyboard(visit):
    page = visit()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    # From there: filters, then the heads of the first table.
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('#s0 thead button')"):
            break
    page.keyboard.press("Enter")
    assert page.locator("#s0 th[aria-sort=ascending]").count() == 1
    page.keyboard.press("Space")
    assert page.locator("#s0 th[aria-sort=descending]").count() == 1


@pytest.mark.parametrize("which", ["index", "latency", "throughput", "entry"])
def test_a_phone_needs_no_sideways_scrolling(visit, built, which):
    page_of = {"index": "index.html", "entry": names.entry(made.ENTRIES[0])}
    name = page_of[which] if which in page_of else instance(built, which)
    page = visit(name, viewport=PHONE)
    page.wait_for_load_state("networkidle")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_light_dark_and_the_choice_between_them(visit):
    def paper(page):
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    assert paper(visit(color_scheme="light")) == "rgb(255, 255, 255)"
    page = visit(color_scheme="dark")
    dark = paper(page)
    assert dark != "rgb(255, 255, 255)"
    box = drawn(page, "section-0")
    button = page.locator("button.theme")
    button.click()
    assert "light" in button.inner_text()
    assert paper(page) == "rgb(255, 255, 255)"
    fill = box.locator(".main-svg").first
    assert "rgb(255, 255, 255)" in fill.evaluate("each => getComputedStyle(each).background")
    page.reload()  # the choice is kept
    assert paper(page) == "rgb(255, 255, 255)"
    page.locator("button.theme").click()
    assert paper(page) == dark


def test_the_pages_read_without_script(visit, built):
    page = visit(instance(built, "latency"), java_script_enabled=False)
    assert page.locator("svg.graph").is_visible()
    assert page.locator("table.runs tbody tr").count() > 0
    assert page.locator("button:visible").count() == 0


def test_print_shows_the_whole_tables(visit):
    page = visit()
    page.emulate_media(media="print")
    assert not page.locator("form.filters").is_visible()
    tall = page.locator(".tall").first
    assert tall.evaluate("e => getComputedStyle(e).maxHeight") == "none"


@pytest.fixture(scope="session")
def axe(tmp_path_factory):
    """The script of axe-core: a path in ``AXE_CORE``, else from the npm registry."""
    given = os.environ.get("AXE_CORE")
    if given:
        return Path(given)
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed: axe-core cannot be fetched")
    folder = tmp_path_factory.mktemp("npm")
    command = [npm, "install", "--prefix", str(folder), "--ignore-scripts", "--no-audit",
               "--no-fund", "axe-core@4"]  # fmt: skip
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        pytest.skip("the npm registry does not answer: no axe-core")
    if done.returncode:
        pytest.skip(f"axe-core cannot be fetched: {done.stderr.splitlines()[-1:]}")
    return folder / "node_modules" / "axe-core" / "axe.min.js"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(visit, built, axe, scheme):
    entry = names.entry(made.ENTRIES[0])
    for name in ("index.html", instance(built, "latency"), instance(built, "chips"), entry):
        page = visit(name, color_scheme=scheme)
        for box in page.locator(".plotted:visible").all():
            drawn(page, box.get_attribute("data-plot"))
        page.evaluate(axe.read_text())
        # Preloading asks for the style sheets by XMLHttpRequest, which file:// does not have.
        found = page.evaluate("axe.run({preload: false})")["violations"]
        told = [(v["id"], v["help"], [n["html"][:150] for n in v["nodes"][:3]]) for v in found]
        assert not told, name
