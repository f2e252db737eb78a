"""``submit``, ``submit-check`` and the leaderboard of submissions, as users meet them."""

from __future__ import annotations

import errno
import json
import os
import shutil

import msgspec
import pytest

from bench import bks, publish
from bench.leaderboard import gather
from bench.records import Store
from bench.submissions import folder as folders
from bench.submissions import layout, tracks
from bench.submissions.checking import Shared
from bench.submissions.folder import Folder
from problems import files
from problems.answer import to_file
from problems.single import best_single
from tests.bench.submissions.conftest import SAYS, change, fill, results

OPEN = ("--division", "open")


def submit(cli, name, store, *more, entry="single"):
    return cli("submit", name, "-m", entry, "--time", "10s", "--store", store, *SAYS, *more)


def rank(cli, *more):
    return cli("leaderboard", "--submissions", folders.root(), "-o", "page", *more)


def test_from_records_to_a_rank(cli, good, tmp_path):
    code, out, err = cli("submit-check", "mine")
    assert (code, err) == (0, "")
    assert "1 submissions, 23 checks: 0 errors, 0 warnings" in out
    code, out, _ = rank(cli)
    assert code == 0
    assert "single" in out
    text = (tmp_path / "page" / "leaderboard.md").read_text()
    assert "| 1 | `single` |" in text
    assert "before and after the batches" in text  # the machine is that of the folder


def test_check_all_and_json_and_exit_codes(cli, good):
    change(good, authors=[" "])
    code, out, _ = cli("submit-check", "all", "--json")
    assert code == 1
    found = {each["check"]: each for each in json.loads(out)}
    assert found["fields"]["errors"] == ["author ' ' is empty"]
    code, out, _ = cli("submit-check", good)
    assert code == 1
    assert "author ' ' is empty" in out
    code, _, err = cli("submit-check", "nobody")
    assert code == 2
    assert "the repository's submissions are mine" in err


def test_several_are_a_line_each(cli, good, filled):
    submit(cli, "again", filled.root, *OPEN, "-i", "default")
    code, out, _ = cli("submit-check", "all")
    assert code == 0
    assert "2 submissions, 46 checks" in out
    assert len([line for line in out.splitlines() if line.startswith(("mine ", "again "))]) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["submit", "../x"], "is no name"),
        (["submit", "x"], "-m ENTRY"),
        (["submit", "x", "-m", "single"], "--author"),
        (["submit", "x", "-m", "single", "--author", "me"], "--description"),
        (["submit", "x", "-m", "single", *SAYS], "the --time of a track: 10s"),
        (["submit", "x", "-m", "single,heft", *SAYS, "--time", "10s"], "is 2 entries"),
        (["submit", "x", "-m", "heft", *SAYS, "--time", "10s"], "no runs of heft under 10 s"),
        (["submit", "x", "-m", "single", *SAYS, "--time", "1h", "-i", "default"], "under 3600 s"),
        (["submit", "x", "-m", "single", *SAYS, "--division", "half"], "closed, open"),
        (["submit", "x", "-m", "single", *SAYS, *OPEN], "-i SELECTION"),
        (["submit", "x", "-m", "single", *SAYS, "--time", "10s", "--refer"], "--refer"),
        (["submit", "x", "--withdraw"], "--why"),
        (["submit", "x", "--withdraw", "--why", "no"], "no submission 'x'"),
        (["submit", "x", "-m", "single", *SAYS, "--supersedes", "y", "--why", "z"], "'y'"),
        (["submit", "x", "-m", "single", *SAYS, "--time", "10s", "--link", ""], "empty"),
        (["submit-check"], "Missing argument"),
        (["leaderboard", "--submissions", "nowhere"], "no submissions there"),
        (["leaderboard", "--submissions", "x", "--publish", "y"], "one or the other"),
    ],
)
def test_usage_errors_are_one_line_and_write_nothing(cli, filled, tmp_path, arguments, message):
    more = ["--store", filled.root] if arguments[0] == "submit" else []
    code, _, err = cli(*arguments, *more)
    assert code == 2, err
    assert message in err
    assert not folders.root().exists()


def test_incomplete_records_are_refused_unless_it_is_said_why(cli, library, filled, tmp_path):
    store = Store(tmp_path / "less")
    fill(store, library)
    first = min(store.records(), key=lambda record: record.instance)
    for record in list(store.records()):
        if record.digest == first.digest:
            store._record_path(record.key).unlink()
    code, _, err = submit(cli, "less", store.root)
    assert code == 2
    assert f"not run: {first.instance}" in err
    code, out, _ = submit(cli, "less", store.root, "--incomplete", "the machine was taken away")
    assert code == 0, out
    assert "1 instances missing: the machine was taken away" in out
    assert "single: incomplete: the machine" in " ".join(rank(cli)[1].split())


def test_a_missing_seed_is_incomplete_too(cli, library, tmp_path):
    store = Store(tmp_path / "less")
    fill(store, library)
    record = max(store.records(), key=lambda record: (record.instance, record.seed))
    store._record_path(record.key).unlink()
    code, _, err = submit(cli, "less", store.root)
    assert code == 2
    assert f"{record.instance}, seed 1" in err


def test_failed_runs_are_rows(cli, library, tmp_path):
    store = Store(tmp_path / "failing")
    fill(store, library, "greedy", check="none", termination="crash", signal="SIGSEGV",
         objective=None, answer="", trace=[])  # fmt: skip
    code, out, _ = submit(cli, "crashing", store.root, entry="greedy")
    assert code == 0, out
    assert "12 records" in out
    code, out, _ = rank(cli)
    assert code == 0
    assert "0/12" in out or "0/3" in out


def test_what_a_method_refuses_is_not_missing(cli, library, tmp_path):
    store = Store(tmp_path / "refusing")
    fill(store, library, "single")
    from bench.entries import parse_entry

    (heft,) = parse_entry("heft")
    for record in list(store.records()):
        changed = msgspec.structs.replace(
            record, entry="heft", method="heft", options=dict(heft.options), key=""
        )
        key = {name: getattr(changed, name) for name in (
            "digest", "method", "options", "source", "seed", "time_limit_s", "memory_limit_bytes",
            "threads", "suite")}  # fmt: skip
        from bench.records import key_of

        store._record_path(record.key).unlink()
        if record.problem == "latency":
            store.put(msgspec.structs.replace(changed, key=key_of(**key)))
    code, out, err = submit(cli, "heft", store.root, entry="heft")
    assert code == 0, out + err
    said = Folder(folders.root() / "heft").submission
    assert list(said.refused) == ["heft is for latency, not throughput"]
    # A method of the suite is asked whether it does refuse.
    instance = said.refused["heft is for latency, not throughput"][0]
    other = next(each.id for each in library.entries() if each.problem == "latency")
    change(folders.root() / "heft", refused={"no": [instance, other]})
    errors = results(folders.root() / "heft")["coverage"].errors
    assert any("heft takes it" in each for each in errors)


def test_an_existing_submission_is_written_over_only_when_asked(cli, good, filled):
    code, _, err = submit(cli, "mine", filled.root)
    assert code == 2
    assert "--replace" in err
    assert submit(cli, "mine", filled.root, "--replace")[0] == 0
    (good / layout.SUBMISSION).unlink()  # then it is anybody's folder
    assert submit(cli, "mine", filled.root, "--replace")[0] == 2


def content(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("what", ["answers/*/*", "environments/*", "lost"])
def test_one_that_is_refused_changes_nothing(cli, good, filled, tmp_path, what):
    before = content(good)
    damaged = tmp_path / "damaged"
    shutil.copytree(filled.root, damaged)
    if what == "lost":
        shutil.rmtree(damaged / "environments")
        says = f"placebench: {damaged}: the machine "
    else:
        path = sorted(damaged.glob(what))[0]
        path.write_bytes(b"{}")
        says = f"placebench: {path}: "
    for more in ((), ("--replace",)):
        name = "mine" if more else "new"
        for _ in range(2):  # and is no obstacle to its own repetition
            code, _, err = submit(cli, name, damaged, *more)
            assert code == 2
            assert err.splitlines()[-1].startswith(says)
    assert content(good) == before
    assert [each.name for each in good.parent.iterdir()] == ["mine"]
    assert submit(cli, "new", damaged, "-o", tmp_path / "a" / "b")[0] == 2
    assert not (tmp_path / "a").exists()


def test_an_exchange_that_is_cut_off_loses_nothing(cli, good, filled, monkeypatch):
    before, rename = content(good), os.rename

    def second_fails(source, target):
        if str(source).endswith(".new"):
            raise OSError(errno.EIO, "Input/output error", str(source))
        rename(source, target)

    with monkeypatch.context() as patched:
        patched.setattr(os, "rename", second_fails)
        assert submit(cli, "mine", filled.root, "--replace")[0] == 1
    assert content(good) == before
    # So a kill amidst would leave it; the next command finds it, whatever it is for.
    for arguments, expected in [
        (("mine", "-m", "nothing"), 2),
        (("other", *OPEN, "-i", "default", "-m", "single", "--store", filled.root, *SAYS), 0),
        (("--withdraw", "mine", "--why", "it was wrong"), 0),
    ]:
        rename(good, good.with_name(".mine.old"))
        good.with_name(".mine.new").write_text("")
        assert cli("submit", *arguments)[0] == expected
        assert content(good).keys() == before.keys()


def test_what_people_put_beside_a_submission_stays(cli, good, filled):
    (good / "README.md").write_text("How it works.")
    assert submit(cli, "mine", filled.root, "--replace")[0] == 0
    assert (good / "README.md").read_text() == "How it works."


def test_links_and_files_in_place_of_folders_are_refused(cli, good, filled, tmp_path):
    link = good.with_name("link")
    for target in (good, tmp_path / "nowhere"):
        link.unlink(missing_ok=True)
        link.symlink_to(target)
        code, _, err = submit(cli, "link", filled.root, "--replace")
        assert (code, "is a link" in err) == (2, True)
    (tmp_path / "file").write_text("")
    code, _, err = submit(cli, "new", filled.root, "-o", tmp_path / "file")
    assert (code, err) == (2, f"placebench: {tmp_path / 'file'}: is not a folder\n")


def test_a_damaged_record_is_told(cli, filled, tmp_path):
    damaged = tmp_path / "damaged"
    shutil.copytree(filled.root, damaged)
    path = sorted(damaged.glob("records/*/*"))[0]
    path.write_text("")
    code, _, err = submit(cli, "new", damaged)
    assert code == 2
    assert f"set aside: {path}: " in err


def test_what_a_killed_one_has_left_is_no_submission_and_goes(cli, good, filled):
    left = good.with_name(".mine.new")
    shutil.copytree(good, left)
    assert "1 submissions" in cli("submit-check", "all")[1]
    assert submit(cli, "mine", filled.root, "--replace")[0] == 0
    assert [each.name for each in good.parent.iterdir()] == ["mine"]


def test_withdrawn_ones_are_kept_and_listed_apart(cli, good, filled):
    submit(cli, "other", filled.root, *OPEN, "-i", "default")
    code, out, _ = cli("submit", "--withdraw", "mine", "--why", "it was wrong")
    assert code == 0
    assert "withdrawn" in out
    assert results(good)["status"].state == "ok"
    assert (good / layout.RECORDS).exists()
    code, out, _ = rank(cli, "--json")
    assert code == 0
    assert [each["table"] for each in json.loads(out)] == ["open", "open"]
    code, _, err = cli("submit", "--withdraw", "mine", "--why", "again")
    assert code == 2
    assert "withdrawn already" in err


def test_a_superseded_one_is_named_beside_the_table(cli, good, filled):
    code, out, _ = submit(cli, "newer", filled.root, "--supersedes", "mine", "--why", "faster")
    assert code == 0, out
    said = Folder(good).submission
    assert (said.status, said.superseded_by, said.why) == ("superseded", "newer", "faster")
    notes = json.loads(rank(cli, "--json")[1])[0]["notes"]
    assert any("Not ranked: mine, superseded by newer on" in each for each in notes)


def test_one_that_fails_a_check_is_not_ranked(cli, good, filled):
    submit(cli, "other", filled.root, *OPEN, "-i", "default")
    change(good, threads=2)
    code, out, err = rank(cli, "--json")
    assert code == 1
    assert "set aside: mine: check division" in err
    assert {each["table"] for each in json.loads(out)} == {"open"}


def claims_file(tmp_path, library, seconds=12.5):
    lines = []
    for each in library.entries():
        instance = library.load(each.id)
        file = to_file(best_single(instance)[0], instance.digest)
        name = f"{instance.digest[:8]}.json"
        files.write(tmp_path / "found" / name, file)
        lines.append(json.dumps({"answer": name, "time_s": seconds}))
    path = tmp_path / "found" / "claims.jsonl"
    path.write_text("\n".join(lines))
    return path


def test_answers_from_elsewhere_join_the_open_division(cli, library, good, tmp_path):
    path = claims_file(tmp_path, library)
    where = ("--machine", "a cluster", "-i", "default", "--claims", path)
    code, _, err = submit(cli, "theirs", "none", *where, entry="theirs")
    assert code == 1  # in the closed division
    (tmp_path / "results" / "submissions" / "theirs" / layout.SUBMISSION).exists()
    code, out, err = submit(cli, "theirs", "none", *OPEN, *where, "--replace", entry="theirs")
    assert code == 0, out + err
    tables = json.loads(rank(cli, "--json")[1])
    (mine, theirs) = [each for each in tables if each["section"] == "latency"]
    assert (mine["table"], theirs["table"]) == ("10s", "open")
    assert mine["standings"][0]["gap_best"] == theirs["standings"][0]["gap_best"]
    assert theirs["standings"][0]["time_s"] == 12.5
    assert any("times are as claimed, on a cluster" in each for each in theirs["notes"])
    text = (tmp_path / "page" / "open" / "leaderboard.md").read_text()
    assert "each under limits of its own" in text


def test_a_claim_without_its_answer_or_instance_is_an_error(cli, library, tmp_path):
    path = claims_file(tmp_path, library)
    where = (*OPEN, "--machine", "a cluster", "-i", "default", "--claims", path)
    path.write_text('{"answer": "missing.json", "time_s": 1}')
    assert "missing.json" in submit(cli, "x", "none", *where, entry="x")[2]
    path.write_text('{"answer": "missing.json"}')
    assert "claims.jsonl:1" in submit(cli, "x", "none", *where, entry="x")[2]
    assert not folders.root().exists()


def test_unlike_limits_stand_in_one_open_table(cli, library, filled, tmp_path):
    """In a table of the closed division only one limit would be shown."""
    longer = Store(tmp_path / "longer")
    fill(longer, library, "greedy", limit=20.0)
    submit(cli, "a", filled.root, *OPEN, "-i", "default")
    code, out, err = cli("submit", "b", "-m", "greedy", "--store", longer.root, *SAYS, *OPEN,
                         "-i", "default")  # fmt: skip
    assert code == 0, out + err
    (table, _) = json.loads(rank(cli, "--json")[1])
    assert {each["entry"] for each in table["standings"]} == {"single", "greedy"}
    assert not any("other conditions" in each for each in table["notes"])


@pytest.fixture
def own(monkeypatch):
    """A track of the suite's own, on the small library."""
    track = tracks.Track("10s", ("default",), 10.0, "baseline", repeated=("single",))
    monkeypatch.setattr(tracks, "TRACKS", (track,))
    monkeypatch.setattr(publish, "TRACKS", (track,))
    monkeypatch.setattr(publish, "SEEDS", 2)
    return track


def test_our_own_refer_to_published_records(cli, library, filled, own):
    source = gather.from_store(filled.root)
    gather.publish(source, "baseline", bks.RESULTS)
    assert publish.main(["--submit"]) == 0
    folder = folders.root() / "single-10s"
    assert [path.name for path in folder.iterdir()] == [layout.SUBMISSION]
    assert {each.state for each in results(folder).values()} == {"ok"}
    change(folder, description="Mine.", date="2026-01-01")
    assert publish.main(["--submit"]) == 0
    assert Folder(folder).submission.description == "Mine."
    # Published anew, they are other records: that is said, and one command brings it in line.
    records = [msgspec.structs.replace(each, wall_s=0.25) for each in source.records]
    gather.publish(gather.Source(source.store, records, "x"), "baseline", bks.RESULTS)
    assert "bench.publish" in results(folder)["lines"].errors[0]
    assert publish.main(["--submit"]) == 0
    assert {each.state for each in results(folder).values()} == {"ok"}
    assert Folder(folder).submission.date == "2026-01-01"


def test_what_is_missing_is_found_run_and_merged(cli, library, filled, own, capfd):
    source = gather.from_store(filled.root)
    kept = [each for each in source.records if each.seed == 0]
    gather.publish(gather.Source(source.store, kept, "x"), "baseline", bks.RESULTS)
    shared = Shared()
    (lacking,) = publish.missing(own, shared)
    assert (lacking.seed, len(lacking.instances)) == (1, 6)
    assert publish.main(["--plan"]) == 1
    assert "6 missing" in capfd.readouterr().out
    assert publish.main(["--jobs", "2"]) == 0
    assert publish.missing(own, shared) == []
    assert len(publish.on_file(own)) == 12
    assert all(each in publish.on_file(own) for each in map(gather.brief, kept))
    states = {name: each.state for name, each in results(folders.root() / "single-10s").items()}
    assert {each for name, each in states.items() if name != "calibration"} <= {"ok", "warning"}
