"""The page of one instance: what it is, its best answer drawn, everybody's results and runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bench import metrics
from bench.leaderboard import charts, curves, names, picture, words
from bench.leaderboard.board import Board, Row, Section
from bench.leaderboard.evidence import Drawn, Evidence
from bench.leaderboard.templating import facts, page, script_safe
from bench.records import Record
from problems.instance import Instance
from problems.rules import label

NUMBER = "number"
RESULT_COLUMNS = (
    ("entry", "", ""),
    ("objective", NUMBER, "Mean over the valid answers, seconds."),
    ("gap to best", NUMBER, "(z - z*) / z*"),
    ("gap to bound", NUMBER, "(z - b) / z; 1 without a valid answer"),
    ("mean time", NUMBER, words.COLUMNS["time"][1]),
    ("answered", NUMBER, "Runs with a valid answer, of all."),
    ("why not", "", "Why an answer is missing."),
)
RUN_COLUMNS = (
    ("entry", "", ""),
    ("seed", NUMBER, ""),
    ("objective", NUMBER, "Checked; or the verdict on the answer."),
    ("gap to best", NUMBER, "(z - z*) / z*"),
    ("ended", "", "How the run ended."),
    ("time", NUMBER, "Wall time."),
    ("date", "", ""),
    ("record and answer", "", "The first digits of the record's key."),
)
CHART_WORDS = {
    "gantt": "When each device runs what.",
    "calls": "When accelerators make their calls, transfers included, and hosts run their nodes.",
    "none": "Load of each device a sample: computing, receiving and sending, one after the other.",
    "half": "Load of each device a sample: the larger of computing and of receiving and sending.",
    "full": "Load of each device a sample: the largest of computing, receiving and sending.",
}


def render(
    board: Board, number: int, row: Row, evidence: Evidence, anchors: Mapping[str, str]
) -> str:
    """The page of one row of section `number`."""
    section = board.sections[number]
    runs = evidence.runs.get(row.digest, ())
    instance = evidence.load(row.digest)
    drawn = None if instance is None else evidence.drawn(row.digest, instance)
    chart = None if instance is None or drawn is None else charts.chart(instance, drawn.answer)
    plots = {"anytime": _anytime(board, section, row, runs)}
    if instance is not None and chart is not None:
        plots["chart"] = {
            "kind": chart.kind,
            **chart.data,
            "devices": list(instance.device_names),
            "colors": [picture.colour(k) for k in range(instance.K)],
        }
    return page(
        "instance.html.j2",
        board,
        "../",
        plots=True,
        row=row,
        section=section,
        anchor=f"s{number}",
        anchors=anchors,
        gap=_gap(row),
        facts_of_instance=_facts(row, instance),
        picture=None if instance is None else picture.draw(instance, _mapping(drawn)),
        drawn=drawn,
        link=_record_of(drawn, runs),
        chart=chart,
        chart_words="" if instance is None else _words(instance, drawn, chart),
        device_columns=_device_columns(chart),
        devices=[] if instance is None else _devices(instance, chart),
        result_columns=RESULT_COLUMNS,
        run_columns=RUN_COLUMNS,
        runs=runs,
        gaps=[_run_gap(record, row) for record in runs],
        first=_first(runs),
        provenance=[] if instance is None else _provenance(instance),
        plots_data=script_safe(plots),
    )


def _mapping(drawn: Drawn | None) -> np.ndarray | None:
    return None if drawn is None else charts.main_mapping(drawn.answer)


def _gap(row: Row) -> float:
    z, bound = row.known.objective, row.known.bound
    return math.inf if z is None or bound <= 0 else metrics.gap_to_bound(z, bound)


def _run_gap(record: Record, row: Row) -> float:
    if record.check != "ok":
        return 1e98
    return min(1e97, metrics.quality_gap(record.objective, row.known.objective))


def _first(runs: Sequence[Record]) -> set[str]:
    """Keys of the first run of each entry: there the links of the tables lead."""
    first: dict[str, str] = {}
    for record in runs:
        first.setdefault(record.entry, record.key)
    return set(first.values())


def _record_of(drawn: Drawn | None, runs: Sequence[Record]) -> str:
    """Anchor of the run that gave the answer; empty where none of these did."""
    if drawn is None:
        return ""
    mine = [r for r in runs if r.answer == drawn.digest and r.check == "ok"]
    mine.sort(key=lambda r: (r.entry != drawn.by, r.date))
    return f"#{names.run(mine[0])}" if mine else ""


def _anytime(board: Board, section: Section, row: Row, runs: Sequence[Record]) -> dict[str, Any]:
    at = curves.times(board.conditions.time_limit_s)
    found = curves.on_instance(runs, row.known.objective, at)
    shown = [
        {"name": s.entry, **curves.look(i), "gap": curves.short(found[s.entry])}
        for i, s in enumerate(section.standings)
        if s.entry in found
    ]
    return {"kind": "anytime", "t": curves.short(at), "curves": shown}


def _facts(row: Row, instance: Instance | None) -> list[tuple[str, str]]:
    found = [("family", row.family), ("digest", row.digest[:16])]
    if instance is None:
        return [*found, ("instance", "not in the library: no picture")]
    rules = label(instance.rules).replace(",", ", ") or "none beyond the usual"
    return [
        ("problem", instance.problem),
        ("rules", rules),
        *found,
        ("size", f"{instance.tier or 'unstated'}, {instance.split}"),
        ("nodes", str(instance.n)),
        ("edges", str(instance.m)),
        ("colocation groups", str(int(instance.group.max()) + 1)),
        ("topology", "through host memory" if instance.staged else "direct links"),
    ]


def _words(instance: Instance, drawn: Drawn | None, chart: charts.Chart | None) -> str:
    if chart is None:
        return ""
    if chart.kind == "loads":
        text = CHART_WORDS[getattr(instance.rules, "overlap", "none")]
        if getattr(instance.rules, "split_phases", False):
            text += " Forward and backward are added up; the objective adds the largest of each."
        if drawn is not None and drawn.answer.rates is not None:
            text += " Means over samples; picture and counts: the mapping that most take."
        return text
    text = CHART_WORDS["calls" if instance.problem == "calls" else "gantt"]
    if chart.data["joined"]:
        text += f" Gaps up to {words.seconds(chart.data['joined'])} are closed to keep it readable."
    return text


def _device_columns(chart: charts.Chart | None) -> list[tuple[str, str, str]]:
    columns = [("device", "", ""), ("what", "", "How its times came about, if alike for all."),
               ("memory", NUMBER, "Limit."), ("all nodes on it", NUMBER, "")]  # fmt: skip
    if chart is None:
        return columns
    columns += [("nodes", NUMBER, ""), ("memory used", NUMBER, ""), ("computes", NUMBER, "")]
    if chart.kind == "loads":
        columns += [("receives", NUMBER, ""), ("sends", NUMBER, ""),
                    ("load", NUMBER, "Under the instance's rule of overlap.")]  # fmt: skip
    else:
        columns += [("busy", NUMBER, "Computing time over the makespan.")]
    return columns


def _devices(instance: Instance, chart: charts.Chart | None) -> list[dict[str, Any]]:
    told = instance.provenance.get("devices", {})
    kinds = [str(each.get("kind", "unstated")) for each in told.values()]
    alike = [kinds[0]] if len(set(kinds)) == 1 else []  # the files of the rest are listed below
    found = []
    for k, name in enumerate(instance.device_names):
        what = ", ".join(
            alike
            + (["host"] if instance.host[k] else [])
            + (["unlimited lanes"] if instance.unlimited[k] else [])
        )
        numbers = [_bytes(float(instance.memory[k])), _seconds(float(instance.time[:, k].sum()))]
        if chart is not None:
            use = chart.uses[k]
            numbers += [(str(use.nodes), use.nodes), _bytes(use.memory), _seconds(use.compute)]
            if use.load is not None:
                numbers += [_seconds(use.receive), _seconds(use.send), _seconds(use.load)]
            else:
                busy = use.compute / chart.data["end"] if chart.data["end"] > 0 else 0.0
                numbers += [(f"{100 * busy:.1f}%", busy)]
        found.append({"name": name, "what": what, "colour": picture.colour(k), "numbers": numbers})
    return found


def _seconds(value: float) -> tuple[str, float]:
    return (words.seconds(value), value) if math.isfinite(value) else ("not all", 1e98)


def _bytes(value: float) -> tuple[str, float]:
    return (f"{value / 1e6:,.0f} MB", value) if math.isfinite(value) else ("no limit", 1e98)


def _provenance(instance: Instance) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """Title, kind (measured, imported, modelled) and facts of every part of the instance."""
    found = []
    for part in ("graph", "platform"):
        told = dict(instance.provenance.get(part, {}))
        if told:
            found.append((part, str(told.pop("kind", "unstated")), facts(told)))
    for part in ("devices", "links"):
        for name, each in instance.provenance.get(part, {}).items():
            told = dict(each)
            found.append((f"{part[:-1]} {name}", str(told.pop("kind", "unstated")), facts(told)))
    return found
