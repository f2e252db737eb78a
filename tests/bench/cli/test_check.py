"""``placebench check`` says of a mixture what goes where."""

from __future__ import annotations

from bench.cli import check
from problems import answer as answers
from problems import files
from problems.answer import Answer
from problems.resolve import from_bundle
from tests import tiny


def test_shares_and_use_of_a_mixture(tmp_path, capsys):
    bundle = tiny.bundle([[2.0, 3.0]], problem="throughput", rules={"replicate": "mixture"})
    files.write(tmp_path / "bundle.json", bundle)
    answer = Answer.of([0], others=[[1]], rates=[1 / 2, 1 / 6])
    files.write(tmp_path / "answer.json", answers.to_file(answer, from_bundle(bundle).digest))
    assert check.run(tmp_path / "answer.json", str(tmp_path / "bundle.json"), False) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("valid: 1.5")
    assert said[1:] == [
        "75.00 % of the samples by mapping 0, on d0",
        "25.00 % of the samples by mapping 1, on d1",
        "d0 is in use 100.00 % of the time",
        "d1 is in use 50.00 % of the time",
    ]
