"""Everything that README says can be run is run here, as it stands there."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = (
    "README.md", "CONTRIBUTING.md", "problems/README.md", "problems/formats/README.md",
    "solvers/README.md", "bench/README.md", "results/submissions/README.md",
)  # fmt: skip
# In the order in which they build on one another; test_docs_site looks at their links.
TUTORIALS = tuple(
    f"docs/tutorials/{name}.md"
    for name in ("heuristic", "mps", "capture", "leaderboard", "notebook", "submit")
)
NEEDS = {"docs/tutorials/capture.md": "torch"}
FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")


def blocks(language: str, names: tuple[str, ...] = DOCUMENTS + TUTORIALS) -> list[str]:
    texts = [(ROOT / name).read_text() for name in names]
    return [body for text in texts for kind, body in FENCE.findall(text) if kind == language]


def commands(name: str) -> list[list[str]]:
    lines = [line for block in blocks("sh", (name,)) for line in block.splitlines()]
    return [shlex.split(line, comments=True) for line in lines if line.strip()]


COMMANDS = [
    pytest.param(command, NEEDS.get(name), id=" ".join(command))
    for name in DOCUMENTS + TUTORIALS
    for command in commands(name)
]


def quickly(command: list[str]) -> list[str]:
    """The same in the least time: neither an answer nor a measurement has to be good here."""
    if "to-submit" in command:  # the closed division has limits of its own
        return command
    timed = ("--time", "--benchmark-time")
    short = ["100ms" if before in timed else each for before, each in pairwise(["", *command])]
    if command[1:3] in (["capture", "device"], ["capture", "links"]):
        short.append("--force")  # the tests themselves keep the machine busy
    if Path(command[0]).name == "pytest":
        # A little of every file: one instance of the comparison, one size of graph, one round.
        some = ["-k", "(clip and not ports) or 1000-4 or 5000 or stages or textbook or checker"]
        short += ["--benchmark-min-rounds=1", "--benchmark-max-time=0.01", *some]
    return short


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    # Who runs a command is no part of these tests, whichever of their processes this is.
    environment = {k: v for k, v in os.environ.items() if k != "PYTEST_XDIST_WORKER"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=280
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A newcomer's folder with the files that the documents show, all commands run in it."""
    result = tmp_path_factory.mktemp("newcomer")
    for block in blocks("python"):
        if first := re.match(r"# (\w+\.py)\n", block):
            (result / first[1]).write_text(block)
    return result


def test_documents_show_commands_and_a_heuristic(folder: Path) -> None:
    assert len(COMMANDS) > 8
    assert (folder / "my_heuristic.py").exists()


MAKE = [each for each in COMMANDS if each.values[0][0] == "make"]
OTHERS = [each for each in COMMANDS if each not in MAKE]


@pytest.mark.parametrize(("command", "needs"), MAKE)
def test_make_target_exists(command: list[str], needs: str | None) -> None:
    done = run([*command, "--dry-run"], ROOT)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("command", "needs"), OTHERS)
def test_command(command: list[str], needs: str | None, folder: Path) -> None:
    if needs:
        pytest.importorskip(needs, reason=f"the tutorial needs {needs}: extra capture")
    bin_ = Path(sys.executable).parent
    program = Path(command[0])
    assert program.parent == Path(".venv/bin"), "commands are shown as .venv/bin/..."
    # pytest has to find the suite's own configuration; everything else works from anywhere.
    where = ROOT if program.name == "pytest" else folder
    done = run([str(bin_ / program.name), *quickly(command)[1:]], where)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def test_snippets(folder: Path) -> None:
    snippets = [b for b in blocks("python") if not re.match(r"# \w+\.py\n", b)]
    assert snippets
    for snippet in snippets:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, "-c", snippet],
            cwd=folder, env=environment, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "name",
    [*DOCUMENTS, "heuristics/README.md", "problems/library/README.md", "results/README.md"],
)
def test_links_lead_somewhere(name: str) -> None:
    document = ROOT / name
    for target in LINK.findall(document.read_text()):
        assert (document.parent / target).exists(), target
