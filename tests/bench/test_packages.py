"""Methods of installed packages: a real package, installed by pip into a folder of its own."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys

import pytest

import bench
from bench import entries, packages, presets
from bench.entries import EntryError, parse_entries, parse_entry
from solvers.method import REGISTRY
from tests.bench import harness, tiny_package

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("pip") is None, reason="installing a package needs pip"
)


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    tiny_package.install(tiny_package.wheel(folder), folder / "installed")
    return folder / "installed"


@pytest.fixture
def tiny(target, monkeypatch):
    """The package on the path, and nothing of it loaded."""
    monkeypatch.syspath_prepend(str(target))
    monkeypatch.setenv("PYTHONPATH", str(target))
    _forget()  # tests of other files load it too
    yield target
    _forget()


def _forget() -> None:
    for name in [name for name in sys.modules if name.startswith("tiny_placers")]:
        del sys.modules[name]
    packages.offers.cache_clear()


def test_it_is_found_loaded_when_asked_for_and_runs(tiny, tmp_path):
    assert "first-device" in entries.installed()
    assert "heft" not in entries.installed()  # the suite's own name
    assert "first-device" not in entries.names()
    assert not any(name.startswith("tiny_placers") for name in sys.modules)
    (entry,) = parse_entry("first-device[device=1]")
    assert not {"tiny_placers.broken"} & set(sys.modules)
    assert (entry.label, entry.file) == ("first-device[device=1]", None)
    assert entry.source.startswith("tiny-placers 0.1 ")
    (record,) = bench.run(harness.instance(), [entry], store=tmp_path, time_limit_s=5)
    assert (record.termination, record.source) == ("completed", entry.source)
    assert entries.load_method("first-device", None, entry.source).summary == (
        "Everything on one device."
    )


def test_another_content_is_another_source(tiny, target):
    (entry,) = parse_entry("first-device")
    path = target / "tiny_placers" / "methods.py"
    before = path.read_text()
    try:
        path.write_text(before + "# changed\n")
        with pytest.raises(EntryError, match=r"^tiny-placers 0\.1: has changed"):
            entries.load_method("first-device", None, entry.source)
    finally:
        path.write_text(before)


def test_the_suites_own_names_stay_its_own(tiny):
    (entry,) = parse_entry("heft")
    assert entry.source == ""
    assert not any(name.startswith("tiny_placers") for name in sys.modules)
    before = entries.load_method("heft")
    assert packages.load("first-device")[0].name == "first-device"
    assert entries.load_method("heft") is before is REGISTRY["heft"]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("broken", "cannot be imported: RuntimeError: no such luck"),
        ("gone", "cannot be imported: AttributeError"),
        ("plain", "tiny_placers.methods:plain is no method: decorate it"),
        ("misnamed", "leads to the method 'another-name': name both alike"),
    ],
)
def test_one_that_cannot_be_used_costs_its_own_rows_only(tiny, tmp_path, name, why):
    seen = []
    records = bench.run(
        harness.instance(), f"{name}[x=1],first-device", store=tmp_path, progress=seen.append
    )
    assert [record.method for record in records] == ["first-device"]
    (skipped,) = [each.reason for each in seen if hasattr(each, "reason")]
    assert skipped.startswith(f"{name} of tiny-placers 0.1: ")
    assert why in skipped


def test_two_packages_with_one_name(tiny, tmp_path, monkeypatch):
    second = tmp_path / "second"
    shutil.copytree(tiny, second)
    info = next(second.glob("*.dist-info"))
    info.rename(second / "other_placers-3.dist-info")
    metadata = second / "other_placers-3.dist-info" / "METADATA"
    metadata.write_text(metadata.read_text().replace("tiny-placers", "other-placers"))
    monkeypatch.syspath_prepend(str(second))
    packages.offers.cache_clear()
    with pytest.raises(EntryError, match=r"tiny-placers 0\.1.* offer an entry 'first-device'"):
        parse_entries("first-device")


def test_a_file_may_import_what_a_package_registers(tiny, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(
        "from tiny_placers.methods import first_device\nfrom solvers.method import method\n"
        "@method(problems=['latency'])\ndef mine(instance, context): return None\n"
    )
    assert [entry.label for entry in parse_entry(str(path))] == ["mine"]
    assert parse_entry("first-device")[0].label == "first-device"


def test_all_has_them_and_default_has_not(tiny):
    assert "first-device" in [entry.label for entry in presets.parse(["all"])]
    assert "first-device" not in [entry.label for entry in presets.parse(["default"])]
    with pytest.raises(EntryError, match="did you mean 'first-device'"):
        parse_entries("first-devise")


def test_list_shows_where_each_comes_from(tiny, capsys):
    from bench.cli import main

    assert main(["list", "entries", "--json"]) == 0
    told = {each["name"]: each for each in json.loads(capsys.readouterr().out)}
    assert told["first-device"]["from"] == "tiny-placers 0.1"
    assert told["heft"]["from"] == "suite"
    assert "cannot be imported" in told["broken"]["unusable"]
    assert main(["list", "entries"]) == 0
    out = capsys.readouterr().out
    assert "broken of tiny-placers 0.1: cannot be imported: RuntimeError: no such luck" in out
    assert "'heft' of tiny-placers 0.1 is the name of one of the suite's methods: not used" in out
