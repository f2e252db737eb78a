"""``placebench show``."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from bench import bks, bounds
from bench.cli import DONE, output
from bench.leaderboard.words import seconds
from bench.selection import load, select
from problems.catalogue import Library
from problems.single import best_single
from problems.statistics.ideals import MOST
from problems.statistics.measure import measure


def run(text: str, json: bool) -> int:
    """Show every selected instance."""
    library = Library()
    claims = bks.load()
    told = []
    for selected in select([text], library):
        instance = load(selected, library)
        result = bounds.load().theoretical(instance)
        single = best_single(instance)
        cheap, searched = bounds.load().of_instance(instance)
        known = bks.gather(
            [],
            {instance.digest: cheap},
            {instance.digest: claims[instance.digest]} if instance.digest in claims else {},
            {} if searched is None else {instance.digest: searched},
        )
        head = bks.headline(known[instance.digest].claims) if known else None
        memory = [float(m) for m in instance.memory]
        told.append(
            {
                "instance": instance.id,
                "digest": instance.digest,
                "problem": instance.problem,
                "rules": msgspec.to_builtins(instance.rules),
                "family": instance.family,
                "tier": instance.tier,
                "split": instance.split,
                "nodes": instance.n,
                "edges": instance.m,
                "groups": int(instance.group.max()) + 1,
                "topology": "staged" if instance.staged else "direct",
                "devices": [
                    {
                        "name": name,
                        "host": bool(instance.host[k]),
                        "memory_bytes": memory[k] if math.isfinite(memory[k]) else None,
                        "all_nodes_s": float(instance.time[:, k].sum()),
                        "class": int(instance.device_class[k]),
                    }
                    for k, name in enumerate(instance.device_names)
                ],
                "best_single_s": None if single is None else single[1],
                "bound_s": result.value,
                "bounds": {b.name: b.value for b in result.bounds},
                "features": msgspec.to_builtins(
                    measure(instance) if selected.entry is None else selected.entry.features
                ),
                "best_known_s": None if head is None else head.objective,
                "best_known_by": "" if head is None else head.by,
                "status": "open" if head is None else head.status,
                "provenance": instance.provenance,
            }
        )
    if json:
        output.as_json(told)
    else:
        for each in told:
            _print(each)
    return DONE


def _print(told: dict[str, Any]) -> None:
    console = output.console()
    console.print(f"[bold]{told['instance'].replace('[', chr(92) + '[')}[/bold]")
    rules = ", ".join(f"{name}={value}" for name, value in told["rules"].items()) or "default"
    if told["rules"].get("replicate") == "mixture":
        rules += " (an answer may be several mappings, each with a rate)"
    facts = [
        ("digest", told["digest"][:16]),
        ("rules", rules),
        ("family", f"{told['family']}, {told['tier']}, {told['split']}"),
        ("graph", f"{told['nodes']} nodes, {told['edges']} edges, {told['groups']} groups"),
        ("topology", told["topology"]),
        ("best single", seconds(told["best_single_s"])),
        ("bound", f"{seconds(told['bound_s'])} ({', '.join(told['bounds'])})"),
        ("best known", f"{seconds(told['best_known_s'])} {told['best_known_by']}".strip()),
        ("status", told["status"]),
        *_features(told["features"]),
    ]
    for part, kind in _kinds(told["provenance"]):
        facts.append((part, kind))
    output.rows({"": "left", " ": "fold"}, facts, to=console)
    columns = {"device": "left", "class": "right", "memory": "right", "all nodes on it": "right"}
    rows = [
        [
            device["name"] + (" (host)" if device["host"] else ""),
            str(device["class"]),
            "-" if device["memory_bytes"] is None else f"{device['memory_bytes'] / 1e6:.0f} MB",
            seconds(device["all_nodes_s"]) if math.isfinite(device["all_nodes_s"]) else "not all",
        ]
        for device in told["devices"]
    ]
    output.rows(columns, rows, to=console)


def _features(told: dict[str, Any]) -> list[tuple[str, str]]:
    """The statistics, with their definitions in short."""
    width = f"{'' if told['width_exact'] else 'at least '}{told['width']}"
    count = "more than " + str(MOST) if told["ideals"] is None else str(told["ideals"])

    def text(name: str) -> str:
        return "-" if told[name] is None else f"{told[name]:.4g}"

    return [
        ("shape", f"depth {told['depth']}, width {width}, {count} ideals"),
        ("parallelism", f"{text('parallelism')} (work / critical path, fastest times)"),
        ("CCR", f"{text('ccr')} (mean transfer / mean compute)"),
        ("memory", "no limits" if told["memory_pressure"] is None else
                   f"{text('memory_pressure')} of the limits, largest group"
                   f" {text('group_pressure')} of the largest"),
        ("unlike", f"heterogeneity {text('heterogeneity')}, inconsistency"
                   f" {text('inconsistency')}, {_classes(told)},"
                   f" {100 * told['supported_share']:.4g} % supported"),
    ]  # fmt: skip


def _classes(told: dict[str, Any]) -> str:
    count = told["symmetry_classes"]
    return "all devices alike" if count == 1 else f"{count} classes of devices"


def _kinds(provenance: Any) -> list[tuple[str, str]]:
    found = [("graph is", str(provenance.get("graph", {}).get("kind", "unstated")))]
    for part in ("devices", "links"):
        each = provenance.get(part, {})
        if each:
            found.append(
                (f"{part} are", ", ".join(f"{name}: {told['kind']}" for name, told in each.items()))
            )
    return found
