"""Expert splits: what files are taken, what is refused, and the published values."""

import csv
import json
from pathlib import Path

import pytest

from heuristics import catalogue
from problems import answer as answers
from problems import files
from problems.answer import Answer
from problems.checker import check
from problems.files import FileError
from problems.formats import msr
from problems.resolve import from_bundle
from solvers.method import Context
from tests import tiny
from tests.heuristics.samples import samples

PUBLIC = Path(__file__).resolve().parents[3] / "shared" / "msr"
public = pytest.mark.skipif(not PUBLIC.is_dir(), reason="no public MSR inputs in ../shared/msr")


def expert(instance, **options):
    return catalogue.load("expert").run(instance, Context(), **options)


def line(n=6, K=3, **given):
    return tiny.instance(
        [(1.0,) * K] * n,
        [(v, v + 1) for v in range(n - 1)],
        payload=[0] * n,
        delay=[0.0] * K,
        **{"problem": "throughput"} | given,
    )


def test_without_a_file_every_accelerator_gets_equal_runs():
    assert expert(line()).device.tolist() == [0, 0, 1, 1, 2, 2]
    with_host = line(n=6, K=3, hosts=[0])
    assert expert(with_host).device.tolist() == [1, 1, 1, 2, 2, 2]


def test_an_answer_file_is_taken_as_it_is(tmp_path):
    instance, path = line(), tmp_path / "answer.json"
    given = Answer.of([0, 1, 1, 2, 2, 2])
    files.write(path, answers.to_file(given, instance.digest))
    assert expert(instance, file=str(path)).device.tolist() == given.device.tolist()


def test_a_split_of_another_graph_goes_by_node_numbers(tmp_path):
    path = tmp_path / "split.json"
    path.write_text('{"fpgas": [{"nodes": [0, 1]}, {"nodes": [2, 3]}, {"nodes": [5, 4]}]}')
    assert expert(line(), file=str(path)).device.tolist() == [0, 0, 1, 1, 2, 2]


def test_a_bad_split_is_not_worse_than_single(tmp_path):
    path = tmp_path / "split.json"
    slow = tiny.instance([(1.0, 9.0)] * 2, problem="throughput", delay=[0.0, 0.0])
    path.write_text('{"fpgas": [{"nodes": []}, {"nodes": [0, 1]}]}')
    assert check(slow, expert(slow, file=str(path))).objective == 2.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "no such file; valid is an answer file (placebench-answer/1) or a split"),
        ("{", "no JSON"),
        ("[]", "neither `format` nor `fpgas` says what it is; valid is an answer file"),
        ('{"format": "placebench-bundle/1"}', "neither `format` nor `fpgas`"),
        ('{"fpgas": [{"nodes": [7]}]}', "no node with the id 7 - at `$.fpgas[0].nodes[0]`"),
        ('{"fpgas": [{"nodes": [0]}]}', "node 1 ('b') is on no device"),
        (
            '{"fpgas": [{"nodes": [0, 2, 4]}, {"nodes": [1, 3, 5]}]}',
            "contiguous: ",
        ),
        ('{"format": "placebench-answer/1", "instance": "x"}', "missing required field `device`"),
        (
            '{"format": "placebench-answer/1", "instance": "x", "device": [0]}',
            "answers the instance x, not",
        ),
        (
            '{"format": "placebench-answer/1", "instance": "DIGEST", "device": [0]}',
            "shape: `device` has shape (1,), not (6,)",
        ),
    ],
)
def test_each_mistake_is_one_error_with_its_place(tmp_path, text, message):
    instance, path = line(rules={"contiguous": True}), tmp_path / "given.json"
    if text is not None:
        path.write_text(text.replace("DIGEST", instance.digest))
    with pytest.raises(FileError) as caught:
        expert(instance, file=str(path))
    assert message in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_relative_path_that_is_not_there_says_where_it_was_looked_for():
    with pytest.raises(FileError, match=r"no such file in .*absolute path"):
        expert(line(), file="split.json")


def test_ids_of_an_imported_graph_need_its_file(tmp_path):
    nodes = [{"id": key, "cpuLatency": 9, "fpgaLatency": 1, "name": f"n{key}"} for key in (7, 3)]
    plain = {"maxFPGAs": 2, "maxCPUs": 1, "nodes": nodes, "edges": []}
    graph, split, bundle = (tmp_path / f"{name}.json" for name in ("graph", "split", "bundle"))
    graph.write_text(json.dumps(plain))
    split.write_text('{"fpgas": [{"nodes": [7]}, {"nodes": [3]}]}')
    imported = msr.read(graph.read_bytes(), "f", "f").bundle
    files.write(bundle, imported)
    instance = from_bundle(imported)
    with pytest.raises(FileError, match=r"imported from: name that file, or the bundle, by graph="):
        expert(instance, file=str(split))
    for source in (graph, bundle):
        answer = expert(instance, file=str(split), graph=str(source))
        assert [answer.device[instance.names.index(name)] for name in ("n7", "n3")] == [0, 1]
    with pytest.raises(FileError, match="its nodes have other names"):
        expert(line(), file=str(split), graph=str(graph))
    with pytest.raises(FileError, match="no such file; valid is an MSR file or a bundle"):
        expert(instance, file=str(split), graph=str(tmp_path / "none.json"))


def test_a_split_serves_latency_and_calls_as_well(tmp_path):
    path = tmp_path / "split.json"
    path.write_text('{"fpgas": [{"nodes": [0, 1, 2]}, {"nodes": [3, 4, 5]}], "cpus": []}')
    for problem in ("latency", "calls"):
        instance = line(K=3, problem=problem, hosts=[2], unlimited=[2])
        answer = expert(instance, file=str(path))
        assert check(instance, answer).objective == 6.0


def rows(*methods):
    if not PUBLIC.is_dir():
        return []
    with (PUBLIC / "reference.csv").open() as table:
        return [row for row in csv.DictReader(table) if row["method"] in methods]


@public
@pytest.mark.parametrize(
    "row", rows("expert", "latency_of_expert"), ids=lambda row: f"{row['file']}-{row['method']}"
)
def test_published_expert_splits(row, tmp_path):
    path = PUBLIC / row["file"]
    split = PUBLIC / "splits" / f"{path.stem.removeprefix('layer-')}_expert.json"
    data, problem = json.loads(path.read_bytes()), "throughput"
    if row["method"] == "latency_of_expert":
        # The published program counts neither accelerators nor bytes; the checker does.
        problem = "calls"
        data["maxFPGAs"] = len(json.loads(split.read_bytes())["fpgas"])
        data["maxSizePerFPGA"] = None
    graph = tmp_path / "graph.json"
    graph.write_text(json.dumps(data))
    instance = from_bundle(msr.read(graph.read_bytes(), "f", "f", problem=problem).bundle)
    answer = expert(instance, file=str(split), graph=str(graph))
    single = catalogue.load("single").run(instance, Context())
    value = check(instance, answer).objective
    published = float(row["objective_ms"]) / 1e3
    # A split that is worse than one device is not answered.
    expected = min(published, check(instance, single).objective)
    assert value == pytest.approx(expected, rel=5e-6)


@public
def test_a_published_split_over_the_memory_is_refused():
    path = PUBLIC / "latency" / "layer-gnmt_inference.json"
    instance = from_bundle(msr.read(path.read_bytes(), "f", "f", problem="calls").bundle)
    split = PUBLIC / "splits" / "gnmt_inference_expert.json"
    with pytest.raises(FileError, match=r"no valid answer to f.*: memory: "):
        expert(instance, file=str(split), graph=str(path))


def test_the_rule_of_thumb_is_good_on_some():
    better = 0
    for _, instance in samples(60, n=12):
        answer = expert(instance)
        single = catalogue.load("single").run(instance, Context())
        if answer is not None:
            better += check(instance, answer).objective < check(instance, single).objective
    assert better >= 5
