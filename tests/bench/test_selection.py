"""What -i takes, and what it says of everything else."""

from __future__ import annotations

import pytest

from bench.selection import SelectionError, load, select
from problems import files
from tests.bench import library as small


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return small.write(tmp_path_factory.mktemp("library"))


def names(library, *texts):
    return [each.name for each in select(texts, library)]


def test_named_selections_filters_ids_and_globs(library):
    everything = [entry.id for entry in library.entries()]
    latency = [name for name in everything if name.endswith("/latency")]
    assert names(library, "full") == everything
    assert names(library, "smoke") == everything[:2]
    assert names(library, "problem=latency") == latency
    assert names(library, "problem=latency,graph=random0*|random1*") == latency[:2]
    assert names(library, everything[0]) == everything[:1]
    assert names(library, "*/latency") == latency
    assert names(library, "random0-*throughput[contiguous]") == everything[:1]


def test_several_selections_add_up_without_repeats(library):
    everything = names(library, "full")
    assert names(library, "smoke", "full") == everything
    assert names(library, "problem=latency", "smoke")[0].endswith("/latency")


def test_a_bundle_file(library, tmp_path):
    spec = library.index().instances[0]
    path = tmp_path / "mine.json"
    files.write(path, library.bundle(spec))
    (selected,) = select([str(path)], library)
    assert selected.path == path
    assert load(selected, library).digest == library.entries()[0].digest


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("smokey", r"unknown selection 'smokey'; did you mean 'smoke'\?.*default, full, smoke"),
        ("famly=random", r"unknown filter key 'famly'; did you mean 'family'\?"),
        ("family", r"unknown selection 'family'.*filters over family, tier"),
        ("family=", r"write key=value"),
        ("family=random,tier", r"filter 'tier': write key=value"),
        ("problem=latencyy", r"no instance has problem=latencyy; did you mean 'latency'\?"),
        ("tier=huge", r"no instance has tier=huge.*valid are tiny"),
        ("problem=latency,graph=random0-8-t", "passes all"),
        ("random9/x/latency", "unknown instance 'random9/x/latency'"),
        ("missing.json", "no file 'missing.json'"),
    ],
)
def test_errors_name_the_valid_choices(library, text, message):
    with pytest.raises(SelectionError, match=message):
        select([text], library)
