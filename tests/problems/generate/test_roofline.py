"""Modelled devices and links follow their stated rule, and the shipped ones are up to date."""

from __future__ import annotations

import pytest

from problems import files
from problems.catalogue import ROOT
from problems.generate.modelled import write_modelled
from problems.generate.roofline import DEVICES, GPUS, Roofline, roofline_device
from problems.generate.wires import WIRES, modelled_link
from problems.graph import GraphFile, Node, Signature
from problems.platform import DeviceFile, LinkFile

RULE = Roofline(1e12, 0.5, 1e9, 1e-6, "test")


def test_compute_bound_and_memory_bound_signatures() -> None:
    assert RULE.time(Signature("a", flops=1e9, bytes_read=10)) == pytest.approx(2e-3 + 1e-6)
    assert RULE.time(Signature("a", bytes_read=10**6, bytes_written=10**6)) == pytest.approx(
        2e-3 + 1e-6
    )
    assert RULE.time(Signature("a")) == pytest.approx(1e-6)


def test_the_file_says_modelled_with_rule_and_parameters() -> None:
    file = roofline_device("x", RULE, {"s": Signature("a", flops=1e9)})
    assert file.kind == "modelled"
    assert file.provenance["efficiency"] == 0.5
    assert "max(" in file.provenance["rule"]
    assert file.times["s"] is not None
    assert file.times["s"].repeats == 0


def test_an_operator_that_is_not_supported_has_no_time() -> None:
    rule = Roofline(1e12, 0.5, 1e9, 1e-6, "test", supports=("aten.conv2d.",))
    assert rule.time(Signature("aten.conv2d.default", flops=1.0)) is not None
    assert rule.time(Signature("aten.embedding.default")) is None
    file = roofline_device("x", rule, {"s": Signature("aten.embedding.default")})
    assert file.times == {"s": None}
    assert file.provenance["supports"] == ("aten.conv2d.",)


def test_hops_of_a_chain_add_up_and_nvlink_is_faster_than_pcie() -> None:
    one, many = modelled_link("chip-hop01"), modelled_link("chip-hop35")
    assert many.time(10**6) - one.time(10**6) == pytest.approx(34 * 20e-9)
    times = [modelled_link(name).time(10**8) for name in ("pcie3-x16", "pcie5-x16", "nvlink3")]
    assert times == sorted(times, reverse=True)


def test_the_two_gpus_are_unlike() -> None:
    a100, t4 = GPUS["gpu-a100-roofline"], GPUS["gpu-t4-roofline"]
    product, copy = Signature("a", flops=1e12), Signature("a", bytes_read=10**10)
    assert 2 < t4.time(product) / a100.time(product) < 3
    assert 4 < t4.time(copy) / a100.time(copy) < 6


@pytest.mark.parametrize(
    ("field", "value"),
    [("peak_flops", 0), ("bandwidth_Bps", -1), ("efficiency", 1.5), ("launch_s", -1e-6)],
)
def test_bad_parameters(field: str, value: float) -> None:
    good = {"peak_flops": 1, "efficiency": 1, "bandwidth_Bps": 1, "launch_s": 0, "source": ""}
    with pytest.raises(ValueError, match=field):
        Roofline(**(good | {field: value}))


def test_links_are_latency_and_bandwidth() -> None:
    link = modelled_link("ethernet-1g")
    assert link.kind == "modelled"
    assert link.time(0) == pytest.approx(50e-6)
    assert link.time(10**6, backward=True) == pytest.approx(50e-6 + 10**6 / 117.7e6, rel=1e-3)
    with pytest.raises(ValueError, match=r"the links are ethernet-1g, ethernet-10g, .*pcie4-x16"):
        modelled_link("ib")


def test_writing_covers_all_signatures_and_repeats_to_the_byte(tmp_path) -> None:  # type: ignore[no-untyped-def]
    node = Node(name="x", op="a", signature="s")
    graph = GraphFile(
        "placebench-graph/1", "g", "f", [node], [], signatures={"s": Signature("a", flops=1.0)}
    )
    files.write(tmp_path / "graphs" / "g.json.gz", graph)
    first = {path: path.read_bytes() for path in write_modelled(tmp_path)}
    assert len(first) == len(DEVICES) + len(WIRES)
    assert {path: path.read_bytes() for path in write_modelled(tmp_path)} == first
    device = files.read(tmp_path / "devices" / "gpu-t4-roofline.json.gz", DeviceFile)
    assert set(device.times) == {"s"}


def test_shipped_files_are_those_the_rule_gives(tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "graphs").symlink_to(ROOT / "graphs")
    for path in write_modelled(tmp_path):
        kind = DeviceFile if path.name.endswith(".gz") else LinkFile
        shipped = ROOT / path.relative_to(tmp_path)
        assert files.read(path, kind) == files.read(shipped, kind)
