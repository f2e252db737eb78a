"""The tutorials, step by step in one folder, as a newcomer follows them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import documents
from tests.documents import TUTORIALS

COMMANDS = documents.commands(TUTORIALS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return documents.newcomer(tmp_path_factory.mktemp("newcomer"), TUTORIALS)


@pytest.mark.parametrize(("command", "needs"), COMMANDS)
def test_step(command: list[str], needs: str | None, folder: Path) -> None:
    documents.follow(command, needs, folder)


def test_snippets(folder: Path) -> None:
    documents.paste(folder, TUTORIALS)
