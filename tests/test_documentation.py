"""Everything that the documents say can be run is run here, as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import documents
from tests.documents import DOCUMENTS, ROOT

LINK = re.compile(r"\]\((?!https?:)([^)#]+)")
COMMANDS = documents.commands(DOCUMENTS)
MAKE = [each for each in COMMANDS if each.values[0][0] == "make"]
OTHERS = [each for each in COMMANDS if each not in MAKE]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return documents.newcomer(tmp_path_factory.mktemp("newcomer"), DOCUMENTS)


def test_documents_show_commands_and_a_heuristic(folder: Path) -> None:
    assert len(COMMANDS) > 8
    assert (folder / "my_heuristic.py").exists()


@pytest.mark.parametrize(("command", "needs"), MAKE)
def test_make_target_exists(command: list[str], needs: str | None) -> None:
    done = documents.run([*command, "--dry-run"], ROOT)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("command", "needs"), OTHERS)
def test_command(command: list[str], needs: str | None, folder: Path) -> None:
    documents.follow(command, needs, folder)


def test_snippets(folder: Path) -> None:
    documents.paste(folder, DOCUMENTS)


@pytest.mark.parametrize(
    "name",
    [*DOCUMENTS, "heuristics/README.md", "problems/library/README.md", "results/README.md"],
)
def test_links_lead_somewhere(name: str) -> None:
    document = ROOT / name
    for target in LINK.findall(document.read_text()):
        assert (document.parent / target).exists(), target
