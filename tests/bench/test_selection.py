"""What -i takes, and what it says of everything else."""

from __future__ import annotations

import msgspec
import pytest

from bench.selection import SelectionError, load, number, select
from problems import files
from problems.catalogue import Library
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


def test_names_in_one_text(library, tmp_path, monkeypatch):
    everything = names(library, "full")
    assert names(library, f"{everything[3]}, {everything[0]},") == [everything[3], everything[0]]
    assert names(library, f"smoke,{everything[3]},*/latency") == names(
        library, "smoke", everything[3], "*/latency"
    )
    monkeypatch.chdir(tmp_path)
    files.write(tmp_path / "a,b.json", library.bundle(library.index().instances[0]))
    assert names(library, "a,b.json") == ["a,b.json"]
    with pytest.raises(SelectionError, match="unknown selection 'smokey'"):
        select([f"{everything[0]},smokey"], library)
    for mixed in ("smoke,tier=tiny", f"{everything[0]},nodes>3", "tier=tiny,x.json"):
        with pytest.raises(SelectionError, match=r"both names .* give each its own -i"):
            select([mixed], library)


def test_commas_in_the_brackets_of_an_id(library):
    listed = "random0-8-total/x/throughput[contiguous,overlap=half]"
    with pytest.raises(SelectionError, match=r"unknown instance 'random0.*overlap=half\]'"):
        select([listed], library)


def test_a_bundle_file(library, tmp_path):
    spec = library.index().instances[0]
    path = tmp_path / "mine.json"
    files.write(path, library.bundle(spec))
    (selected,) = select([str(path)], library)
    assert selected.path == path
    assert load(selected, library).digest == library.entries()[0].digest


def test_comparisons_of_numbers(library):
    entries = library.entries()
    widths = sorted({entry.features.width for entry in entries})
    assert len(widths) > 1
    wide = [e.id for e in entries if e.features.width > widths[0]]
    assert names(library, f"width>{widths[0]}") == wide
    assert names(library, f"width >= {widths[0] + 1}, nodes=8") == wide
    assert names(library, f"width<={widths[0]}") == [e.id for e in entries if e.id not in wide]
    assert names(library, "nodes=8,devices<4,headroom>=0.9") == [e.id for e in entries]
    latency = names(library, "problem=latency,parallelism>=1")
    assert latency == names(library, "problem=latency")


def test_what_has_no_number_passes_no_comparison(library):
    entry = library.entries()[0]
    assert number(entry, "memory_pressure") is None
    for sign in ("<=", ">"):
        with pytest.raises(SelectionError, match="no instance passes"):
            select([f"graph={entry.graph},memory_pressure{sign}1"], library)


@pytest.fixture(scope="module")
def held(library, tmp_path_factory):
    """The library with its last two instances held out."""
    root = tmp_path_factory.mktemp("held")
    catalogue, index = library.catalogue(), library.index()
    instances = [
        msgspec.structs.replace(
            e, split="holdout" if i >= len(catalogue.instances) - 2 else e.split
        )
        for i, e in enumerate(catalogue.instances)
    ]
    files.write(root / "catalogue.json", msgspec.structs.replace(catalogue, instances=instances))
    named = {**index.selections, "holdout": [each.id for each in instances[-2:]]}
    files.write(root / "index.json", msgspec.structs.replace(index, selections=named))
    return Library(root)


def test_hold_out_instances_come_when_asked_for(held):
    public, held_out = [], []
    for entry in held.entries():
        (held_out if entry.split == "holdout" else public).append(entry.id)
    assert names(held, "nodes>0") == public
    assert names(held, "*random*") == public
    assert names(held, "nodes>0,split=*") == public + held_out
    assert names(held, "split=holdout") == held_out == names(held, "holdout")
    assert names(held, held_out[0]) == held_out[:1]
    graph = held.entries()[-1].graph
    with pytest.raises(SelectionError, match="only hold-out instances; add split=holdout"):
        select([f"graph={graph}"], held)
    with pytest.raises(SelectionError, match="only hold-out instances; give their full ids"):
        select([f"{graph}:*"], held)


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
        ("nodes>8", "no instance passes all of 'nodes>8'"),
        ("nodes>many", "filter nodes>many: 'many' is no number"),
        (
            "nodes>",
            r"or a comparison \(<, <=, >, >=, =\) of nodes, edges, devices, headroom, depth",
        ),
        ("tier>small", "tier is no number; .*compare one of nodes, edges"),
        ("widht<3", r"unknown filter key 'widht'; did you mean 'width'\? .*family, .*parallelism"),
        ("nodes<>3", "'>3' is no number"),
        ("random9/x/latency", "unknown instance 'random9/x/latency'"),
        ("missing.json", "no file 'missing.json'"),
    ],
)
def test_errors_name_the_valid_choices(library, text, message):
    with pytest.raises(SelectionError, match=message):
        select([text], library)
