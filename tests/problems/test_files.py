import errno
import gzip
import os

import msgspec
import pytest

from problems import files
from problems.files import FileError, decode, encode, read, write
from problems.formats.reading import load
from problems.platform import LinkFile


class Inner(msgspec.Struct, forbid_unknown_fields=True):
    count: int


class Outer(msgspec.Struct, forbid_unknown_fields=True):
    parts: dict[str, list[Inner]]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"parts": {"x": [{"count": 1}, {"count": "2"}]}}', r"\$\.parts\['x'\]\[1\]\.count"),
        ('{"parts": {"x": [{"number": 1}]}}', "number"),
        ('{"parts": {}, "more": 1}', "more"),
        ("{}", "parts"),
        ("{", "truncated"),
        ("", "truncated"),
        ('{"parts": {}} x', "trailing"),
        (b"\xff\xfe", ""),
        ("[" * 100_000, ""),
    ],
)
def test_errors_name_the_file_and_the_place(text, place):
    with pytest.raises(FileError, match=f"^some.json: .*{place}"):
        decode(text, Outer, "some.json")


def test_missing_and_broken_files(tmp_path):
    with pytest.raises(FileError, match=r"absent\.json: cannot be read: No such file[^\[\]']*$"):
        read(tmp_path / "absent.json", Outer)
    broken = tmp_path / "broken.json.gz"
    broken.write_bytes(gzip.compress(b'{"parts": {}}' * 100)[:-12])
    with pytest.raises(FileError, match=r"broken\.json\.gz: cannot be read"):
        read(broken, Outer)
    broken.write_bytes(b"{}")
    with pytest.raises(FileError, match=r"broken\.json\.gz: cannot be read"):
        read(broken, Outer)
    with pytest.raises(FileError, match="cannot be read"):
        read(tmp_path, Outer)


def test_what_is_no_file_is_told_by_kind(tmp_path):
    lost = tmp_path / "lost.json"
    lost.symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe")
    for name, said in (
        ("lost.json", "is a link to nothing"), ("pipe", "is not a regular file"),
        (".", "is a folder, not a thing"), ("absent", "no file"),
    ):  # fmt: skip
        with pytest.raises(FileError, match=said):
            files.require_file(tmp_path / name, "a thing")


def test_a_file_that_unpacks_to_more_than_memory_holds_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LARGEST", 3 << 20)
    bomb = tmp_path / "bomb.json.gz"
    bomb.write_bytes(gzip.compress(b" " * (2 << 20)) * 50)
    with pytest.raises(FileError, match=r"bomb\.json\.gz: .*more than 3 MiB"):
        read(bomb, Outer)
    with pytest.raises(FileError, match=r"bomb\.json\.gz: .*more than 3 MiB"):
        load(bomb)
    bomb.write_bytes(gzip.compress(b'{"parts"') + gzip.compress(b": {}}"))
    assert read(bomb, Outer) == Outer({})


def test_a_guard_of_a_struct_becomes_a_file_error():
    text = '{"format": "placebench-link/1", "name": "l", "kind": "measured", "provenance": {}}'
    with pytest.raises(FileError, match="a link needs"):
        decode(text, LinkFile, "l.json")


@pytest.mark.parametrize("name", ["x.json", "x.json.gz"])
def test_round_trip_is_the_same_everywhere(tmp_path, name):
    value = Outer({"b": [Inner(1)], "a": []})
    path = tmp_path / "new folder" / name
    write(path, value)
    first = path.read_bytes()
    assert read(path, Outer) == value
    write(path, Outer({"a": [], "b": [Inner(1)]}))
    assert path.read_bytes() == first
    assert os.listdir(path.parent) == [name]


def test_a_full_disk_is_told_with_the_file(tmp_path, monkeypatch):
    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as caught:
        write(tmp_path / "x.json", Outer({}))
    assert caught.value.filename == str(tmp_path / "x.json")
    assert os.listdir(tmp_path) == []


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "x.json"
    write(path, Outer({}))

    def fail(source, target):
        raise OSError("disk on fire")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="on fire"):
        write(path, Outer({"a": []}))
    assert read(path, Outer) == Outer({})
    assert os.listdir(tmp_path) == ["x.json"]


def test_canonical_form():
    assert encode({"b": 1, "a": [0.1, None]}) == b'{"a":[0.1,null],"b":1}'
    for value in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="JSON compliant"):
            encode({"x": value})


def test_a_format_of_another_version_is_told_plainly():
    text = '{"format": "placebench-link/99"}'
    with pytest.raises(FileError, match=r"format placebench-link/99: written by another, probably"):
        decode(text, LinkFile, "x.json")
