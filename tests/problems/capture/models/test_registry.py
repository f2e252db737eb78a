"""The networks by name: registered once, found, captured as the library has them."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="extra `capture` is not installed: no torch")
pytest.importorskip("transformers", reason="extra `capture` is not installed: no transformers")
pytest.importorskip("pytorchcv", reason="extra `capture` is not installed: no pytorchcv")

from problems import files  # noqa: E402
from problems.capture.models import BUILDERS, capture_graph, find  # noqa: E402
from problems.capture.models.registry import register, variant  # noqa: E402
from problems.catalogue import ROOT  # noqa: E402
from problems.coarsen import coarsen  # noqa: E402
from problems.graph import GraphFile, from_file  # noqa: E402


def shipped(name: str) -> GraphFile:
    return files.read(ROOT / "graphs" / f"{name}.json.gz", GraphFile)


def test_every_network_is_in_the_library() -> None:
    there = {path.name.removesuffix(".json.gz") for path in (ROOT / "graphs").glob("*.gz")}
    assert set(BUILDERS) <= there
    assert len({find(name).network for name in BUILDERS}) >= 40


@pytest.mark.parametrize("name", BUILDERS)
def test_blocks_are_few_and_the_registry_says_what_the_file_says(name: str) -> None:
    file, chosen = shipped(name), find(name)
    assert (file.family, file.provenance["network"]) == (chosen.family, chosen.network)
    blocks = coarsen(from_file(file), "block").n
    assert 5 <= blocks <= 120
    assert blocks < len(file.nodes)


@pytest.mark.parametrize("name", ["resnet18", "distilbert", "dlrm"])
def test_a_new_capture_has_the_structure_of_the_shipped_file(name: str) -> None:
    fresh = capture_graph(name)
    if fresh.provenance != shipped(name).provenance:
        pytest.skip("captured with other versions of torch or transformers")
    assert fresh == shipped(name)


def test_a_variant_differs_in_size_alone() -> None:
    one, eight = shipped("resnet50"), shipped("resnet50-b8")
    assert [n.name for n in one.nodes] == [n.name for n in eight.nodes]
    assert [8 * n.output_bytes for n in one.nodes] == [n.output_bytes for n in eight.nodes]
    assert (one.provenance["batch"], eight.provenance["batch"]) == (1, 8)
    with torch.device("meta"):
        built = find("gpt2").build(batch=2, sequence=5)
    assert built.kwargs["input_ids"].shape == (2, 5)


def test_unknown_networks_are_refused_with_those_there_are() -> None:
    with pytest.raises(ValueError, match=r"no network 'vgg'; the networks are alexnet, .*clip"):
        find("vgg")
    with pytest.raises(ValueError, match="no network 'vgg'"):
        variant("vgg-b8", "vgg", batch=8)


def test_a_name_is_given_once() -> None:
    with pytest.raises(ValueError, match="'clip' is registered twice"):
        register("clip", "clip", "another", find("clip").build)
