"""What a run deletes or spoils in the store is put back."""

from __future__ import annotations

from bench.mending import Stored
from bench.records import Store
from bench.suite import Notice
from tests.bench import harness


def test_what_is_missing_or_spoiled_is_stored_anew(tmp_path):
    store = Store(tmp_path)
    row = harness.run(tmp_path, "good")["good"]
    answer = store.get_answer(row.answer)
    stored = Stored()
    stored.add(row, answer)
    assert stored.mend(store) == []
    (record,) = tmp_path.glob("records/*/*.json")
    (file,) = tmp_path.glob("answers/*/*")
    for path in (record, file):
        for spoil in (lambda p: p.unlink(), lambda p: p.write_bytes(b"{}")):
            spoil(path)
            assert stored.mend(store) == [row]
            assert (store.get(row.key), store.get_answer(row.answer)) == (row, answer)
    assert stored.mend(store) == []


def test_it_is_said(tmp_path, monkeypatch):
    monkeypatch.setenv("PLACEBENCH_TEST_STORE", str(tmp_path))
    events = []
    names = ["empties-the-store", "good"]
    harness.run(tmp_path, *names, time_limit_s=10.0, progress=events.append)
    (notice,) = [event.text for event in events if isinstance(event, Notice)]
    assert notice.startswith("the record of good on ")
    assert notice.endswith("was changed in the store: put back")
