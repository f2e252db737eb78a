"""What ``placebench doctor`` says of optional packages."""

from __future__ import annotations

import json

import pytest

from bench.cli import doctor


def test_an_extra_of_which_a_package_is_missing_is_named_with_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    extras = {"whole": ("numpy", "json"), "part": ("numpy", "no_such_package")}
    monkeypatch.setattr(doctor, "EXTRAS", extras)
    assert doctor.run(json=True) == 0
    assert json.loads(capsys.readouterr().out)["extras"] == {"whole": True, "part": False}
    doctor.run(json=False)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines if line.startswith("extra")] == [
        ["extra", "whole", "ok"],
        ["extra", "part", "-", "without", "no_such_package"],
    ]
