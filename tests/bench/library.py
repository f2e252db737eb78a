"""A small library of random instances for tests of the harness."""

from __future__ import annotations

from pathlib import Path

from problems import files
from problems.catalogue import Library
from problems.describe import build
from problems.generate.random import random_bundle

RULES = {"throughput": {"contiguous": True}, "latency": {}}


def write(root: Path, graphs: int = 3) -> Library:
    """Write the parts, the index and the catalogue under `root`: both problems on each graph."""
    specs, small = [], []
    for seed in range(graphs):
        for problem, rules in RULES.items():
            bundle = random_bundle(seed, n=8, devices=3, problem=problem, rules=rules)
            # Every instance has its own files: random parts share names, not content.
            name = f"{bundle.graph.name}-{problem[0]}"
            parts = files.decode(files.encode(bundle), dict, "")
            parts["graph"]["name"] = name
            rename = {d: f"{name}-{d}" for d in [*bundle.devices, *bundle.links]}
            for device in parts["platform"]["devices"]:
                device["device"] = rename[device["device"]]
                if device.get("link"):
                    device["link"] = rename[device["link"]]
            parts["platform"]["name"] = f"platform-{name}"
            for kind in ("devices", "links"):
                for old, content in parts[kind].items():
                    content["name"] = rename[old]
                    files.write(root / kind / f"{rename[old]}.json", content)
            files.write(root / "graphs" / f"{name}.json", parts["graph"])
            files.write(root / "platforms" / f"platform-{name}.json", parts["platform"])
            specs.append(
                {
                    "graph": name,
                    "platform": f"platform-{name}",
                    "problem": problem,
                    "rules": rules,
                }
            )
            label = "[contiguous]" if rules else ""
            small.append(f"{name}:operator/platform-{name}/{problem}{label}")
    index = {
        "format": "placebench-index/1",
        "instances": specs,
        "selections": {"default": small, "smoke": small[:2], "full": small},
    }
    files.write(root / "index.json", index)
    library = Library(root)
    files.write(root / "catalogue.json", build(library))
    return library
