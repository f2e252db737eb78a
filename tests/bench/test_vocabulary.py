"""Words that a record may hold, and how long its traces may be: held when it is read, too."""

from __future__ import annotations

import json

import pytest

from bench.records import Store
from problems.files import FileError
from tests.bench.synthetic import record


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("termination", "gave-up"), ("check", "maybe"), ("claim", "perfect"),
        ("trace", [[0.0, 1.0]] * 257), ("bounds", [[0.0, 1.0]] * 257),
    ],
)  # fmt: skip
def test_other_words_are_refused(tmp_path, field, value):
    good = record(claim="optimal", trace=[(0.1, 2.0)] * 256)
    store = Store(tmp_path)
    store.put(good)
    assert store.get(good.key) == good
    (path,) = store.paths()
    path.write_text(json.dumps(json.loads(path.read_bytes()) | {field: value}))
    with pytest.raises(FileError, match=rf"`\$\.{field}`"):
        store.record_at(path)
    assert store.get(good.key) is None  # the run is made again
