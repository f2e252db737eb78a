"""Learned policy against search on graphs that no training has seen: a study that makes its runs.

Held-out graphs and BERT, problem `chips`: the policy from scratch, zero-shot and fine-tuned, random
samples, annealing and the portfolio, at equal time and at several numbers of samples.
``python -m bench.policy_study --jobs 2 --save`` writes table and figure.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bench import study
from bench.entries import load_method
from bench.figures import drawing
from bench.markdown import change, table, times
from bench.records import Record
from problems.catalogue import Library
from problems.selections import HOLDOUT

SAMPLES = (125, 500, 2_000)
LONGEST = 120.0
"""Limit in seconds of a run that a number of samples ends."""
SEEDS = 2
POLICIES = ("scratch", "zero-shot", "fine-tuned")
OTHERS = ("greedy", "random", "annealing", "portfolio")
PUBLISHED = 0.06
"""What the publication's abstract says of its policy over random and annealing, about."""


def entries(samples: int = 0) -> dict[str, str]:
    """Short name -> entry; with a number of samples those that can be held to one.

    `annealing` is not counted in samples, one round of it makes 30 moves a unit: it stands beside
    the largest number.
    """
    more = f",samples={samples}" if samples else ""
    result = {each: f"policy[variant={each}{more}]" for each in POLICIES}
    if not samples:
        return result | {each: each for each in OTHERS}
    result |= {"random": f"random[restarts={samples}]"}
    return result | ({"annealing": "annealing[rounds=1]"} if samples == SAMPLES[-1] else {})


def instances(library: Library) -> list[str]:
    """Ids of the `chips` instances that are held out or of BERT."""
    return [
        each.id
        for each in library.entries()
        if each.problem == "chips" and (each.split == HOLDOUT or each.family == "bert")
    ]


def rows(records: Iterable[Record], samples: int, names: dict[str, str]) -> pd.DataFrame:
    """One row a run: `samples` (0: held to a time), `instance`, `seed`, `entry` (short)...

    ... `objective` in seconds and `trace`.
    """
    short = {}
    for name, entry in names.items():
        method, _, given = entry.rstrip("]").partition("[")
        options = dict(each.split("=") for each in given.split(",")) if given else {}
        short[name] = (method, options)
    result = []
    for record in records:
        for name, (method, options) in short.items():
            same = all(str(record.options.get(key)) == value for key, value in options.items())
            if record.method == method and same:
                result.append(
                    {
                        "samples": samples, "instance": record.instance, "seed": record.seed,
                        "entry": name, "objective": record.objective, "trace": record.trace,
                    }
                )  # fmt: skip
    return pd.DataFrame(result)


def improvement(found: pd.DataFrame, entry: str, over: str) -> tuple[float, int]:
    """Geometric mean of `over`'s objective / `entry`'s, less 1, over the runs that both have."""
    wide = found.pivot_table(index=["instance", "seed"], columns="entry", values="objective")
    if entry not in wide or over not in wide:
        return float("nan"), 0
    both = wide[[entry, over]].dropna()
    if both.empty:
        return float("nan"), 0
    return float(np.exp(np.log(both[over] / both[entry]).mean()) - 1), len(both)


def share_of_training(found: pd.DataFrame) -> pd.DataFrame:
    """How much of its time from scratch fine-tuning needs to be as good.

    Returns
    -------
    DataFrame
        A row an instance and seed on which `scratch` improved on `greedy`: `scratch`
        (seconds to its last improvement), `fine-tuned` (seconds to an objective as good; inf where
        it does not get there), `share` of these.
    """
    result = []
    for (instance, seed), part in found.groupby(["instance", "seed"], sort=True):
        traces = dict(zip(part["entry"], part["trace"], strict=True))
        scratch, tuned, greedy = (
            traces.get(each) or [] for each in ("scratch", "fine-tuned", "greedy")
        )
        if not scratch or not tuned or not greedy:
            continue
        if scratch[-1][1] >= greedy[-1][1] * (1 - 1e-9):
            continue
        at, value = scratch[-1]
        reached = [t for t, v in tuned if v <= value * (1 + 1e-9)]
        when = reached[0] if reached else float("inf")
        result.append(
            {"instance": instance, "seed": seed, "scratch": at, "fine-tuned": when,
             "share": when / at}
        )  # fmt: skip
    return pd.DataFrame(result, columns=["instance", "seed", "scratch", "fine-tuned", "share"])


def markdown(found: pd.DataFrame, limit: float) -> str:
    """The study as a Markdown page; every sentence follows from the numbers."""
    timed, counted = (found[found["samples"] == each] for each in (0, SAMPLES[-1]))
    ratios = _ratios(found)
    lines = [
        "# The learned policy on graphs that it has not seen",
        "",
        f"Problem `chips`, {found['instance'].nunique()} instances: held-out graphs and BERT; no"
        " graph of their families was trained on. Equal time:"
        f" {limit:g} s a run, {timed['seed'].nunique()} seeds, one thread, no GPU. Equal samples:"
        f" {', '.join(f'{each:,}' for each in SAMPLES)} repaired proposals for the policy and"
        " `random`; `annealing` makes one round of 30 moves a unit beside the largest number, one"
        " seed. Objectives are relative to the best that any run here found (1 is"
        " best); geometric means.",
        "",
        "![Objective against time, and against samples](policy.svg)",
        "",
    ]
    show: dict[str, Any] = {"instance": str, "samples": lambda n: f"{n:,}" if n else "equal time"}
    names = [each for each in (*POLICIES, *OTHERS) if each in ratios]
    lines += table(ratios, show | {each: lambda v: times(v).rstrip("x") for each in names})
    lines += ["", "## What is to be tested", ""]
    lines += _claims(timed, counted)
    return "\n".join(lines) + "\n"


def _ratios(found: pd.DataFrame) -> pd.DataFrame:
    """Geometric mean of objective / best found, samples and instances (and all) x entries."""
    found = found.dropna(subset=["objective"])
    best = found.groupby("instance")["objective"].transform("min")
    found = found.assign(log=np.log(found["objective"] / best))
    each = found.pivot_table(index=["samples", "instance"], columns="entry", values="log")
    mean = each.groupby(level="samples").mean()
    mean.index = pd.MultiIndex.from_tuples(
        [(samples, "all") for samples in mean.index], names=["samples", "instance"]
    )
    both = pd.concat([each, mean]).map(np.exp).reset_index()
    return both.sort_values(["samples", "instance"], kind="stable")


def _claims(timed: pd.DataFrame, counted: pd.DataFrame) -> list[str]:
    lines = []
    for over in OTHERS:
        for name, part in (("equal time", timed), (f"{SAMPLES[-1]:,} samples", counted)):
            gains = {each: improvement(part, each, over) for each in POLICIES}
            said = ", ".join(
                f"{each} {change(gain)}" for each, (gain, count) in gains.items() if count
            )
            if said:
                lines.append(f"* Over `{over}` at {name}: {said}.")
    best = max(
        (improvement(timed, each, "annealing")[0] for each in POLICIES), default=float("nan")
    )
    above = max((improvement(timed, each, "random")[0] for each in POLICIES), default=float("nan"))
    holds = min(best, above) >= PUBLISHED / 2
    lines.append(
        f"* The published ordering (policy about {100 * PUBLISHED:.0f} % above random and annealing"
        f", arXiv 2112.04041, on other hardware and graphs) {'holds' if holds else 'does not hold'}"
        f" here at equal time: the best variant is at {change(above)} over random and"
        f" {change(best)} over annealing."
    )
    zero, tuned = (improvement(timed, each, "scratch")[0] for each in POLICIES[1:])
    lines.append(
        f"* Pre-training {'helps' if tuned > 0 else 'does not help'} here: at equal time"
        f" zero-shot is at {change(zero)} and fine-tuned at {change(tuned)} over training"
        " from scratch."
    )
    shares = share_of_training(timed)
    if shares.empty:
        lines.append("* From scratch nothing was learned, so there is no time to save.")
        return lines
    reached = int(np.isfinite(shares["share"]).sum())
    middle = float(shares["share"].median())
    lines.append(
        f"* Fine-tuning reached the last objective of training from scratch in {reached} of"
        f" {len(shares)} runs; the median share of the time is"
        f" {f'{100 * middle:.0f} %' if np.isfinite(middle) else 'above 100 %'} (published: 5 %)."
    )
    return lines


def anytime(found: pd.DataFrame, at: np.ndarray) -> dict[str, np.ndarray]:
    """Geometric mean of objective / best found at times `at`, by entry; nan before all have one."""
    best = found.groupby("instance")["objective"].min()
    result = {}
    for entry, part in found.groupby("entry", sort=False):
        curves = []
        for instance, trace in zip(part["instance"], part["trace"], strict=True):
            values = np.full(len(at), np.nan)
            for t, value in trace:
                values[at >= t] = value / best[instance]
            curves.append(np.log(values))
        result[str(entry)] = np.exp(np.mean(curves, axis=0))
    return result


def draw(found: pd.DataFrame, path: Path, limit: float) -> None:
    """Objective against time, and against samples."""
    names = (*POLICIES, *OTHERS)
    shades = ("#56b4e9", "#0072b2", "#009e73", "#cccccc", "#777777", "#d55e00", "#cc79a7")
    colours = dict(zip(names, shades, strict=True))
    with drawing(path) as figure:
        left, right = figure.subplots(1, 2, sharey=True)
        at = np.geomspace(0.01, limit, 200)
        for entry, values in anytime(found[found["samples"] == 0], at).items():
            left.plot(at, values, color=colours[entry], label=entry)
        left.set_xscale("log")
        left.set_xlabel("seconds")
        left.set_ylabel("objective / best found")
        ratios = _ratios(found)
        whole = ratios[(ratios["samples"] > 0) & (ratios["instance"] == "all")]
        for each in (each for each in names if each in whole and whole[each].notna().any()):
            right.plot(whole["samples"], whole[each].astype(float), color=colours[each], marker="o")
        right.set_xscale("log")
        right.set_xticks(SAMPLES, [f"{each:,}" for each in SAMPLES])
        right.minorticks_off()
        right.set_xlabel("samples")
        figure.legend(loc="outside upper center", ncols=7)


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the runs that are missing, print the page; with ``--save`` write it and the figure."""
    given = study.parser("bench.policy_study", __doc__, "10s").parse_args(arguments)
    if missing := [each for each in load_method("policy").needs if find_spec(each) is None]:
        raise ValueError(f"the policy needs {', '.join(missing)}; pip install -e '.[rl]'")
    ids, parts = instances(Library()), []
    plans = (
        (0, entries(), given.time, SEEDS),
        *((samples, entries(samples), LONGEST, 1) for samples in SAMPLES),
    )
    for samples, names, limit, seeds in plans:
        records = study.runs(given, ids, list(names.values()), seeds=seeds, time_limit_s=limit)
        parts.append(rows(records, samples, names))
    found = pd.concat(parts).sort_values(["samples", "instance", "seed", "entry"], kind="stable")
    flat = found.drop(columns="trace")
    study.publish(
        given,
        "policy",
        {
            "md": markdown(found, given.time),
            "csv": str(flat.to_csv(index=False, float_format="%.6g", lineterminator="\n")),
        },
    )
    if given.save:
        draw(found, given.output / "policy.svg", given.time)
    return 0


if __name__ == "__main__":
    sys.exit(study.guarded(main))
