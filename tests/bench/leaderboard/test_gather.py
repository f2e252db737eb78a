"""From records on file to what is ranked."""

from __future__ import annotations

import msgspec
import pytest

from bench import bks
from bench.leaderboard import gather, words
from bench.records import Store
from problems.files import FileError, encode
from tests.bench.synthetic import bounds, comparison, record


def source(records, folder):
    return gather.Source(Store(folder), records, "there")


def test_an_answer_below_a_bound_is_ranked_and_the_bound_is_in_conflict(tmp_path):
    records = comparison()
    first = records[0]
    better = record(
        instance=first.instance, digest=first.digest, family=first.family, entry="miracle",
        objective=0.001,
    )  # fmt: skip
    found = bks.Claim("bound", 0.0005, "joint-lp", version=1)
    known = gather.Known(bounds(), searched={first.digest: found})
    assert gather.board(source(records, tmp_path), known).contradictions == []
    board = gather.board(source([*records, better], tmp_path), known)
    row = next(r for r in board.sections[1].rows if r.digest == first.digest)
    assert (row.known.objective, row.known.by) == (0.001, "miracle")
    assert (row.known.bound, words.bound(row)) == (0.0005, "500 µs (searched)")
    (told,) = board.contradictions
    for word in (first.instance, "miracle", "0.001", repr(bounds()[first.digest]), "recomputed"):
        assert word in told
    assert any(told in note for note in words.notes(board))


def test_a_best_known_below_a_bound_puts_the_bound_in_conflict(tmp_path):
    records = comparison()
    digest = records[0].digest
    claim = bks.Claim("answer", 0.001, "miracle", verified_by="checker")
    claims = bks.Claims("placebench-claims/1", digest, records[0].instance, [claim])
    board = gather.board(source(records, tmp_path), gather.Known(bounds(), {}, {digest: claims}))
    assert ["miracle" in each for each in board.contradictions] == [True]
    known = board.sections[1].rows[0].known
    assert (known.objective, known.bound) == (0.001, 0.0)


def test_records_of_unknown_instances_stay_and_are_counted(tmp_path, monkeypatch):
    records = comparison()
    monkeypatch.setattr(gather.verify, "verified", lambda rs, _, load: (
        [r for r in rs if load(r.digest) is None], [(r, "wrong") for r in rs if load(r.digest)]
    ))  # fmt: skip
    known = records[0].digest
    checked = gather.rechecked(
        source(records, tmp_path), lambda digest: object() if digest == known else None
    )
    left = [record for record in records if record.digest != known]
    assert checked.records == left
    assert len(checked.faults) == len(records) - len(left)
    board = gather.board(checked, gather.Known(bounds()))
    note = f"{len(left)} records could not be re-checked: their instance is not in the library."
    assert note in words.notes(board)


def test_noise_above_ten_percent_is_said_in_words(tmp_path):
    store = Store(tmp_path)

    def told(after):
        name = store.put_environment({"cpu": "A", "after": after, "calibration": {"median_s": 0.1}})
        store.put_environment({"environment": name, "calibration": {"median_s": after}})
        found = [record(environment=name, objective=1.0)]
        return words.machines(gather.board(source(found, tmp_path), gather.Known()))

    assert "noisy" not in told(0.109)[0]
    assert "50.0% apart); noisy: above 10%" in told(0.15)[0]
    once = store.put_environment({"cpu": "B", "calibration": {"median_s": 0.1}})
    found = source([record(environment=once, objective=1.0)], tmp_path)
    assert "100.0 ms, measured once" in words.machines(gather.board(found, gather.Known()))[0]


def test_a_broken_line_is_set_aside_and_named(tmp_path):
    path = tmp_path / "records" / "mine.jsonl"
    good = [record(seed=seed) for seed in (0, 1)]
    path.parent.mkdir()
    path.write_bytes(b"\n".join([encode(good[0]), b"{}", encode(good[1]), b""]))
    found = gather.from_file(path)
    assert found.records == good
    assert [fault.startswith(f"{path}:2: ") for fault in found.faults] == [True]
    path.write_text("{}\n")
    with pytest.raises(FileError, match=r"no records there.*mine\.jsonl:1"):
        gather.from_file(path)


def test_published_records_leave_the_log_of_good_runs_behind(tmp_path):
    good = record(log="solver's words", answer="")
    bad = record(entry="bad", check="none", termination="error", error="why", log="last words",
                 answer="", environment="")  # fmt: skip
    path = gather.publish(source([good, bad], tmp_path), "run", tmp_path / "results")
    back = {each.entry: each for each in gather.from_file(path).records}
    assert back["greedy"] == msgspec.structs.replace(good, log="")
    assert back["bad"] == bad


def test_of_several_states_of_the_code_each_names_what_it_ran(tmp_path):
    store = Store(tmp_path)
    names = [store.put_environment({"cpu": "A", "git_commit": each * 40}) for each in "ab"]
    found = [record(environment=names[0], objective=1.0)]
    assert "runs of" not in words.machines(gather.board(source(found, tmp_path), gather.Known()))[0]
    found.append(record(environment=names[1], entry="heft", objective=1.0))
    shown = words.machines(gather.board(source(found, tmp_path), gather.Known()))
    assert sorted(line.rpartition("runs of ")[2] for line in shown) == ["greedy", "heft"]
