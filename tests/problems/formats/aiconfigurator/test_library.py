"""What the command writes; and that the shipped files are what the real tables say."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
from pyarrow import parquet

from problems import files
from problems.catalogue import ROOT
from problems.formats.aiconfigurator.library import CARDS, DEFAULT, halve_graphs, import_gpus
from problems.formats.aiconfigurator.package import PACKAGE, Package
from problems.formats.aiconfigurator.work import work_of
from problems.graph import GraphFile, Node, Signature
from problems.platform import DeviceFile, LinkFile
from tests.problems.formats.aiconfigurator.tensors import IMAGE, PATCH, tensor

SIGNATURES = {
    "exact": Signature("aten.linear.default", [tensor(64, 64), tensor(64, 64)]),
    "between": Signature("aten.linear.default", [tensor(99, 64), tensor(64, 64)]),
    "gelu": Signature("aten.gelu.default", [tensor(64, 64)]),
}
REAL = pytest.mark.skipif(
    importlib.util.find_spec(PACKAGE) is None, reason="needs the extra gpu-data"
)


@pytest.fixture
def graphs(tmp_path):
    def write(name, signatures):
        nodes = [Node(key, each.op, key) for key, each in signatures.items()]
        graph = GraphFile("placebench-graph/1", name, "f", nodes, [], signatures=signatures)
        files.write(tmp_path / f"{name}.json.gz", graph)
        return tmp_path / f"{name}.json.gz"

    conv = Signature("aten.conv2d.default", [IMAGE, PATCH])
    return [write("served", SIGNATURES), write("left", {**SIGNATURES, "conv": conv})]


def test_files_and_what_is_left_out(package, graphs, tmp_path):
    outcome = import_gpus(package, graphs, ["a100-sxm", "h100-sxm"], tmp_path)
    assert outcome.served == ["served"]
    assert outcome.left == {
        "left": "aten.conv2d.default: there are no tables of convolutions (1 signatures)"
    }
    names = [path.relative_to(tmp_path).as_posix() for path in outcome.written]
    assert names == [
        "devices/a100-sxm-bf16.json.gz",
        "links/nvlink-a100-sxm.json",
        "links/internode-200g.json",
        "devices/h100-sxm-bf16.json.gz",
        "links/nvlink-h100-sxm.json",
    ]
    device = files.read(outcome.written[0], DeviceFile)
    assert (device.name, device.kind) == ("a100-sxm-bf16", "imported")
    assert device.kinds == {"gelu": "modelled"}
    assert set(device.times) == set(SIGNATURES)
    assert device.provenance["signatures"] == {"interpolated": 1, "roofline": 1, "table": 1}
    assert device.provenance["hardware"] == "Fake"
    assert device.provenance["licence"] == "Apache-2.0"
    assert outcome.memory == {"a100-sxm-bf16": 80 * 2**30, "h100-sxm-bf16": 80 * 2**30}
    assert files.read(outcome.written[1], LinkFile).name == "nvlink-a100-sxm"


def test_a_second_run_writes_the_same_bytes(package, graphs, tmp_path):
    first = import_gpus(package, graphs, ["a100-sxm"], tmp_path / "1").written
    second = import_gpus(package, graphs, ["a100-sxm"], tmp_path / "2").written
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_a_graph_is_halved_under_a_name_of_its_own(graphs, tmp_path):
    (tmp_path / "graphs").mkdir()
    graphs[0].rename(tmp_path / "graphs" / graphs[0].name)
    (path,) = halve_graphs(tmp_path, ["served"], tmp_path)
    assert path.name == "served-bf16.json.gz"
    assert files.read(path, GraphFile).name == "served-bf16"


def test_an_unknown_gpu_is_named(package, graphs, tmp_path):
    with pytest.raises(files.FileError, match="no GPU 'v100'; the GPUs are a100-sxm, h100-sxm"):
        import_gpus(package, graphs, ["v100"], tmp_path)


@REAL
@pytest.mark.parametrize("name", DEFAULT)
def test_shipped_times_are_the_tables_at_exact_points(name):
    device = files.read(ROOT / "devices" / f"{name}-bf16.json.gz", DeviceFile)
    graph = files.read(ROOT / "graphs" / "bert-base.json.gz", GraphFile)
    path = Package().systems / device.provenance["tables"]["gemm_perf"]["path"]
    rows = parquet.read_table(path, filters=[("gemm_dtype", "=", "bfloat16")]).to_pydict()
    points = zip(rows["m"], rows["n"], rows["k"], strict=True)
    table = dict(zip(points, rows["latency"], strict=True))
    works = {key: work_of(each) for key, each in graph.signatures.items() if key in device.times}
    gemms = {key: work.gemms[0] for key, work in works.items() if work.exactly and work.gemms}
    exact = {key: table[gemm] for key, gemm in gemms.items() if gemm in table}
    assert len(exact) >= 3
    for key, ms in exact.items():
        assert device.times[key].min_s == pytest.approx(ms / 1e3, rel=1e-4)
        assert key not in device.kinds


@REAL
@pytest.mark.parametrize("name", CARDS)
def test_no_product_is_faster_than_the_hardware(name):
    """That the unit is the millisecond, and that the peak is the right one."""
    package = Package()
    system = package.system(CARDS[name].system)
    rows = package.table(system.name, "gemm", "vllm", "gemm_perf").rows
    rows = rows[rows["gemm_dtype"] == "bfloat16"]
    flops = 2.0 * rows["m"] * rows["n"] * rows["k"]
    share = (flops / (rows["latency"] * 1e-3) / system.peak_flops).to_numpy()
    assert 0.6 < np.quantile(share, 0.99) < share.max() < 1.0


@REAL
def test_shipped_files_are_up_to_date(tmp_path):
    paths = sorted((ROOT / "graphs").glob("*.json.gz"))
    for path in import_gpus(Package(), paths, ["l40s"], tmp_path).written:
        shipped = ROOT / path.relative_to(tmp_path)
        assert files.content_digest(path) == files.content_digest(shipped), (
            f"{shipped.name}: run placebench import aiconfigurator"
        )
