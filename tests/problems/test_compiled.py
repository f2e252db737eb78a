"""Compiled code on disk belongs to the sources it was compiled from."""

import os
import subprocess
import sys

import pytest

from problems import compiled


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.delenv(compiled.VARIABLE)
    for package in compiled.PACKAGES:
        (tmp_path / package).mkdir()
    (tmp_path / "solvers" / "walk.py").write_text("@njit\ndef walk(): ...\n")
    return tmp_path


def test_another_source_is_another_folder(root):
    before = compiled.digest(root)
    (root / "heuristics" / "words.py").write_text("nothing compiled here\n")
    assert compiled.digest(root) == before
    (root / "heuristics" / "helper.py").write_text("@njit\ndef helper(): ...\n")
    assert compiled.digest(root) != before


def test_a_few_folders_stay(root):
    for i in range(compiled.KEPT + 2):
        (root / "solvers" / "walk.py").write_text(f"@njit\ndef walk(): return {i}\n")
        os.environ.pop(compiled.VARIABLE, None)
        compiled.keep_apart(root)
        folder = root / ".compiled" / compiled.digest(root)[:16]
        assert os.environ[compiled.VARIABLE] == str(folder)
        os.utime(folder, (i, i))
    assert len(list((root / ".compiled").iterdir())) == compiled.KEPT
    assert folder.is_dir()


def test_where_the_checkout_takes_nothing_it_is_a_folder_of_the_users_own(
    root, tmp_path, monkeypatch
):
    (root / ".compiled").write_text("no folder")  # root can write to what is read-only
    monkeypatch.setattr(compiled.tempfile, "gettempdir", lambda: str(tmp_path / "own"))
    (tmp_path / "own").mkdir()
    compiled.keep_apart(root)
    folder = tmp_path / "own" / f"placebench-{os.getuid()}" / compiled.digest(root)[:16]
    assert os.environ.pop(compiled.VARIABLE) == str(folder)
    assert folder.parent.stat().st_mode & 0o777 == 0o700
    folder.parent.chmod(0o777)  # others could have put code there
    compiled.keep_apart(root)
    assert compiled.VARIABLE not in os.environ


def test_what_the_user_names_stands(root, monkeypatch):
    monkeypatch.setenv(compiled.VARIABLE, "/somewhere")
    compiled.keep_apart(root)
    assert os.environ[compiled.VARIABLE] == "/somewhere"
    assert not (root / ".compiled").exists()


def test_every_process_is_told_before_numba_is_imported():
    name = compiled.VARIABLE
    code = f"import os, problems, sys; print(os.environ['{name}'], 'numba' in sys.modules)"
    environment = {k: v for k, v in os.environ.items() if k != compiled.VARIABLE}
    told = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    ).stdout.split()
    assert told == [str(compiled.ROOT / ".compiled" / compiled.digest()[:16]), "False"]


COMPILES = """
import sys, time
from pathlib import Path
import numba
from problems import compiled
from slow import outer

if sys.argv[2] == "turns":
    compiled.take_turns()
here = Path(sys.argv[1])
(here / f"ready-{sys.argv[3]}").touch()
while len(list(here.glob("ready-*"))) < 2:
    time.sleep(0.001)
outer(1)
print(sum(outer.stats.cache_misses.values()))
"""
# Something that takes numba a while.
SLOW = (
    "import numba\n\n@numba.njit(cache=True)\ndef inner(x):\n"
    + "".join(f"    x = x * {i} + (x // {i + 1}) if x % {i + 2} else x + {i}\n" for i in range(60))
    + "    return x\n\n@numba.njit(cache=True)\ndef outer(x):\n    return inner(x) + inner(x + 1)\n"
)


@pytest.mark.parametrize(("turns", "misses"), [("turns", [0, 1]), ("none", [1, 1])])
def test_two_processes_compile_a_function_once(tmp_path, turns, misses):
    (tmp_path / "slow.py").write_text(SLOW)
    paths = os.pathsep.join([str(compiled.ROOT), str(tmp_path)])
    environment = {**os.environ, compiled.VARIABLE: str(tmp_path / "cache"), "PYTHONPATH": paths}
    command = [sys.executable, "-c", COMPILES, str(tmp_path), turns]
    both = [
        subprocess.Popen([*command, str(i)], env=environment, stdout=subprocess.PIPE, text=True)
        for i in range(2)
    ]
    assert sorted(int(each.communicate(timeout=120)[0]) for each in both) == misses
    assert [each.returncode for each in both] == [0, 0]
