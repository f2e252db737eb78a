"""The documentation site: no warning, no link that leads nowhere, nothing left out."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import bench
from bench import entries

ROOT = Path(__file__).resolve().parent.parent
LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}


class Page(HTMLParser):
    """What a page defines, leads to and loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if found.get("id"):
            self.ids.add(str(found["id"]))
        if tag == "a" and found.get("href"):
            self.links.append(str(found["href"]))
        if tag in LOADED and found.get(LOADED[tag]):
            self.loaded.append(str(found[LOADED[tag]]))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for module in ("sphinx", "furo", "myst_parser"):
        pytest.importorskip(module, reason="the site of the documents needs the extra docs")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going",
         "-d", str(folder / "trees"), str(ROOT / "docs"), str(folder / "html")],
        capture_output=True, text=True, timeout=280,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return folder / "html"


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path.read_text()) for path in sorted(site.rglob("*.html"))}


def test_every_link_leads_to_a_place(pages: dict[Path, Page]) -> None:
    wrong, seen = [], 0
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme in ("http", "https"):
                continue
            seen += 1
            target = (
                Path(os.path.normpath(path.parent / unquote(parts.path))) if parts.path else path
            )
            anchor = unquote(parts.fragment)
            there = target.exists() and (
                not anchor or target not in pages or anchor in pages[target].ids
            )
            if not there:
                wrong.append(f"{path.name}: {link}")
    assert seen > 500
    assert not wrong


def test_nothing_is_loaded_from_elsewhere(site: Path, pages: dict[Path, Page]) -> None:
    loaded = {each for page in pages.values() for each in page.loaded}
    assert loaded
    assert not [each for each in loaded if re.match(r"(https?:)?//", each)]
    assert not [
        path.name
        for path in site.rglob("*.css")
        if re.search(r"(url\(|@import )[\"']?(https?:)?//", path.read_text())
    ]


def test_there_is_a_card_for_every_method(pages: dict[Path, Page], site: Path) -> None:
    files = [site / "generated" / name for name in ("heuristics.html", "exact.html")]
    text = unescape("".join(path.read_text() for path in files))
    for name in entries.names():
        title = name.partition("@")[0] + "@" * ("@" in name)
        assert re.search(rf"<h3>{re.escape(title)}<", text), name


def test_every_public_function_is_in_the_reference(pages: dict[Path, Page], site: Path) -> None:
    page = pages[site / "generated" / "api.html"]
    assert {f"bench.{name}" for name in bench.__all__} <= page.ids
    assert {"problems.instance.Instance", "problems.answer.Answer"} <= page.ids
    assert {"solvers.method.Context.report", "solvers.method.method"} <= page.ids


@pytest.mark.parametrize(
    "command",
    ["run", "leaderboard", "bks verify", "import solution", "export mps", "capture links"],
)
def test_every_command_is_in_the_reference(command: str, site: Path) -> None:
    text = (site / "generated" / "commands.html").read_text()
    assert f">placebench {command}<" in text


def test_the_spelling_is_right() -> None:
    pytest.importorskip("codespell_lib", reason="spelling needs codespell: extra dev")
    prose = re.search(r"^PROSE := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert prose
    paths = [str(p) for word in prose[1].split() for p in sorted(ROOT.glob(word))]
    done = subprocess.run(
        [sys.executable, "-m", "codespell_lib", *paths],
        cwd=ROOT, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
