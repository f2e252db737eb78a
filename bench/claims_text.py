"""The study of :mod:`bench.claims` as Markdown."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from bench.claims_duels import FASTER
from bench.markdown import change, percent, seconds, table, times

if TYPE_CHECKING:
    from bench.claims_duels import Alone, Duel


def markdown(
    duels: Sequence[Duel],
    alone: Sequence[Alone],
    better: pd.DataFrame,
    gains: pd.DataFrame,
    limit: float,
    exact_limit: float,
) -> str:
    """The page: three claims, a table each, and what the numbers say in a sentence."""
    return "\n".join(
        [
            "# The claims of modularity splitting, tested again",
            "",
            "Ghannane and Abdelfattah (DiviML, 2023; only the abstract could be read, and"
            " `splitting` is a re-implementation). `python -m bench.claims` makes these tables.",
            "",
            "## What holds",
            "",
            *_verdicts(duels, alone, better, gains),
            "",
            f"## Against the exact model, {exact_limit:g} s",
            "",
            "`splitting[polish=false]` beside the exact model on HiGHS, one thread. `faster`: time"
            " of the exact model over that of splitting; with `>=` the exact model was stopped by"
            " the limit, so it would have taken longer. Where it was and a longer limit could show"
            f" {FASTER:g} times, it ran again with that. `loss`: objective of splitting over that"
            " of the exact model, less 1; `to best`: over the best known.",
            "",
            *_duels(duels),
            "",
            *_said_of_duels(duels),
            "",
            *_alone(alone),
            f"## Against other heuristics at equal time, {limit:g} s",
            "",
            "`better`: 1 - geometric mean of z of `splitting` / z of the other; `room`: the same of"
            " the cheap lower bound, so that nothing can be better by more.",
            "",
            *table(
                better,
                {
                    "section": str, "other": str, "instances": str, "better": change,
                    "room": change, "wins": str, "ties": str, "losses": str,
                },
            ),
            "",
            "## The best mapping against the best single device",
            "",
            "Best known answers of the library. `allowed`: best single device over the lower bound,"
            " what any mapping can gain at most; `able`: instances where that is at least 3 times"
            " (latency) or 2.9 times (throughput); `reached`: of those, how many are that much"
            " better. Means are geometric.",
            "",
            *_said_of_gains(gains),
            "",
            *table(
                gains,
                {
                    "problem": str, "platform": str, "instances": str, "gain": times,
                    "most": times, "allowed": times, "able": str, "reached": str,
                },
            ),
        ]
    ) + "\n"  # fmt: skip


def _verdicts(
    duels: Sequence[Duel], alone: Sequence[Alone], better: pd.DataFrame, gains: pd.DataFrame
) -> list[str]:
    """Each claim: whether the numbers bear it out, and what stands against it where not."""
    lines = []
    if duels:
        seen = [each for each in duels if each.ratio >= FASTER]
        most = max(each.ratio for each in duels)
        ended = max((each.ratio for each in duels if each.ended), default=math.nan)
        stopped = max((each.exact_s for each in duels if not each.ended), default=math.nan)
        lines.append(
            f"* {FASTER:g} times faster than an exact model: {'seen' if seen else 'not seen'}, on"
            f" {len(seen)} of {len(duels)}; at least {most:.3g} times at most. Where the exact"
            f" model ended, {ended:.3g} at most; elsewhere it was stopped, after {stopped:.3g} s at"
            " most, and would have taken longer."
        )
        losses = {each.instance: each.loss for each in duels if math.isfinite(each.exact_z)}
        if losses:
            worst = max(losses, key=losses.__getitem__)
            lines.append(
                f"* No noticeable loss: below 1 % on {sum(x < 0.01 for x in losses.values())} of"
                f" {len(losses)}, not on all ({percent(max(losses[worst], 0.0))} on `{worst}`): a"
                " module is placed for what came before it, and what comes after cannot move it."
                " The entry `splitting` polishes afterwards, which the claim is not about."
            )
    if alone:
        far = [each.loss for each in alone]
        lines.append(
            f"* On {len(alone)} more instances the exact model is too large to be built; splitting"
            f" is {percent(min(far))} to {percent(max(far))} over the best known there, below 1 %"
            f" on {sum(x < 0.01 for x in far)}."
        )
    if len(better):
        roomy, held = better[better["room"] >= 0.3], better[better["better"] >= 0.3]
        lines.append(
            f"* 30 to 60 % better than other heuristics: on {len(held)} of {len(better)} pairs of"
            f" section and heuristic ({_pairs(held)}); the bound allows as much on {len(roomy)}"
            f" ({_pairs(roomy)}). Elsewhere the other heuristic, compiled as ours are, is too near"
            " the bound."
        )
    for problem, part in gains.groupby("problem"):
        missed, able = part["able"].sum() - part["reached"].sum(), part["able"].sum()
        lines.append(
            f"* Best mapping against the best single device, {problem}: reached on {able - missed}"
            f" of the {able} instances on which the bound allows it; on"
            f" {part['instances'].sum() - able} others no mapping can."
        )
    return lines or ["No runs."]


def _pairs(frame: pd.DataFrame) -> str:
    rows = zip(frame["section"], frame["other"], strict=True)
    return "; ".join(f"{section} against `{other}`" for section, other in rows) or "none"


def _duels(duels: Sequence[Duel]) -> list[str]:
    frame = pd.DataFrame(
        [
            {
                "section": each.section,
                "instance": f"`{each.instance}`",
                "nodes": each.n,
                "exact": each.exact_s,
                "splitting": each.splitting_s,
                "faster": ("" if each.ended else ">= ") + times(each.ratio),
                "loss": each.loss if math.isfinite(each.exact_z) else math.nan,
                "to best": each.splitting_z / each.best_z - 1,
            }
            for each in duels
        ],
        columns=["section", "instance", "nodes", "exact", "splitting", "faster", "loss", "to best"],
    )
    return table(
        frame,
        {
            "section": str, "instance": str, "nodes": str, "exact": seconds, "splitting": seconds,
            "faster": str, "loss": change, "to best": change,
        },
    )  # fmt: skip


def _alone(alone: Sequence[Alone]) -> list[str]:
    if not alone:
        return []
    frame = pd.DataFrame(
        [
            {
                "section": each.section,
                "instance": f"`{each.instance}`",
                "nodes": each.n,
                "splitting": each.splitting_s,
                "to best": each.loss,
            }
            for each in alone
        ]
    )
    columns: dict[str, Callable[..., str]] = {
        "section": str, "instance": str, "nodes": str, "splitting": seconds, "to best": change,
    }  # fmt: skip
    return [
        "Instances that the exact model refuses for their size:",
        "",
        *table(frame, columns),
        "",
    ]


def _said_of_duels(duels: Sequence[Duel]) -> list[str]:
    if not duels:
        return ["No pair of runs."]
    ratios = [each.ratio for each in duels]
    losses = [each.loss for each in duels if math.isfinite(each.exact_z)]
    within = sum(loss < 0.01 for loss in losses)
    stopped = sum(not each.ended for each in duels)
    return [
        f"At least {max(ratios):.3g} times faster at most, {_geometric(ratios):.3g} times on"
        f" geometric mean; {FASTER:g} times or more on {sum(r >= FASTER for r in ratios)} of"
        f" {len(duels)}. The exact model was stopped by the limit on {stopped}. The loss is below"
        f" 1 % on {within} of {len(losses)}, {percent(max(losses, default=0.0))} at most."
    ]


def _said_of_gains(gains: pd.DataFrame) -> list[str]:
    lines = []
    for problem, part in gains.groupby("problem"):
        lines.append(
            f"* {problem}: up to {part['most'].max():.3g} times; the aim is reached on"
            f" {part['reached'].sum()} of the {part['able'].sum()} instances whose hardware may"
            f" allow it ({part['instances'].sum()} in all)."
        )
    return lines


def _geometric(ratios: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))
