import importlib.util

import pytest

from problems.files import FileError
from problems.formats.aiconfigurator.package import Package


def test_a_system_that_is_not_there(package):
    with pytest.raises(FileError, match="no system 'v100'; there are a100_sxm, h100_sxm"):
        package.system("v100")


def test_a_system_without_a_figure(package, tmp_path):
    (tmp_path / "x.yaml").write_text("gpu: {mem_bw: 1}\nnode: {}\n")
    with pytest.raises(FileError, match=r"x\.yaml: no figure for 'bfloat16_tc_flops'"):
        Package(tmp_path, "0").system("x")


def test_tables_are_the_newest_and_say_so(package):
    table = package.table("a100_sxm", "gemm", "vllm", "gemm_perf")
    assert table.path == "data/a100_sxm/gemm/vllm/0.14.0/gemm_perf.parquet"
    assert len(table.sha256) == 64
    assert package.table("a100_sxm", "gemm", "sglang", "gemm_perf") is None


def test_a_broken_table_is_named(tmp_path):
    path = tmp_path / "data/x/gemm/vllm/1/gemm_perf.parquet"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no table")
    with pytest.raises(FileError, match=r"gemm_perf\.parquet: cannot be read"):
        Package(tmp_path, "0").table("x", "gemm", "vllm", "gemm_perf")


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match="aiconfigurator_core"):
        Package()
