"""A small library, runs of it, and a good submission to be spoiled."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import msgspec
import pytest

from bench import bks
from bench.entries import parse_entry
from bench.environment import after
from bench.job import Job
from bench.records import Store
from bench.submissions import layout
from bench.submissions.checking import Shared, examine
from bench.submissions.folder import Folder
from problems import catalogue
from problems.answer import to_file
from problems.checker import check
from problems.single import best_single
from tests.bench import library as small

SAID = {
    "cpu": "A", "cores": 2, "memory_bytes": 8, "os": "Linux", "python": "3.11", "suite": "0.1.0",
    "packages": {"numpy": "2"}, "calibration": {"median_s": 0.02},
}  # fmt: skip


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    return small.write(tmp_path_factory.mktemp("library"))


@pytest.fixture(autouse=True)
def _elsewhere(request, library, tmp_path, monkeypatch):
    """Nothing here touches what the repository publishes, which one file looks at."""
    if request.path.name == "test_published.py":
        return
    monkeypatch.setattr(catalogue, "ROOT", library.root)
    monkeypatch.setattr(bks, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(bks, "FOLDER", tmp_path / "results" / "best_known")
    monkeypatch.chdir(tmp_path)


def fill(store: Store, library, entry: str = "single", seeds=(0, 1), limit: float = 10.0, **more):
    """Records as a run of an entry would leave them, without running it."""
    environment = store.put_environment(SAID)
    store.put_environment(after(environment, {"median_s": 0.0201}))
    (parsed,) = parse_entry(entry)
    for each in library.entries():
        instance = library.load(each.id)
        answer, _ = best_single(instance)
        file = to_file(answer, instance.digest)
        value = check(instance, answer).objective
        for seed in seeds:
            job = Job(instance, parsed, seed, limit, None, 1, "0.1.0", environment)
            outcome = {
                "termination": "completed", "check": "ok", "objective": value, "wall_s": 0.5,
                "answer": store.put_answer(file), "trace": [(0.25, value)], **more,
            }  # fmt: skip
            store.put(job.record(**outcome))


@pytest.fixture(scope="session")
def filled(library, tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("store"))
    fill(store, library)
    return store


@pytest.fixture
def cli(capfd):
    from bench.cli import main

    def run(*arguments):
        code = main([str(each) for each in arguments])
        captured = capfd.readouterr()
        return code, captured.out, captured.err

    return run


SAYS = ("--author", "A. Nonymous", "--description", "Everything on one device.")


@pytest.fixture
def good(cli, filled, tmp_path):
    """The folder of a submission that passes every check."""
    code, out, err = cli(
        "submit", "mine", "-m", "single", "--time", "10s", "--store", filled.root, *SAYS
    )
    assert code == 0, out + err
    return tmp_path / "results" / "submissions" / "mine"


def results(folder: Path) -> dict[str, object]:
    """The results of all checks of a folder by name, the folder's own siblings beside it."""
    return {each.check: each for each in examine(Folder(folder), Shared(root=folder.parent))}


def change(folder: Path, **fields) -> None:
    """Change fields of ``submission.json``."""
    path = folder / layout.SUBMISSION
    said = json.loads(path.read_bytes())
    path.write_text(json.dumps({**said, **fields}))


def edit(folder: Path, number: int = 0, **fields) -> None:
    """Change fields of one record; what was counted of them is made to fit."""
    path = folder / layout.RECORDS
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    lines[number].update(fields)
    rewrite(folder, lines)


def rewrite(folder: Path, lines: list) -> None:
    """Write records, and what ``submission.json`` says of them."""
    from bench.records import Record

    path = folder / layout.RECORDS
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    runs = msgspec.convert(lines, list[Record], strict=False)
    change(folder, records=len(runs), content=layout.content_digest(runs))


def copy(folder: Path, name: str) -> Path:
    """The submission again, under another name."""
    other = folder.parent / name
    shutil.copytree(folder, other)
    change(other, name=name)
    return other
