"""The rules of each problem: what an instance may ask for beyond its graph and platform."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args, get_type_hints

import msgspec

from problems.files import FileError

Memory = Literal["total", "weights", "ignored"]


class ThroughputRules(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Rules of `throughput`.

    Attributes
    ----------
    contiguous : bool
        The quotient graph over devices is acyclic (a chain of ideals).
    overlap : {'none', 'half', 'full'}
        load = comp + in + out, max(comp, in + out) or max(comp, in, out).
    memory : {'total', 'weights', 'ignored'}
        What counts against a device's memory: weights and outputs, weights only, nothing.
    split_phases : bool
        Objective max_k FW(k) + max_k BW(k) instead of max_k (FW(k) + BW(k)).
    colocate_tied : bool
        Nodes that share a weight sit on one device.
    replicate : {'none', 'mixture'}
        `mixture`: an answer may split the samples over several mappings, each with a rate; see
        :mod:`problems.mixture`. Not together with `split_phases`.
    """

    contiguous: bool = False
    overlap: Literal["none", "half", "full"] = "none"
    memory: Memory = "total"
    split_phases: bool = False
    colocate_tied: bool = False
    replicate: Literal["none", "mixture"] = "none"


class LatencyRules(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Rules of `latency`.

    Attributes
    ----------
    contention : {'none', 'ports'}
        `none`: transfers are pure delays. `ports`: every device has one port that sends and one
        that receives; each serves one transfer at a time, and there is one transfer for every
        producer and destination device.
    memory : {'total', 'weights', 'ignored'}
        What counts against a device's memory: weights and outputs, weights only, nothing.
    colocate_tied : bool
        Nodes that share a weight sit on one device.
    """

    contention: Literal["none", "ports"] = "none"
    memory: Memory = "total"
    colocate_tied: bool = False


class CallsRules(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Rules of `calls`.

    Attributes
    ----------
    slots : int or None
        Subgraph calls that an accelerator may make; None without a limit.
    memory : {'total', 'weights', 'ignored'}
        What counts against an accelerator's memory, over all its calls.
    colocate_tied : bool
        Nodes that share a weight sit on one device.
    """

    slots: Annotated[int, msgspec.Meta(ge=1)] | None = None
    memory: Memory = "total"
    colocate_tied: bool = False


class ChipsRules(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Rules of `chips`, next to those that always hold (dataflow, no skipped chip, triangle).

    Attributes
    ----------
    overlap : {'none', 'half', 'full'}
        load = comp + in + out, max(comp, in + out) or max(comp, in, out).
    through_traffic : bool
        The chips between a producer and a consumer take the payload in and pass it on, and it
        moves over each link once, however many consumers lie beyond. Otherwise only the chip that
        sends and those that read it pay, once per destination.
    memory : {'total', 'weights', 'ignored'}
        What counts against a chip's memory: weights and outputs, weights only, nothing.
    colocate_tied : bool
        Nodes that share a weight sit on one chip.
    """

    overlap: Literal["none", "half", "full"] = "none"
    through_traffic: bool = True
    memory: Memory = "total"
    colocate_tied: bool = False


Rules = ThroughputRules | LatencyRules | CallsRules | ChipsRules
RULES: dict[
    str, type[ThroughputRules] | type[LatencyRules] | type[CallsRules] | type[ChipsRules]
] = {
    "throughput": ThroughputRules,
    "latency": LatencyRules,
    "calls": CallsRules,
    "chips": ChipsRules,
}


def parse(problem: str, rules: dict[str, Any], where: str = "instance") -> Rules:
    """Check the rules of one instance.

    Raises
    ------
    FileError
        On an unknown problem or a rule that it does not have.
    """
    if problem not in RULES:
        raise FileError(
            f"{where}: unknown problem {problem!r}; the problems are {', '.join(RULES)}"
            " - at `$.instance.problem`"
        )
    try:
        parsed: Rules = msgspec.convert(rules, RULES[problem])
    except msgspec.ValidationError as error:
        what, _, path = str(error).partition(" - at `$")
        hints = get_type_hints(RULES[problem])
        choices = get_args(hints.get(path.strip(".`")))
        if choices:
            what += f", not one of {', '.join(map(str, choices))}"
        valid = ", ".join(RULES[problem].__struct_fields__)
        raise FileError(
            f"{where}: {what}; {problem} has the rules {valid}"
            f" - at `$.instance.rules{path.rstrip('`')}`"
        ) from None
    if is_mixture(parsed) and getattr(parsed, "split_phases", False):
        raise FileError(
            f"{where}: `replicate: mixture` has no meaning with `split_phases`: leave one of them"
            " out - at `$.instance.rules.replicate`"
        )
    return parsed


def is_mixture(rules: Rules) -> bool:
    """Whether an answer may be several mappings with rates."""
    return isinstance(rules, ThroughputRules) and rules.replicate == "mixture"


def label(rules: Rules) -> str:
    """The rules that differ from the default as ids show them: ``contiguous,overlap=full``."""
    return ",".join(k if v is True else f"{k}={v}" for k, v in sorted(given(rules).items()))


def given(rules: Rules) -> dict[str, Any]:
    """The rules that differ from the default, by name.

    What `omit_defaults` leaves out depends on the identity of strings, which pickling changes.
    """
    plain = type(rules)()
    values = {name: getattr(rules, name) for name in rules.__struct_fields__}
    return {name: value for name, value in values.items() if value != getattr(plain, name)}
