"""Campaigns with real processes: alone with torch and numpy, killed, and with a fake card."""

from __future__ import annotations

import functools
import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="extra `capture` is not installed: no torch")

from problems.capture.campaign.adopt import adopt
from problems.capture.campaign.children import launch
from problems.capture.campaign.run import campaign
from problems.capture.campaign.signatures import dump, work
from problems.capture.cores import available_cores
from tests.problems.capture.fake_cuda import SIGNATURES, command

ROOT = Path(__file__).parents[3]
WORKS = {key: work(each) for key, each in SIGNATURES.items()}
# Python reads this before anything else, in every process: only torch, what torch itself cannot
# be imported without, numpy, the standard library and the suite may be imported.
BLOCKER = """
import sys
ALLOWED = set(sys.stdlib_module_names) | {
    "problems", "torch", "numpy", "torchgen", "functorch", "typing_extensions", "_distutils_hack",
}
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in ALLOWED:
            raise ModuleNotFoundError(f"No module named {name!r} (blocked)", name=name)
sys.meta_path.insert(0, Block())
"""


def start(out: Path, folder: Path, *options: str) -> subprocess.Popen[str]:
    job = folder / "job.json.gz"
    job.write_bytes(dump(WORKS))
    (folder / "sitecustomize.py").write_text(BLOCKER)
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.Popen(
        [sys.executable, "-m", "problems.capture.campaign", str(out), "--job", str(job), *options],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_torch_numpy_and_the_standard_library_are_enough(tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = start(out, tmp_path, "--only", "cpu:1", "--rounds", "3", "--deadline", "200")
    said, errors = process.communicate()
    assert process.returncode == 0, errors
    assert "3 of 4 signatures  1 cannot run  3-3 rounds" in said
    state = json.loads((out / "campaign.json").read_text())
    assert state["survey"]["torch"]  # the survey came through, too
    blocked = subprocess.run(
        [
            sys.executable,
            "-c",
            "import problems.capture.campaign.pinger, problems.capture.cuda_replay,"
            " problems.capture.cuda_links, problems.capture.cuda_survey, problems.capture.replay\n"
            "try: import msgspec\nexcept ImportError as e: print(e)",
        ],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "blocked" in blocked.stdout
    (file,) = adopt(out, "box").devices.values()
    assert {key for key, timing in file.times.items() if timing} == {"add", "product", "zeros"}


@pytest.mark.skipif(available_cores() < 2, reason="a link needs two cores, one for each end")
def test_a_kill_loses_the_running_step_only(tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = start(out, tmp_path, "--only", "cpu:1", "--only", "shm", "--rounds", "3")
    try:
        data = out / "cpu.json.gz"
        until = time.monotonic() + 120
        while not data.exists() and time.monotonic() < until and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        for path in out.glob("*.json"):
            json.loads(path.read_text())
        assert set(json.loads(gzip.decompress(data.read_bytes()))["steps"]) == {"cpu:1"}
        assert json.loads((out / "campaign.json").read_text())["steps"][0]["state"] in (
            "waiting",
            "done",
        )
        (file,) = adopt(out, "box").devices.values()
        assert file.times["product"] is not None
    finally:
        process.kill()
        process.wait()


def test_a_card_is_measured_in_processes_of_its_own(tmp_path: Path) -> None:
    """The card is a fake: see :mod:`tests.problems.capture.fake_cuda`."""
    state = campaign(
        tmp_path,
        WORKS,
        300,
        only=["cuda:32sm:fp32"],
        rounds=2,
        launch=functools.partial(launch, command=command("poisonous=True")),
    )
    assert [step["state"] for step in state["steps"]] == ["done"]
    device = adopt(tmp_path).devices["fake-100-pcie-32sm-fp32"]
    assert device.times["wrong"] is None  # it ended the context; the others were measured after
    assert device.times["add"] is not None
    assert device.provenance["failed"]["wrong"].startswith("ends the context: RuntimeError")


def test_a_program_is_stopped_when_its_time_is_up() -> None:
    ending = launch(
        "time",
        {},
        None,
        0.5,
        lambda line: None,
        (sys.executable, "-c", "import time; time.sleep(60)"),
    )
    assert ending.stopped
    assert ending.why == "stopped when its time was up"
    ending = launch("x", {}, 1, 60, lambda line: None, (sys.executable, "-c", "1/0"))
    assert ending.why == "ended with code 1: ZeroDivisionError: division by zero"


def test_what_a_program_started_is_stopped_with_it() -> None:
    """A grandchild that holds the output open must not outlast the deadline."""
    late = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(8); print('{}')"
    code = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {late!r}])"
    heard: list[object] = []
    launch("x", {}, None, 1.0, heard.append, (sys.executable, "-c", code))
    assert not heard
