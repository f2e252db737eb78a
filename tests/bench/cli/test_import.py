"""``placebench import`` and ``placebench export``."""

from __future__ import annotations

import json

import pytest

from problems import files
from problems.answer import Answer, to_file
from problems.instance import Bundle
from problems.resolve import from_bundle
from tests.problems.formats import test_msr, test_pipedream, test_piper, test_profile
from tests.tiny import bundle


@pytest.fixture
def msr(tmp_path):
    nodes = [test_msr.node(k, size=k) for k in range(3)]
    (tmp_path / "net.json").write_bytes(test_msr.file(nodes, [test_msr.edge(0, 2)]))
    return "net.json"


def test_an_import_can_be_run_checked_and_exported_again(cli, msr, tmp_path):
    code, out, err = cli("import", "msr", msr, "-o", "b.json", "--contiguous", "--licence", "MIT")
    assert code == 0, err
    assert out.startswith("b.json: throughput, 3 nodes, 1 edges, 3 devices, digest ")
    got = files.read(tmp_path / "b.json", Bundle)
    assert got.graph.provenance["licence"] == "MIT"
    assert got.graph.provenance["file"] == "net.json"
    assert got.instance.id == "net:operator/net-platform/throughput[contiguous,memory=weights]"
    (tmp_path / "split.json").write_text('{"fpgas": [{"nodes": [0, 1, 2]}]}')
    code, out, _ = cli("import", "msr-split", "split.json", "--instance", "b.json", "-o", "a.json")
    assert (code, out.split(" on ")[0]) == (0, "a.json: valid: 0.003 s")
    assert cli("check", "a.json", "--instance", "b.json")[0] == 0
    code, out, _ = cli("export", "msr-split", "a.json", "--instance", "b.json")
    assert json.loads(out)["fpgas"][0] == {"load": 3.0, "nodes": [0, 1, 2]}
    code, out, _ = cli("export", "dot", "b.json", "--answer", "a.json")
    assert 'device="fpga0"' in out
    code, out, err = cli("export", "msr", "b.json", "-o", "back.json")
    assert (code, out) == (0, "back.json\n")
    assert err.endswith("`placebench import msr --contiguous` brings the same instance back\n")
    cli("import", "msr", "back.json", "-o", "c.json", "--contiguous")
    again = files.read(tmp_path / "c.json", Bundle)
    assert from_bundle(again).digest == from_bundle(got).digest


def test_subgraph_calls_come_and_go_with_their_splits(cli, msr, tmp_path):
    code, out, err = cli("import", "msr", msr, "-o", "b.json", "--problem", "calls", "--slots", 2)
    assert code == 0, err
    assert out.startswith("b.json: calls, 3 nodes, 1 edges, 3 devices, digest ")
    # Two calls of each accelerator: nodes 0 and 2 on the first, node 1 on the other's second.
    shares = [{"nodes": [0]}, {"nodes": [2]}, {"nodes": []}, {"nodes": [1]}]
    (tmp_path / "split.json").write_text(json.dumps({"fpgas": shares}))
    code, out, _ = cli("import", "msr-split", "split.json", "--instance", "b.json", "-o", "a.json")
    assert (code, out.split(" on ")[0]) == (0, "a.json: valid: 0.003 s")  # 1 + 0.5 + 0.5 + 1 ms
    assert json.loads((tmp_path / "a.json").read_text())["slot"] == [0, 1, 1]
    code, out, _ = cli("export", "msr-split", "a.json", "--instance", "b.json")
    written = json.loads(out)
    assert [share["nodes"] for share in written["fpgas"]] == [[0], [2], [1], []]
    assert written["totalLatency"] == pytest.approx(3.0)
    code, _, err = cli("export", "msr", "b.json", "-o", "back.json")
    assert code == 0
    assert err.endswith(
        "`placebench import msr --problem calls --slots 2` brings the same instance back\n"
    )


def test_notes_go_to_stderr(cli, tmp_path):
    (tmp_path / "net.json").write_bytes(test_msr.file(edges=[test_msr.edge(0, 1, 0)]))
    code, out, err = cli("import", "msr", "net.json", "-o", "b.json.gz")
    assert (code, out.count("\n")) == (0, 1)
    assert err.startswith("placebench: note: every transfer takes no time")


def test_the_other_formats(cli, tmp_path):
    (tmp_path / "graph.txt").write_text(test_pipedream.GRAPH)
    arguments = ("--devices", 2, "--bandwidth", 1e9, "--memory", "1GB", "--inference")
    assert cli("import", "pipedream", "graph.txt", "-o", "p.json", *arguments)[0] == 0
    assert files.read(tmp_path / "p.json", Bundle).platform.devices[0].memory_bytes == 10**9
    (tmp_path / "piper.json").write_bytes(test_piper.file())
    assert cli("import", "piper", "piper.json", "-o", "q.json", "--time-unit", "ms")[0] == 0
    for name, text in (
        ("g.dot", test_profile.GRAPH),
        ("t.csv", test_profile.TIMES),
        ("d.csv", test_profile.DEVICES),
        ("l.csv", test_profile.PORTS),
    ):
        (tmp_path / name).write_text(text)
    tables = ("--times", "t.csv", "--devices", "d.csv", "--links", "l.csv")
    code, _, err = cli("import", "graph", "g.dot", *tables, "-o", "g.json", "--name", "mine")
    assert (code, err) == (0, "")
    assert files.read(tmp_path / "g.json", Bundle).instance.graph == "mine"


def test_a_split_has_no_order_and_the_export_says_so(cli, tmp_path):
    whole = bundle([[1, 2], [1, 2]], delay=[0, 1], hosts=[0])
    files.write(tmp_path / "b.json", whole)
    answer = Answer.of([0, 0], order=[[1, 0], []])
    files.write(tmp_path / "a.json", to_file(answer, from_bundle(whole).digest))
    code, out, err = cli("export", "msr-split", "a.json", "--instance", "b.json")
    assert (code, json.loads(out)["cpus"][0]["nodes"]) == (0, [0, 1])
    assert err == (
        "placebench: note: a split file has no place for the order on each device: left out\n"
    )


@pytest.mark.parametrize("time", [86_400.0, 1e6])
def test_what_the_import_refuses_is_not_written(cli, tmp_path, time):
    options = {"problem": "throughput", "delay": [0, 1], "hosts": [0]}
    files.write(tmp_path / "b.json", bundle([[1, time]], **options))
    code, out, err = cli("export", "msr", "b.json", "-o", "m.json")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "a time of a day or more" in err
    heavy = bundle([[1, 1]], weights=[{"w": 2**53, "v": 2**53}], **options)
    files.write(tmp_path / "b.json", heavy)
    code, out, err = cli("export", "msr", "b.json", "-o", "m.json")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "18014398509481984 bytes, not in 0..2**53" in err
    assert not (tmp_path / "m.json").exists()


def test_no_command_overwrites_what_it_reads(cli, msr, tmp_path):
    (tmp_path / "t.json").write_text(test_profile.TIMES)
    (tmp_path / "d.csv").write_text(test_profile.DEVICES)
    (tmp_path / "l.csv").write_text(test_profile.PORTS)
    (tmp_path / "g.dot").write_text(test_profile.GRAPH)
    (tmp_path / "link.json").symlink_to(msr)
    (tmp_path / "split.json").write_text('{"fpgas": [{"nodes": [0, 1, 2]}]}')
    assert cli("import", "msr", msr, "-o", "b.json")[0] == 0
    split = ("import", "msr-split", "split.json", "--instance", "b.json", "-o")
    assert cli(*split, "a.json")[0] == 0
    before = {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    tables = ("--times", "t.json", "--devices", "d.csv", "--links", "l.csv")
    for command in (
        ("import", "msr", msr, "-o", msr),
        ("import", "msr", msr, "-o", "link.json"),
        ("import", "graph", "g.dot", *tables, "-o", "t.json"),
        (*split, "split.json"),
        (*split, "b.json"),
        ("export", "msr", "b.json", "-o", "./b.json"),
        ("export", "dot", "b.json", "--answer", "a.json", "-o", "a.json"),
        ("export", "msr-split", "a.json", "--instance", "b.json", "-o", "a.json"),
    ):
        code, out, err = cli(*command)
        assert (code, out, err.count("\n")) == (2, "", 1), command
        assert "is read and would be overwritten" in err
    assert {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["import", "msr", "net.json", "-o", "b.json", "--slots", "2"],
            "--slots is a rule of --problem calls",
        ),
        (
            ["import", "msr", "net.json", "-o", "b.json", "--problem", "call"],
            "no problem 'call'; the problems are throughput, latency, calls",
        ),
        (["import", "msr", "net.json", "-o", "b.json", "--problem", "x"], "no problem 'x'; the"),
        (
            ["import", "msr", "net.json", "-o", "b.json", "--problem", "latency", "--contiguous"],
            "are rules of --problem throughput",
        ),
        (["import", "msr", "net.json", "-o", "b.txt"], "b.txt: the name must end in .json"),
        (["import", "msr", "none.json", "-o", "b.json"], "none.json: cannot be read: No such file"),
        (["import", "msr", ".", "-o", "b.json"], ".: cannot be read: Is a directory"),
        (["import", "msr", "net.json"], "Missing option"),
        (["import", "nothing"], "No such command 'nothing'"),
        (["export", "msr", "direct.json"], "transfers through host memory only, not direct links"),
        (["export", "msr", "smoke"], "'smoke' selects 2 instances, not one"),
        (["export", "dot", "direct.json", "--answer", "none.json"], "none.json: cannot be read"),
    ],
)
def test_what_cannot_be_done_is_one_line(cli, msr, tmp_path, arguments, message):
    files.write(tmp_path / "direct.json", bundle([[1, 2]], delay={(0, 1): 1.0}))
    code, out, err = cli(*arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_an_instance_of_the_library_is_drawn(cli, library):
    name = library.selections()["smoke"][0]
    code, out, _ = cli("export", "dot", name)
    assert code == 0
    assert out.startswith("digraph instance {\n")


def test_other_rules_are_named_when_they_do_not_come_back(cli, tmp_path):
    files.write(
        tmp_path / "b.json", bundle([[1, 2]], problem="throughput", delay=[0, 1], hosts=[0])
    )
    code, _, err = cli("export", "msr", "b.json", "-o", "m.json")
    assert code == 0
    assert "brings it back but for rule memory (default becomes weights)" in err
