"""What becomes of a campaign's results; the figures are made up."""

from __future__ import annotations

import functools
import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bench.cli.capture import app
from problems import files
from problems.capture.campaign import run
from problems.capture.campaign.adopt import Adopted, adopt, names, slug, write
from problems.capture.campaign.run import campaign
from problems.capture.campaign.signatures import dump, work
from problems.catalogue import Library
from problems.files import FileError
from problems.platform import link_names
from tests.problems.capture.fake_cuda import SIGNATURES, SURVEY, Clock, Scripted

WORKS = {key: work(each) for key, each in SIGNATURES.items()}


def measured(out: Path, only: list[str] | None = None, cards: int = 1) -> Path:
    clock = Clock()
    survey = SURVEY | {"cards": SURVEY["cards"] * cards}
    launch = Scripted(clock, survey)
    campaign(out, WORKS, 480, only=only, launch=launch, clock=clock, cores=16)
    return out


def test_every_part_becomes_a_file_that_the_library_reads(tmp_path: Path) -> None:
    adopted = adopt(measured(tmp_path / "out", cards=2), "box")
    assert sorted(adopted.devices) == [
        "box-cpu-16t", "box-cpu-1t", "box-cpu-4t", "box-gpu-16sm-fp32", "box-gpu-32sm-fp32",
        "box-gpu-64sm-fp32", "box-gpu-bf16", "box-gpu-fp32", "box-gpu-tf32",
    ]  # fmt: skip
    assert sorted(adopted.links) == [
        "box-cpu-shm", "box-cpu-tcp-loopback", "box-gpu-pageable", "box-gpu-peer1",
        "box-gpu-pinned",
    ]  # fmt: skip
    assert sorted(adopted.platforms) == [
        "box-cpu-workers-1t-4t", "box-gpu-server-bf16", "box-gpu-server-fp32",
        "box-gpu-server-tf32", "box-gpu-shares-64-32-16",
    ]  # fmt: skip
    paths = write(adopted, tmp_path / "lib")
    assert len(paths) == 9 + 5 + 5
    library = Library(tmp_path / "lib")
    for name in adopted.platforms:
        platform = library.platform(name)
        assert platform.topology == ("direct" if "workers" in name else "staged")
        for device in platform.devices:
            assert library.device(device.device).kind == "measured"
        for link in link_names(platform):
            assert library.link(link).forward[0].bytes == 256


def test_files_say_how_they_came_about(tmp_path: Path) -> None:
    adopted = adopt(measured(tmp_path))
    share = adopted.devices["h200-32sm-fp32"]
    timing = share.times["add"]
    assert timing is not None
    assert (timing.min_s, timing.repeats) == (1e-5, 1)
    said = share.provenance
    assert said["share"].startswith("32 of 132 multiprocessors, measured alone")
    assert said["dispatch_s"]["median"] == 2e-5
    assert (said["precision"], said["torch"], said["cuda"]) == ("fp32", "2.11.0", "13.0")
    assert {"cpu", "date", "method", "rounds", "seed", "card"} <= set(said)
    server = adopted.platforms["h200-server-fp32"]
    host, card = server.devices
    assert (host.host, host.link) == (True, None)
    assert (card.link, card.memory_bytes) == ("h200-pinned", 2**37)
    shares = adopted.platforms["h200-shares-64-32-16"]
    assert sum(d.memory_bytes or 0 for d in shares.devices) <= 2**37
    assert "not shared out" in shares.provenance["description"]
    assert adopted.links["h200-pinned"].provenance["card"] == "NVIDIA H200"


def test_partial_results_are_adopted_as_far_as_they_go(tmp_path: Path) -> None:
    out = measured(tmp_path / "out", only=["cuda:fp32", "cpu:1"])
    state = json.loads((out / "campaign.json").read_text())
    state["signatures"] += 3
    state["steps"][1]["state"] = "running"  # as a kill leaves it
    (out / "campaign.json").write_text(json.dumps(state))
    adopted = adopt(out, "box")
    assert set(adopted.devices) == {"box-gpu-fp32", "box-cpu-1t"}
    assert not adopted.links
    assert not adopted.platforms
    assert adopted.devices["box-gpu-fp32"].provenance["not_reached"] == 3


def test_what_cannot_be_adopted(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"campaign\.json: cannot be read"):
        adopt(tmp_path)
    (tmp_path / "campaign.json").write_text('{"format": "other"}')
    with pytest.raises(FileError, match="is no file of a campaign"):
        adopt(tmp_path)
    clock = Clock()
    campaign(tmp_path / "a", WORKS, 60, only=[], launch=Scripted(clock, SURVEY), clock=clock)
    with pytest.raises(FileError, match="nothing was measured"):
        adopt(tmp_path / "a")
    out = measured(tmp_path / "b", only=["shm"])
    broken = {"format": "placebench-campaign/1", "steps": {"shm": {"link": "shm", "forward": [1]}}}
    (out / "links.json.gz").unlink()
    files.write_atomically(out / "links.json.gz", gzip.compress(json.dumps(broken).encode()))
    with pytest.raises(FileError, match="step shm: TypeError"):
        adopt(out)


def test_modelled_files_of_the_same_name_are_not_replaced(tmp_path: Path) -> None:
    adopted = adopt(measured(tmp_path / "out", only=["shm"]), "box")
    (link,) = adopted.links.values()
    theirs = {"format": link.format, "name": link.name, "kind": "modelled", "provenance": {},
              "model": {"latency_s": 1.0, "bandwidth_Bps": 1.0}}  # fmt: skip
    files.write(tmp_path / "lib" / "links" / f"{link.name}.json", theirs)
    with pytest.raises(FileError, match="is modelled, not measured; give another --name"):
        write(adopted, tmp_path / "lib")
    assert write(Adopted({}, {}, {}), tmp_path / "lib") == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("NVIDIA H200", "h200"),
        ("NVIDIA A100-SXM4-80GB", "a100-sxm4-80gb"),
        ("Tesla V100-PCIE-16GB", "v100-pcie-16gb"),
        ("NVIDIA GeForce RTX 4090", "rtx-4090"),
        ("Tesla T4", "t4"),
        ("Intel(R) Xeon(R) Platinum 8480C CPU @ 2.00GHz", "intel-xeon-platinum-8480c"),
        ("", "machine"),
    ],
)
def test_names(text: str, name: str) -> None:
    assert slug(text) == name


def test_unlike_cards_never_share_a_name() -> None:
    cards = [{"name": n} for n in ("Quadro RTX 6000", "NVIDIA RTX 6000", "Quadro RTX 6000")]
    assert names(cards) == ["rtx-6000", "rtx-6000-gpu1", "rtx-6000"]
    assert names(cards, "box") == ["box-gpu", "box-gpu1", "box-gpu2"]


@pytest.mark.parametrize("path", ["links/box-cpu-shm.json", "platforms/box-cpu-workers-1t-4t.json"])
def test_files_that_say_something_else_are_replaced_on_demand_only(
    tmp_path: Path, path: str
) -> None:
    out, lib = measured(tmp_path / "out", only=["cpu:1", "cpu:4", "shm"]), tmp_path / "lib"
    paths = write(adopt(out, "box"), lib)
    assert write(adopt(out, "box"), lib) == paths  # the same again
    theirs = json.loads((lib / path).read_text())
    theirs["provenance"]["date"] = "another"
    files.write(lib / path, theirs)
    for each in paths:
        if each != lib / path:
            each.unlink()
    with pytest.raises(FileError, match=f"{path}: is there already and says .*--replace"):
        write(adopt(out, "box"), lib)
    assert [each for each in paths if each.exists()] == [lib / path]
    command = ["adopt", str(out), "--name", "box", "-o", str(lib)]
    assert CliRunner().invoke(app, command).exit_code == 2
    assert CliRunner().invoke(app, [*command, "--replace"]).exit_code == 0
    assert "another" not in (lib / path).read_text()


def test_a_campaign_that_says_too_little_is_one_line(tmp_path: Path) -> None:
    state = tmp_path / "campaign.json"
    state.write_text('{"format": "placebench-campaign/1"}')
    with pytest.raises(FileError, match=r"campaign\.json: lacks survey, machine, date, seed, sig"):
        adopt(tmp_path)
    whole = {"format": "placebench-campaign/1", "survey": {}, "machine": {}, "date": "", "seed": 0}
    state.write_text(json.dumps(whole | {"signatures": 0}))
    with pytest.raises(FileError, match=r"campaign\.json: is broken: KeyError: 'cpu'"):
        adopt(tmp_path)


def test_the_command_adopts(tmp_path: Path) -> None:
    out = measured(tmp_path / "out", only=["cpu:1", "shm"])
    result = CliRunner().invoke(
        app, ["adopt", str(out), "--name", "box", "-o", str(tmp_path / "lib")]
    )
    assert result.exit_code == 0, result.output
    assert "lib/devices/box-cpu-1t.json.gz" in result.output
    result = CliRunner().invoke(app, ["adopt", str(tmp_path)])
    assert result.exit_code == 2
    assert "campaign.json: cannot be read" in result.output


def test_the_command_measures_and_adopts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    scripted = functools.partial(run.campaign, launch=Scripted(clock, SURVEY), clock=clock, cores=2)
    monkeypatch.setattr(run, "campaign", scripted)
    (tmp_path / "job.json.gz").write_bytes(dump(WORKS))
    job = ["--job", str(tmp_path / "job.json.gz")]
    only = ["--only", "cuda:fp32", "--only", "cuda:bf16"]
    out, lib = str(tmp_path / "out"), tmp_path / "lib"
    result = CliRunner().invoke(app, ["campaign", out, *job, *only, "--adopt", str(lib)])
    assert result.exit_code == 0, result.output
    assert "4 of 4 signatures" in result.output
    assert (lib / "devices" / "h200-bf16.json.gz").exists()
    for arguments, message in (
        ([out, *job], "here is a campaign already"),
        ([str(tmp_path / "b"), *job, "--only", "x"], "no step 'x' here; the steps are cuda:fp32"),
        ([str(tmp_path / "c"), "--job", "none.json"], "none.json: cannot be read"),
    ):
        result = CliRunner().invoke(app, ["campaign", *arguments])
        assert result.exit_code == 2
        assert message in result.output
