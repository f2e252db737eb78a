import msgspec
import pytest

from problems.formats.aiconfigurator.links import between_servers, between_two


def test_half_of_a_two_gpu_all_to_all(package):
    link = between_two(package, package.system("a100_sxm"), "nvlink")
    assert link.kind == "imported"
    assert "2.27.3" in link.provenance["table"]["path"]
    assert [point.bytes for point in link.forward] == [128, 256, 512]
    # 512 bytes in all: 0.005 ms + 512 / 1e8 * 2 ms in half; int8 takes 0.001 ms more
    first = 0.005e-3 + 256 / 1e8 * 2e-3
    assert link.forward[0].min_s == pytest.approx(first, rel=1e-4)
    assert link.forward[0].median_s == pytest.approx(first + 0.0005e-3, rel=1e-4)


def test_an_all_gather_stands_in(package):
    link = between_two(package, package.system("h100_sxm"), "pcie")
    assert "all_gather" in link.provenance["rule"]
    assert link.forward[0].min_s == pytest.approx(0.005e-3 + 256 / 1e8 * 4e-3, rel=1e-4)


def test_servers_are_modelled(package):
    system = package.system("a100_sxm")
    link = between_servers(package, system)
    assert (link.name, link.kind) == ("internode-200g", "modelled")
    assert link.time(25_000) == pytest.approx(1e-5 + 1e-6)
    assert between_two(package, type(system)(**{**vars(system), "name": "none"}), "x") is None
    assert msgspec.to_builtins(link)
