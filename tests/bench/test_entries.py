"""Entry syntax, and the errors that name the valid choices."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType
from typing import Literal

import pytest

from bench import entries
from bench.cli.signals import Ending
from bench.entries import EntryError, load_method, parse_entries, parse_entry, split_list
from solvers.method import REGISTRY, Method, options_of


def _heft(instance, context, *, insertion: bool = True):
    """Schedule."""


def _annealing(
    instance, context, *, restarts: int = 1, heat: float = 0.5, move: Literal["one", "two"] = "one"
):
    """Cool down."""


def _prefix(instance, context):
    """Solve."""


@pytest.fixture(autouse=True)
def catalogue(monkeypatch):
    """Three methods in place of the suite's."""
    known = {
        name: Method(name, run, ("latency",), "heuristic", "test", options_of(run))
        for name, run in (
            ("heft", _heft), ("annealing", _annealing), ("prefix@highs", _prefix),
        )
    }  # fmt: skip
    module = ModuleType("a_catalogue")
    module.names = lambda: sorted(known)
    module.load = known.__getitem__
    monkeypatch.setitem(sys.modules, "a_catalogue", module)
    monkeypatch.setattr(entries, "CATALOGUES", ["a_catalogue"])


FILE = """
from solvers.method import method

@method(problems=["latency"])
def mine(instance, context, *, depth: int = 3):
    return None

@method(problems=["latency"], name="mine-two")
def other(instance, context):
    return None
"""


def test_list():
    found = parse_entries("heft, annealing[restarts=4,heat=1],prefix@highs,heft")
    assert [entry.label for entry in found] == [
        "heft", "annealing[heat=1.0,restarts=4]", "prefix@highs",
    ]  # fmt: skip
    assert found[0].options == {"insertion": True}
    assert found[1].options == {"restarts": 4, "heat": 1.0, "move": "one"}
    assert (found[0].file, found[0].source) == (None, "")


def test_labels_are_canonical():
    (entry,) = parse_entry("heft[insertion=1]")
    assert (entry.label, entry.options) == ("heft[insertion=true]", {"insertion": True})
    first, second = parse_entries("annealing[heat=2,move=two],annealing[ move=one , heat=2 ]")
    assert first.label == "annealing[heat=2.0,move=two]"
    assert second.label == "annealing[heat=2.0,move=one]"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hetf", "unknown entry 'hetf'; did you mean 'heft'?; the methods are annealing, heft, "),
        ("zzz", "unknown entry 'zzz'; the methods are annealing, heft, prefix@highs"),
        ("annealing[restart=4]", "unknown option 'restart'; did you mean 'restarts'?; its options"),
        ("prefix@highs[x=1]", "it has no options"),
        ("annealing[restarts=four]", "option restarts='four' is not a whole number"),
        ("annealing[move=three]", "'three' is not one of one, two"),
        ("annealing[heat=nan]", "is not finite"),
        ("annealing[restarts]", "'restarts' is not of the form option=value"),
        ("annealing[restarts=1,restarts=2]", "given twice"),
        ("annealing[restarts=1", "unbalanced brackets"),
        ("annealing]", "unbalanced brackets"),
        ("annealing[[a=1]]", "unbalanced brackets"),
        ("annealing[a=1]b", "not of the form name[option=value,...]"),
        ("", "no entries given; the methods are annealing, heft, prefix@highs"),
        ("nowhere.py", "cannot be read: No such file"),
    ],
)
def test_errors_name_the_place_and_the_choices(text, message):
    with pytest.raises(EntryError) as caught:
        parse_entries(text)
    assert message in str(caught.value)


def test_split_list():
    assert split_list("a[b=1,c=2], d ,,e@f") == ["a[b=1,c=2]", "d", "e@f"]


def test_file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(FILE)
    before = dict(REGISTRY)
    mine, two = parse_entry(str(path))
    assert (mine.method, mine.label, mine.options) == ("mine", "mine", {"depth": 3})
    assert two.label == "mine-two"
    assert mine.file == str(path)
    assert mine.source == hashlib.sha256(FILE.encode()).hexdigest()
    assert before == REGISTRY
    assert load_method("mine", mine.file, mine.source).summary == ""
    with pytest.raises(EntryError, match="registers no method 'yours'; it has mine, mine-two"):
        load_method("yours", mine.file)
    path.write_text(FILE + "\n")
    with pytest.raises(EntryError, match="has changed"):
        load_method("mine", mine.file, mine.source)
    assert parse_entry(str(path))[0].source != mine.source


def test_options_go_to_every_method_of_a_file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(FILE)
    with pytest.raises(EntryError, match="'mine-two': unknown option 'depth'"):
        parse_entry(f"{path}[depth=4]")


def test_one_method_of_a_file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(FILE)
    (entry,) = parse_entry(f"{path}:mine[depth=4]")
    assert (entry.label, entry.file) == ("mine[depth=4]", str(path))
    assert [e.label for e in parse_entries(f"{path}:mine-two,{path}:mine")] == ["mine-two", "mine"]
    with pytest.raises(EntryError, match=r"registers no method 'mind'; it has mine, .*mean 'mine'"):
        parse_entry(f"{path}:mind")
    with pytest.raises(EntryError, match=r"to choose one method of a file: mine\.py:mine-two\["):
        parse_entry(f"{path}[depth=4]")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("def heft(:", "SyntaxError"),
        ("import no_such_module", "No module named 'no_such_module'"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("class Odd(BaseException): pass\nraise Odd", "Odd"),
        ("x = 1", "registers no method"),
        (FILE.replace("mine-two", "heft"), "'heft' is the name of one of the suite's methods"),
        (FILE.replace("depth: int = 3", "depth"), "option 'depth' needs a default"),
    ],
)
def test_files_that_cannot_be_used(tmp_path, content, message):
    path = tmp_path / "mine.py"
    path.write_text(content)
    load_method("heft")  # what was loaded before must change nothing
    before = dict(REGISTRY)
    with pytest.raises(EntryError) as caught:
        parse_entry(str(path))
    assert message in str(caught.value)
    assert str(path) in str(caught.value)
    assert before == REGISTRY


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("import os; os._exit(0)", "mine.py: cannot be loaded: SystemExit: os._exit(0)"),
        ("import os\nif os.fork() == 0: os._exit(0)\nos.wait()", "mine.py: registers no method"),
        ("import os\nif os.fork() != 0: os.wait()", "mine.py: registers no method"),
    ],
    ids=["exits", "forks", "is two"],
)
def test_a_file_cannot_end_or_double_the_harness_without_a_word(tmp_path, content, said):
    path = tmp_path / "mine.py"
    path.write_text(content)
    code = (
        "import os, sys; from bench.entries import EntryError, parse_entry; leave = os._exit\n"
        "try: parse_entry(sys.argv[1])\n"
        "except EntryError as error: print(error)\n"
        "assert os._exit is leave"
    )
    command = [sys.executable, "-c", code, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(said) == 1
    assert done.stdout.count("\n") == 1


@pytest.mark.parametrize("kind", ["pipe", "device", "circle"])
def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path, kind):
    path = tmp_path / "mine.py"
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero" if kind == "device" else path)
    says = "loop|symbolic links" if kind == "circle" else "not a regular"
    with pytest.raises(EntryError, match=says):
        parse_entry(str(path))


def test_an_interrupt_is_the_users_unless_the_file_raises_it(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("raise KeyboardInterrupt")
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with pytest.raises(KeyboardInterrupt):  # the plain handler's comes from anywhere
        parse_entry(str(path))
    with Ending(), pytest.raises(EntryError, match="cannot be loaded: KeyboardInterrupt"):
        parse_entry(str(path))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with Ending(), pytest.raises(EntryError, match="cannot be loaded: KeyboardInterrupt"):
        parse_entry(str(path))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    path.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    with Ending() as ending, pytest.raises(KeyboardInterrupt):
        parse_entry(str(path))
    assert ending.received == signal.SIGINT


@pytest.mark.parametrize("end", ["", "raise ValueError"])
def test_a_file_leaves_the_harness_in_its_folder(tmp_path, monkeypatch, end):
    monkeypatch.chdir(tmp_path)  # relative paths of stores and files are from here
    (tmp_path / "mine.py").write_text(f"import os; os.chdir('/')\n{FILE}\n{end}")
    with nullcontext() if not end else pytest.raises(EntryError):
        parse_entry("mine.py")
    assert Path.cwd() == tmp_path


def test_two_files_with_one_name_are_refused(tmp_path):
    first, second = tmp_path / "a.py", tmp_path / "b.py"
    first.write_text(FILE)
    second.write_text(FILE + "# another\n")
    with pytest.raises(EntryError, match=r"a\.py and .*b\.py both register 'mine'"):
        parse_entries(f"{first},{second}")
    assert len(parse_entries(f"{first},{first}")) == 2


def test_what_a_file_raises_is_told_plainly(tmp_path):
    path = tmp_path / "rude.py"
    path.write_text("raise OSError('a\\x1b[2J\\nb')")
    with pytest.raises(EntryError) as told:
        parse_entry(str(path))
    assert str(told.value) == f"{path}: cannot be loaded: OSError: a b"


def test_a_file_may_have_any_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a [x]=1,2.py", "b,c.py"):
        (tmp_path / name).write_text(FILE)
        assert split_list(name) == [name]
        assert [entry.label for entry in parse_entry(name)] == ["mine", "mine-two"]
