import pytest

from bench import reference
from problems.files import FileError


def test_rows_are_the_published_heuristics(tmp_path):
    with pytest.raises(FileError, match="no reference values"):
        reference.rows(tmp_path)
    (tmp_path / "reference.csv").write_text(
        "file,method,objective_ms,seconds,note\n"
        "throughput/a.json,dpl,2.5,0.1,\n"
        "throughput/a.json,dp,2.25,9.0,exact\n"
    )
    assert reference.rows(tmp_path) == [reference.Row("throughput/a.json", "dpl", 0.0025)]


def test_the_table_counts_what_is_worse():
    row = reference.Row("throughput/a.json", "dpl", 0.0025)
    found = [
        reference.Compared(row, ("dpl", 0.0025), ("annealing", 0.002)),
        reference.Compared(row, ("dpl", 0.003), ("", float("nan"))),
    ]
    text = reference.markdown(found, 3.0)
    assert (
        "| throughput/a | dpl | 2.5000 | dpl | 2.5000 | 1.0000 | annealing | 2.0000 | 0.8000 |"
        in (text.splitlines())
    )
    assert "none | nan | nan |" in text
    assert "3 s each" in text
    assert text.endswith("worse than published: 1 by the same kind, 0 by the strongest.\n")


def test_a_folder_without_values_is_said(tmp_path, capsys):
    assert reference.main(["--folder", str(tmp_path)]) == 2
    assert "no reference values" in capsys.readouterr().err
