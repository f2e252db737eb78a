"""The command line of the import; what it writes is tested beside the importer."""

import importlib.util

import pytest
from typer.testing import CliRunner

from bench.cli import FAILED, USAGE
from bench.cli.importing import app
from problems.formats.aiconfigurator import package

RUN = CliRunner()


def test_a_missing_package_names_the_extra(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    result = RUN.invoke(app, ["aiconfigurator"])
    assert result.exit_code == FAILED
    assert "pip install -e '.[gpu-data]'" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["v100"], "no GPU 'v100'; the GPUs are a100-sxm,"),
        (["--halve", "nothing"], "nothing.json.gz: cannot be read"),
    ],
)
def test_wrong_names_are_one_line(monkeypatch, arguments, message):
    monkeypatch.setattr(package, "Package", lambda: None)
    result = RUN.invoke(app, ["aiconfigurator", *arguments])
    assert result.exit_code == USAGE
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
