"""The campaign's plan, deadline and folder; nothing is measured here."""

from __future__ import annotations

import errno
import gzip
import json
import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bench.cli.capture import app
from problems.capture.campaign import folder as folders
from problems.capture.campaign import load
from problems.capture.campaign.__main__ import main
from problems.capture.campaign.adopt import adopt
from problems.capture.campaign.children import Ending
from problems.capture.campaign.folder import Folder, FolderError
from problems.capture.campaign.plan import sorted_shares, steps, thread_counts
from problems.capture.campaign.run import campaign, summary
from problems.capture.campaign.signatures import Work, dump, read, work
from tests.problems.capture.fake_cuda import SIGNATURES, SURVEY, Clock, Scripted

WORKS = {key: work(each) for key, each in SIGNATURES.items()}


def run(
    out: Path, deadline_s: float = 480.0, late: float = 1.0, survey: dict[str, Any] = SURVEY
) -> tuple[dict[str, Any], Scripted]:
    clock = Clock()
    launch = Scripted(clock, survey, late)
    state = campaign(out, WORKS, deadline_s, launch=launch, clock=clock, cores=16)
    return state, launch


def contents(out: Path) -> dict[str, Any]:
    return {
        path.name: json.loads(
            gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        )
        for path in out.iterdir()
    }


def test_everything_in_order_of_importance(tmp_path: Path) -> None:
    state, launch = run(tmp_path)
    names = [step["name"] for step in state["steps"]]
    assert names == [
        "cuda:fp32", "pinned", "pageable", "cuda:tf32", "cuda:bf16",
        "cuda:32sm:fp32", "cuda:64sm:fp32", "cuda:16sm:fp32",
        "cpu:1", "cpu:16", "cpu:4", "shm", "tcp-loopback",
    ]  # fmt: skip
    assert {step["state"] for step in state["steps"]} == {"done"}
    assert launch.clock.now <= 480
    begun = [job.get("spec") or job.get("link") for _, job, _ in launch.jobs[1:]]
    assert list(dict.fromkeys(filter(None, begun))) == [n for n in names if "cpu" not in n]
    files = contents(tmp_path)
    assert len(files) == 5
    data = files["cuda.json.gz"]["steps"]["cuda:fp32"]
    assert data["times"]["add"] == [1e-5, 1e-5, 1e-5, 1]
    assert data["dispatch"]["add"] == [2e-5, 2e-5]
    assert len(summary(state)) == len(names) + 1


@pytest.mark.parametrize("late", [0.5, 1.0, 1.4, 50.0])
@pytest.mark.parametrize("deadline_s", [20.0, 60.0, 480.0])
def test_the_deadline_holds_whatever_programs_do(
    tmp_path: Path, deadline_s: float, late: float
) -> None:
    state, launch = run(tmp_path, deadline_s, late)
    assert launch.clock.now <= deadline_s
    assert state["seconds"] <= deadline_s
    states = [step["state"] for step in state["steps"]]
    assert not {"waiting", "running"} & set(states)
    assert states[0] in ("done", "partial")  # the most important one is never without time
    if deadline_s == 20.0:
        assert "skipped" in states


def test_without_a_card_its_steps_say_why(tmp_path: Path) -> None:
    state, _ = run(tmp_path, survey={"torch": "2.13.0+cpu", "green_contexts": False, "cards": []})
    skipped = {step["name"]: step["why"] for step in state["steps"] if step["state"] == "skipped"}
    assert set(skipped) == {
        "cuda:fp32", "pinned", "pageable", "cuda:tf32", "cuda:bf16", "cuda:shares",
    }  # fmt: skip
    assert set(skipped.values()) == {"torch sees no CUDA card"}


def test_old_torch_and_old_cards_skip_what_they_have_not() -> None:
    old = SURVEY | {"torch": "2.9.0", "green_contexts": False}
    why = {step.name: step.skip for step in steps(old, 1)}
    assert why["cuda:32sm:fp32"] == "torch 2.9.0 has no green contexts (2.10 or later on CUDA has)"
    assert why["shm"] == "a link needs two cores, one for each end"
    card = SURVEY["cards"][0] | {"bf16": False, "name": "Tesla T4", "multiprocessors": 4}
    why = {step.name: step.skip for step in steps(SURVEY | {"cards": [card]}, 2)}
    assert why["cuda:bf16"] == why["cuda:tf32"] == "Tesla T4 has no such units"
    assert why["cuda:shares"] == "4 multiprocessors are too few to share"
    assert why["cuda:fp32"] == ""


def test_several_cards_add_their_links_and_unlike_ones_their_times() -> None:
    cards = [SURVEY["cards"][0]] * 2 + [SURVEY["cards"][0] | {"name": "NVIDIA L40S"}]
    names = [step.name for step in steps(SURVEY | {"cards": cards}, 4)]
    assert names[-4:] == ["peer:1", "peer:2", "cuda:gpu2:fp32", "pinned:2"]
    assert len(set(names)) == len(names)


def test_shares_and_threads() -> None:
    assert sorted_shares(132) == [32, 64, 16]
    assert sorted_shares(20) == [8]
    assert sorted_shares(0) == []
    assert [thread_counts(n) for n in (1, 2, 4, 8, 64)] == [
        [1],
        [1, 2],
        [1, 4],
        [1, 8, 4],
        [1, 16, 4],
    ]


def test_only_some_steps_and_unknown_ones(tmp_path: Path) -> None:
    clock = Clock()
    launch = Scripted(clock, SURVEY)
    state = campaign(tmp_path / "a", WORKS, 60, only=["shm"], launch=launch, clock=clock, cores=2)
    assert [step["name"] for step in state["steps"]] == ["shm"]
    with pytest.raises(ValueError, match="no step 'x' here; the steps are cuda:fp32, pinned"):
        campaign(tmp_path / "b", WORKS, 60, only=["x"], launch=launch, clock=clock, cores=2)
    with pytest.raises(ValueError, match="3 seconds or more"):
        campaign(tmp_path / "c", WORKS, 1, launch=launch, clock=clock)


def test_a_survey_that_fails_leaves_the_processor(tmp_path: Path) -> None:
    clock = Clock()

    class Broken(Scripted):
        def __call__(self, module: str, *rest: Any) -> Any:
            ending = super().__call__(module, *rest)
            if module.endswith("survey"):
                return Ending(1, errors="Traceback\nRuntimeError: no driver\n")
            return ending

    launch = Broken(clock, {})
    state = campaign(tmp_path, WORKS, 120, launch=launch, clock=clock, cores=2)
    by = {step["name"]: step for step in state["steps"]}
    assert "RuntimeError: no driver" in by["cuda:fp32"]["why"]
    assert by["cpu:1"]["state"] == "done"


def test_signatures_that_end_the_context_are_left_out_and_the_rest_is_measured(
    tmp_path: Path,
) -> None:
    clock = Clock()

    class Poisoned(Scripted):
        def __call__(self, module: str, job: Any, threads: Any, seconds: Any, hear: Any) -> Any:
            if "signatures" in job and "wrong" in job["signatures"]:
                hear({"begin": "add"})
                hear({"poisoned": "wrong", "why": "assertion"})
                clock.now += 1
                return Ending(0)
            if "signatures" in job and "zeros" in job["signatures"]:
                hear({"begin": "zeros"})
                clock.now += 1
                return Ending(-11)
            return super().__call__(module, job, threads, seconds, hear)

    launch = Poisoned(clock, SURVEY)
    state = campaign(tmp_path, WORKS, 120, only=["cuda:fp32"], launch=launch, clock=clock, cores=2)
    assert state["steps"][0]["state"] == "done"
    data = contents(tmp_path)["cuda.json.gz"]["steps"]["cuda:fp32"]
    assert set(data["times"]) == {"add", "product"}
    assert data["failed"] == {
        "wrong": "ends the context: assertion",
        "zeros": "ends the process: ended with code -11",
    }


def test_the_processor_takes_cheap_signatures_first_and_stops_in_time(tmp_path: Path) -> None:
    heavy = {f"h{i}": work(SIGNATURES["product"] | {"flops": 3e11 * (i + 1)}) for i in range(20)}
    clock = Clock()
    launch = Scripted(clock, {"cards": []})
    state = campaign(tmp_path, heavy, 300, only=["cpu:1"], launch=launch, clock=clock, cores=1)
    (step,) = state["steps"]
    assert step["state"] == "partial"
    assert 2 <= step["reached"] < 20
    assert clock.now <= 300
    data = contents(tmp_path)["cpu.json.gz"]["steps"]["cpu:1"]
    assert set(data["times"]) == {f"h{i}" for i in range(step["reached"])}


@pytest.mark.parametrize("deadline_s", [60, 480])
def test_a_signature_too_large_or_deadly_on_the_processor_does_not_lose_the_others(
    tmp_path: Path, deadline_s: float
) -> None:
    clock = Clock()

    class Deadly(Scripted):
        def __call__(self, module: str, job: Any, *rest: Any) -> Any:
            if "h3" in job.get("signatures", {}):
                clock.now += 1
                return Ending(-11)
            return super().__call__(module, job, *rest)

    works = {f"h{i}": work(SIGNATURES["product"]) for i in range(7)}
    works["h1"] = replace(works["h1"], held=2**60)
    launch = Deadly(clock, {"cards": []})
    state = campaign(
        tmp_path, works, deadline_s, only=["cpu:1"], launch=launch, clock=clock, cores=1
    )
    assert {k: state["steps"][0][k] for k in ("state", "reached")} == {
        "state": "done",
        "reached": 5,
    }
    data = contents(tmp_path)["cpu.json.gz"]["steps"]["cpu:1"]
    assert "more than 25% of the machine's memory" in data["failed"]["h1"]
    assert data["failed"]["h3"] == "ends the process: ended with code -11"


def test_a_processor_step_that_never_works_is_given_up(tmp_path: Path) -> None:
    clock, begun = Clock(), []

    class Broken(Scripted):
        def __call__(self, module: str, job: Any, *rest: Any) -> Any:
            if module.endswith("replay"):
                begun.append(len(job["signatures"]))
                return Ending(1, errors="ImportError: no such library")
            return super().__call__(module, job, *rest)

    works = {f"h{i}": work(SIGNATURES["product"]) for i in range(2**16)}
    launch = Broken(clock, {"cards": []})
    state = campaign(tmp_path, works, 9999, only=["cpu:1"], launch=launch, clock=clock, cores=1)
    assert len(begun) <= 20
    assert state["steps"][0]["state"] == "failed"
    assert "no such library" in state["steps"][0]["why"]


def test_a_busy_machine_is_measured_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load, "SHORT_S", 0.0)
    monkeypatch.setattr(load, "busy_s", iter([0.0, 1e9] * 2).__next__)
    clock, warned = Clock(), []
    state = campaign(
        tmp_path, WORKS, 60, only=["cpu:1"], launch=Scripted(clock, {"cards": []}), clock=clock,
        cores=1, warn=warned.append,
    )  # fmt: skip
    assert [line.partition(" others")[0] for line in warned] == [
        "the machine is busy: before the first step",
        "the machine is busy: during cpu:1",
    ]
    others = state["steps"][0]["others_cores"]
    assert others > 1
    assert "others used" in summary(state)[0]
    (device,) = adopt(tmp_path, "box").devices.values()
    assert device.provenance["others_cores"] == others


def test_others_time_is_what_is_not_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "STAT", tmp_path / "stat")
    assert load.busy_s() is None
    assert load.Others().cores() is None
    (tmp_path / "stat").write_text("cpu  1 2 3 400 500 6 7 8 9 9\ncpu0 1\n")
    assert load.busy_s() == pytest.approx(27 / os.sysconf("SC_CLK_TCK"))
    assert load.warning("", 0.1) == load.warning("", None) == ""


def test_few_files_none_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "BYTES", 100)
    there = Folder(tmp_path)
    with pytest.raises(FolderError, match=r"a\.json would have \d+ bytes; .* less than 100"):
        there.write("a.json", {"a": "x" * 100})
    assert not list(tmp_path.iterdir())
    there.write("a.json.gz", {"a": "x" * 1000})  # as it lies there: compressed
    for i in range(7):
        there.write(f"{i}.json", {})
    there.write("0.json", {"again": 1})
    with pytest.raises(FolderError, match=r"9\.json would be one file too many; .* at most 8"):
        there.write("9.json", {})
    assert len(list(tmp_path.iterdir())) == 8


def test_a_folder_with_a_campaign_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "log").touch()
    with pytest.raises(FolderError, match=r"is not empty \(log\); name an empty"):
        Folder(tmp_path)
    with pytest.raises(FolderError, match="log: cannot be a campaign's folder: File exists"):
        Folder(tmp_path / "log")
    (tmp_path / "campaign.json").write_text("{}")
    with pytest.raises(FolderError, match="here is a campaign already"):
        Folder(tmp_path)


def test_a_full_disk_is_one_line_with_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(number: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    there = Folder(tmp_path)
    monkeypatch.setattr(folders.os, "fsync", full)
    with pytest.raises(FolderError, match=r"a\.json: cannot be written: No space left"):
        there.write("a.json", {})


@pytest.mark.parametrize(
    "options",
    [("--deadline", text) for text in ("nan", "inf", "0", "-1")]
    + [("--rounds", text) for text in ("0", "-3")],
)
def test_bad_numbers_are_one_line(
    tmp_path: Path,
    options: tuple[str, str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(signal, "signal", lambda number, handler: None)
    (tmp_path / "job.json.gz").write_bytes(dump(WORKS))
    job = ["--job", str(tmp_path / "job.json.gz")]
    number = options[0] + "=" + options[1]
    assert main([str(tmp_path / "out"), *job, "--only", "x", number]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"campaign: {options[0]} ")
    assert said.count("\n") == 1
    result = CliRunner().invoke(app, ["campaign", str(tmp_path / "out"), *job, number])
    assert result.exit_code == 2
    assert not (tmp_path / "out").exists()


def test_signatures_travel(tmp_path: Path) -> None:
    dear = {"op": "aten.mm.default", "flops": 1e9, "bytes_read": 5, "bytes_written": 6}
    (tmp_path / "dear.json").write_text(json.dumps({"signatures": {"d": dear}}))
    job = tmp_path / "job.json.gz"
    job.write_bytes(dump(WORKS))
    works = read([tmp_path / "dear.json", job])
    assert list(works)[-1] == "d"
    assert works["d"] == Work({"op": "aten.mm.default", "args": [], "kwargs": {}}, 1e9, 11.0, 0)
    assert works["product"] == WORKS["product"]
    assert WORKS["product"].held == 2 * 32 * 32 * 4
    for text, message in (
        ("{", "cannot be read"),
        ("{}", "no signatures"),
        ("[]", "no signatures"),
    ):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(ValueError, match=rf"bad\.json: {message}"):
            read([tmp_path / "bad.json"])
    with pytest.raises(ValueError, match="no signatures to measure"):
        read([])
