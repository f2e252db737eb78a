"""Records that were edited by hand are told from those that a run left behind."""

from __future__ import annotations

import msgspec
import pytest

from bench.job import Job
from bench.leaderboard import gather
from bench.records import Store
from bench.verify import _key, fault, verified
from problems.answer import Answer, to_file
from problems.checker import check
from problems.files import FileError, write_atomically
from tests.bench import harness

ELSEWHERE = "0" * 64


@pytest.fixture
def made(tmp_path):
    """A store, an instance and an honest record of it, without a run."""
    store, instance = Store(tmp_path), harness.instance()
    answer = Answer.of([0] * instance.n)
    name = store.put_answer(to_file(answer, instance.digest))
    job = Job(instance, harness.entries("good")[0], 0, 0.5, None, 1, "0.1.0", "")
    record = job.record(
        termination="completed",
        check="ok",
        objective=check(instance, answer).objective,
        answer=name,
    )
    store.put(record)
    return store, instance, record


def replaced(record, **changes):
    return msgspec.structs.replace(record, **changes)


def test_an_honest_record_is_believed(made):
    store, instance, record = made
    assert fault(record, store, instance) is None
    assert fault(record, store, None) is None
    failed = replaced(record, check="none", objective=None, answer="", termination="error")
    assert fault(failed, store, instance) is None


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"seed": 5}, "edited"),
        ({"method": "other", "entry": "other"}, "edited"),
        ({"time_limit_s": 0.25}, "edited"),
        ({"suite": "9"}, "edited"),
        ({"key": ELSEWHERE}, "edited"),
        ({"entry": "heft"}, "does not follow from its method"),
        ({"entry": "goods"}, "does not follow from its method"),
        ({"problem": "latency"}, "not that of the instance"),
        ({"objective": None}, "no answer has"),
        ({"objective": float("nan")}, "no answer has"),
        ({"objective": -1.0}, "no answer has"),
        ({"objective": 1e-9}, "its answer has"),
        ({"answer": ""}, "names no answer"),
        ({"answer": "../../secret"}, "names no answer"),
        ({"answer": ELSEWHERE}, "cannot be read"),
    ],
)
def test_an_edited_record_is_not(made, changes, says):
    store, instance, record = made
    assert says in str(fault(replaced(record, **changes), store, instance))


def rekeyed(record, **changes):
    record = replaced(record, **changes)
    return replaced(record, key=_key(record))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"time_limit_s": 0.0}, "time limit"),
        ({"time_limit_s": -1.0}, "time limit"),
        ({"threads": 0}, "threads"),
        ({"memory_limit_bytes": -4}, "bytes"),
        ({"wall_s": -5.0}, "wall_s"),
        ({"overrun_s": float("nan")}, "overrun_s"),
        ({"wall_s": 1e9}, "beyond its limit"),
        ({"peak_bytes": -5}, "bytes"),
        ({"trace": [(-0.1, 1.0)]}, "trace"),
        ({"trace": [(0.2, 2.0), (0.1, 1.0)]}, "trace"),
        ({"trace": [(0.6, 1.0)]}, "trace"),
        ({"trace": [(0.2, 1.0)], "wall_s": 0.1}, "beyond its end"),
        ({"trace": [(0.1, 1.0), (0.2, 1.5)]}, "does not improve"),
        ({"trace": [(0.1, float("nan"))]}, "no answer has"),
        ({"trace": [(0.1, 1e9)]}, "above its objective"),
    ],
)
def test_a_record_with_what_no_run_has_is_not_believed(made, changes, says):
    store, instance, record = made
    assert says in str(fault(rekeyed(record, **{"wall_s": 0.5, **changes}), store, instance))
    possible = rekeyed(record, trace=[(0.0, 2.0), (0.2, 1.5), (0.2, 1.2), (0.5, 1.0)], wall_s=0.5)
    assert fault(possible, store, instance) is None


def test_a_name_that_leads_to_another_table_is_not_believed(made):
    store, instance, record = made
    assert record.problem == "throughput"
    moved = "x/y" if instance.rules.contiguous else "x/y[contiguous]"
    assert "another table" in (fault(replaced(record, instance=moved), store, instance) or "")
    # A copy of the file under a name of its own.
    copied = f"elsewhere/{instance.id.rsplit('/', 1)[-1]}"
    assert fault(replaced(record, instance=copied), store, instance) is None


def test_an_answer_that_does_not_hold_is_not_believed(made):
    store, instance, record = made
    invalid = store.put_answer(to_file(Answer.of([-1] * instance.n), instance.digest))
    assert "invalid (device)" in str(fault(replaced(record, answer=invalid), store, instance))
    strange = store.put_answer(to_file(Answer.of([0] * instance.n), ELSEWHERE))
    assert "another instance" in str(fault(replaced(record, answer=strange), store, None))
    path = store.root / "answers" / record.answer[:2] / f"{record.answer}.json.gz"
    path.write_bytes((store.root / "answers" / invalid[:2] / f"{invalid}.json.gz").read_bytes())
    assert "digest in its name" in str(fault(record, store, None))


def test_records_are_parted_and_each_instance_is_loaded_once(made):
    store, instance, record = made
    asked = []

    def load(digest):
        asked.append(digest)
        return instance

    forged = replaced(record, objective=1e-9)
    good, bad = verified([record, forged, record], store, load)
    assert good == [record, record]
    assert [each for each, _ in bad] == [forged]
    assert asked == [instance.digest]
    # Without the instance the objective cannot be computed anew.
    assert verified([forged], store, lambda digest: None) == ([forged], [])


def test_a_record_under_another_key_is_not_taken(made):
    store, _, record = made
    path = store.root / "records" / "00" / f"{ELSEWHERE}.json"
    write_atomically(path, msgspec.json.encode(record))
    assert store.get(ELSEWHERE) is None
    assert store.get(record.key) == record
    with pytest.raises(FileError, match=f"{ELSEWHERE}.*key"):
        list(store.records())


def test_a_forged_record_is_run_again(tmp_path):
    first = harness.run(tmp_path, "good")["good"]
    store = Store(tmp_path)
    store.put(replaced(first, objective=1e-9))
    assert harness.run(tmp_path, "good")["good"].objective == first.objective
    (tmp_path / "answers" / first.answer[:2] / f"{first.answer}.json.gz").unlink()
    harness.run(tmp_path, "good")
    assert store.get_answer(first.answer).instance == first.digest


def test_a_run_whose_machine_is_not_told_any_more_is_made_again(tmp_path):
    store = Store(tmp_path)
    first = harness.run(tmp_path, "good")["good"]
    assert harness.run(tmp_path, "good")["good"].wall_s == first.wall_s
    path = tmp_path / "environments" / f"{first.environment}.json"
    told = path.read_bytes()
    path.write_bytes(told.replace(b'"cores"', b'"cares"'))
    with pytest.raises(FileError, match="not have the digest in its name"):
        store.get_environment(first.environment)
    [said] = gather.from_store(tmp_path).faults
    assert said.endswith("the same `placebench run` makes its runs again")
    second = harness.run(tmp_path, "good")["good"]
    assert second.wall_s != first.wall_s
    assert store.get_environment(second.environment)["cores"]
    [said] = gather.from_store(tmp_path).faults
    assert said.endswith("remove it: no run needs it")
    assert store.put_environment(msgspec.json.decode(told)) == first.environment
    assert path.read_bytes() == told
    assert gather.from_store(tmp_path).faults == []
    (tmp_path / "environments" / f"{second.environment}.json").unlink()
    source = gather.from_store(tmp_path)
    assert source.faults == []
    assert [each.partition(";")[0] for each in source.remarks] == [
        "The machine of 1 run is not on file"
    ]


def test_a_record_under_another_name_is_refused(tmp_path):
    store = Store(tmp_path)
    harness.run(tmp_path, "good", "draws")
    first, second = store.paths()
    second.write_bytes(first.read_bytes())
    with pytest.raises(FileError, match="not the file's name"):
        store.record_at(second)
    source = gather.from_store(tmp_path)
    assert [record.key for record in source.records] == [first.stem]
    assert len(source.faults) == 1


def test_a_label_that_does_not_follow_is_a_fault(tmp_path):
    record = harness.run(tmp_path, "good")["good"]
    edited = msgspec.structs.replace(record, entry="good[\x1b[31mx]")
    assert "does not follow" in fault(edited, Store(tmp_path), None)


def test_a_damaged_answer_is_written_again(tmp_path):
    store = Store(tmp_path)
    record = harness.run(tmp_path, "good")["good"]
    path = next(tmp_path.glob("answers/*/*.gz"))
    path.write_bytes(path.read_bytes()[:20])
    assert fault(record, store, harness.instance()) is not None
    again = harness.run(tmp_path, "good")["good"]
    assert fault(again, store, harness.instance()) is None


def test_a_folder_in_place_of_a_record_costs_one_row(tmp_path):
    harness.run(tmp_path, "good", "draws")
    paths = {path.stem: path for path in Store(tmp_path).paths()}
    key = harness.run(tmp_path, "good")["good"].key
    paths[key].unlink()
    paths[key].mkdir()
    done = harness.run(tmp_path, "good", "draws")
    assert "could not be stored" in done["good"].error
    assert done["draws"].good
