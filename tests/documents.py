"""What the documents say can be run, in how little time it is run, and by whom."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from bench.selection import select
from problems.catalogue import Library

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
NAMED = re.compile(r"# (\w+\.py)\n")


def blocks(language: str, names: tuple[str, ...]) -> list[str]:
    texts = [(ROOT / name).read_text() for name in names]
    return [body for text in texts for kind, body in FENCE.findall(text) if kind == language]


def commands(names: tuple[str, ...]) -> list[Any]:
    """Every command of the documents with what it needs, for a test of each."""
    found = []
    for name in names:
        lines = [line for block in blocks("sh", (name,)) for line in block.splitlines()]
        for command in [shlex.split(line, comments=True) for line in lines if line.strip()]:
            found.append(pytest.param(command, NEEDS.get(name), id=" ".join(command)))
    return found


def few(selection: str) -> str:
    """The first instance of each problem, of what a filter or a name selects; files stay."""
    if Path(selection).suffix == ".json" or "/" in selection:
        return selection
    first: dict[str, str] = {}
    for each in select([selection], Library()):
        assert each.entry is not None
        first.setdefault(each.entry.problem, each.name)
    return ",".join(first.values())


def quickly(command: list[str]) -> list[str]:
    """The same in the least time: neither an answer nor a measurement has to be good here."""
    if "to-submit" in command:  # the closed division has limits of its own
        return command
    short = [command[0]]
    for before, each in pairwise(command):
        if before in ("--time", "--benchmark-time"):
            each = "100ms"
        elif before == "--seeds":
            each = "1"
        elif before == "-i" or (command[1] == "export" and "=" in each):
            each = few(each)
        short.append(each)
    if command[1:3] in (["capture", "device"], ["capture", "links"]):
        short.append("--force")  # the tests themselves keep the machine busy
    if Path(command[0]).name == "pytest":
        # A little of every file: one instance of the comparison, one size of graph, one round.
        some = "1000-4 or heft-5000 or records and 5000 or 5000-free or stages-True or textbook"
        some = f"greedy-clip and not ports or {some} or checker"
        short += ["--benchmark-min-rounds=1", "--benchmark-max-time=0.01", "-k", some]
    return short


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    # Who runs a command is no part of these tests, whichever of their processes this is.
    environment = {k: v for k, v in os.environ.items() if k != "PYTEST_XDIST_WORKER"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=280
    )


def newcomer(folder: Path, names: tuple[str, ...]) -> Path:
    """A newcomer's folder with the files that the documents show, all commands run in it."""
    for block in blocks("python", names):
        if first := NAMED.match(block):
            (folder / first[1]).write_text(block)
    return folder


def follow(command: list[str], needs: str | None, folder: Path) -> None:
    """Run a command as it stands, but for its length."""
    if needs:
        pytest.importorskip(needs, reason=f"the tutorial needs {needs}: extra capture")
    bin_ = Path(sys.executable).parent
    program = Path(command[0])
    assert program.parent == Path(".venv/bin"), "commands are shown as .venv/bin/..."
    # pytest has to find the suite's own configuration; everything else works from anywhere.
    where = ROOT if program.name == "pytest" else folder
    done = run([str(bin_ / program.name), *quickly(command)[1:]], where)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


EACH = """
import sys
for i, snippet in enumerate(sys.argv[1:], 1):
    exec(compile(snippet, f"snippet {i}", "exec"), {"__name__": "__main__"})
"""


def paste(folder: Path, names: tuple[str, ...]) -> None:
    """Run the snippets of the documents that are no files: each on its own, imports shared."""
    snippets = [b for b in blocks("python", names) if not NAMED.match(b)]
    assert snippets
    done = subprocess.run(
        [sys.executable, "-c", EACH, *snippets],
        cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=280,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
