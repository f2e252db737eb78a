"""Fuzz the importers with coverage feedback (atheris, Python 3.11); not part of the test suite.

    python -m pip install atheris
    python tests/fuzz/importers.py msr CORPUS -max_total_time=120 -timeout=10

The first argument names an importer, the rest is libFuzzer's: a folder of inputs to start from and
add to, limits. Anything but a bundle or a FileError of one line is a finding and ends the run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

with atheris.instrument_imports(include=["problems"]):
    from problems.files import FileError
    from problems.formats import dot, graphml, msr, msr_split, pipedream, piper, profile
    from problems.resolve import from_bundle

TIMES = b"node,device,seconds\na,cpu,1\na,gpu,\nb,cpu,0.5\nb,gpu,0.1\n"
DEVICES = b"name,kind,memory_bytes,host\ncpu,,,true\ngpu,,100,\n"
LINKS = b"device,latency_s,bandwidth_Bps\ngpu,0.1,5\n"
GRAPH = b"digraph { a [output_bytes=3]; a -> b }"
MSR = (
    b'{"maxFPGAs": 1, "maxCPUs": 1, "nodes": [{"id": 0, "cpuLatency": 1, "fpgaLatency": 1},'
    b' {"id": 1, "cpuLatency": 1, "fpgaLatency": null}], "edges": []}'
)


def _tables(times: bytes = TIMES, devices: bytes = DEVICES, links: bytes = LINKS) -> object:
    named = ((times, "times"), (devices, "devices"), (links, "links"))
    return profile.read((GRAPH, "graph.dot"), *named, "fuzz")


def _csv(data: bytes) -> object:
    kind, rest = data[:1], data[1:]
    return _tables(**{{b"t": "times", b"d": "devices"}.get(kind, "links"): rest})


def _split(data: bytes) -> object:
    bundle = msr.read(MSR, "msr", "fuzz").bundle
    ids = msr.ids(bundle.graph)
    assert ids is not None
    return msr_split.read(data, "split", from_bundle(bundle), ids)


TARGETS: dict[str, Callable[[bytes], object]] = {
    "msr": lambda data: msr.read(data, "fuzz", "fuzz", contiguous=True),
    "msr-split": _split,
    "pipedream": lambda data: pipedream.read(data, "fuzz", "fuzz", devices=2, bandwidth_Bps=1e9),
    "piper": lambda data: piper.read(data, "fuzz", "fuzz", devices=2),
    "dot": lambda data: dot.read(data, "fuzz"),
    "graphml": lambda data: graphml.read(data, "fuzz"),
    "csv": _csv,
}


def main() -> None:
    """Run libFuzzer on one importer."""
    name = sys.argv.pop(1) if len(sys.argv) > 1 else ""
    if name not in TARGETS:
        sys.exit(f"usage: importers.py {'|'.join(TARGETS)} [CORPUS] [-max_total_time=SECONDS]")

    def once(data: bytes) -> None:
        try:
            TARGETS[name](data)
        except FileError as error:
            if "\n" in str(error):
                raise AssertionError(str(error)) from error

    atheris.Setup(sys.argv, once)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
