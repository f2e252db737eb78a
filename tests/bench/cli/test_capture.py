"""``placebench capture``: what it writes, and how it refuses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bench.cli.capture import app
from problems import files
from problems.capture import machine
from problems.graph import GraphFile, Node, Signature
from problems.platform import DeviceFile, LinkFile

RUN = CliRunner()


def test_a_device_is_measured_and_written(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="extra `capture` is not installed: no torch")
    vector = {"tensor": [[8], [1], "float32"]}
    graph = GraphFile(
        format="placebench-graph/1",
        name="g",
        family="f",
        nodes=[Node(name="x", op="a", signature="s")],
        edges=[],
        signatures={"s": Signature("aten.neg.default", [vector]), "t": Signature("aten.nil.x")},
    )
    files.write(tmp_path / "g.json", graph)
    result = RUN.invoke(
        app,
        f"device cpu:1 --graph {tmp_path / 'g.json'} --name mine --budget 1 --processes 1"
        f" --force -o {tmp_path}",
    )
    assert result.exit_code == 0, result.output
    file = files.read(tmp_path / "mine.json.gz", DeviceFile)
    assert file.times["s"] is not None
    assert file.times["t"] is None
    assert "aten.nil.x (t) cannot run here" in result.output


@pytest.mark.skipif(machine.available_cores() < 2, reason="a link needs two cores")
def test_links_are_measured_and_written(tmp_path: Path) -> None:
    result = RUN.invoke(app, ["links", "shm", "--budget", "1", "--force", "-o", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert len(files.read(tmp_path / "shm.json", LinkFile).forward) == 19


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["device", "gpu"], "no device 'gpu' here; the devices are cpu:1"),
        (["device", "cpu:1", "--graph", "none.json"], "none.json: cannot be read"),
        (["links", "ib"], "no link 'ib'; the links are shm, tcp-loopback"),
    ],
)
def test_wrong_arguments_end_with_one_line(arguments: list[str], message: str) -> None:
    result = RUN.invoke(app, arguments)
    assert result.exit_code == 2
    assert result.output.startswith(f"placebench: {message}")
    assert result.output.count("\n") == 1


def test_an_unknown_network_is_refused() -> None:
    pytest.importorskip("torch", reason="extra `capture` is not installed: no torch")
    pytest.importorskip("transformers", reason="extra `capture` is not installed")
    result = RUN.invoke(app, ["graph", "resnet50", "vgg"])
    assert result.exit_code == 2
    assert "no network 'vgg'; the networks are " in result.output
    assert "resnet50" in result.output


def test_a_busy_machine_is_an_error_of_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def busy() -> None:
        raise machine.BusyError("the machine is busy: others use 2.00 cores")

    monkeypatch.setattr(machine, "require_quiet", busy)
    monkeypatch.setattr(machine, "available_cores", lambda: 2)
    result = RUN.invoke(app, ["links", "shm"])
    assert (result.exit_code, result.output) == (
        1,
        "placebench: the machine is busy: others use 2.00 cores\n",
    )


def test_heavy_packages_are_not_imported_for_the_help() -> None:
    code = (
        "import sys, bench.cli.capture; print(sorted({'torch', 'transformers'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
