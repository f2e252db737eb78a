"""Methods: what a solver or heuristic is, what it is given, and the registry.

A method is a function ``(instance, context, *, options...) -> Answer | None``. It sees an instance
and a context; it knows nothing of the harness that runs it. Declaring one is adding one file::

    from solvers.method import method

    @method(problems=["latency"], source="Topcuoglu et al. 2002")
    def heft(instance, context, *, insertion: bool = True):
        ...
"""

from __future__ import annotations

import inspect
import math
import re
import time
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

import numpy as np

from problems.answer import Answer
from problems.instance import Instance
from problems.rules import RULES, is_mixture

Claim = Literal["optimal", "feasible", "infeasible", "bound"]
OptionValue = bool | int | float | str
_KINDS = {bool: "true or false", int: "a whole number", float: "a number"}
_NAME = re.compile(r"[a-z0-9][a-z0-9-]*(@[a-z0-9][a-z0-9-]*)?")


class Unsupported(ValueError):  # noqa: N818 - a statement about an instance, not a failure
    """The method cannot take this instance; the message says which rule or size it lacks."""


@dataclass
class Context:
    """What a method is given besides the instance.

    Attributes
    ----------
    rng : numpy.random.Generator
        The only source of randomness that a method may use.
    seed : int
        For solvers that want a number.
    deadline : float
        On :func:`time.monotonic`'s scale, seconds; inf without a limit.
    threads : int
        Threads that the method may use.
    start : Answer or None
        A known answer to improve on.
    bound : float
        A known valid lower bound in seconds.
    on_answer, on_bound, on_claim, on_built : callable
        Where reports go; the default keeps nothing.
    """

    seed: int = 0
    deadline: float = math.inf
    threads: int = 1
    start: Answer | None = None
    bound: float = 0.0
    on_answer: Callable[[Answer], None] = lambda answer: None
    on_bound: Callable[[float], None] = lambda bound: None
    on_claim: Callable[[Claim, float | None, str], None] = lambda claim, objective, note: None
    on_built: Callable[[], None] = lambda: None
    rng: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)

    def time_left(self) -> float:
        """Seconds until the limit; negative after it."""
        return self.deadline - time.monotonic()

    def report(self, answer: Answer) -> None:
        """Hand over an improved answer; the last one handed over within the limit counts."""
        self.on_answer(answer)

    def report_bound(self, bound: float) -> None:
        """Hand over a proved lower bound in seconds."""
        self.on_bound(bound)

    def claim(self, claim: Claim, objective: float | None = None, note: str = "") -> None:
        """Say what the solver says of its result; recorded, never believed."""
        self.on_claim(claim, objective, note)

    def built(self) -> None:
        """Say that the model is built and the solver starts; the first time counts."""
        self.on_built()


Run = Callable[..., Answer | None]


class Range(typing.NamedTuple):
    """Numbers that an option may have: ``gap: Annotated[float, Range(0.0, 1.0)] = 0.0``."""

    low: float
    high: float


Gap = Annotated[float, Range(0.0, 1.0)]
"""Relative gap within which an exact method may stop."""
Gib = Annotated[float, Range(1e-3, 1e6)]
"""Memory that a method may take, in GiB."""


@dataclass(frozen=True)
class Option:
    """One option of a method: its type (bool, int, float, str or a choice), default and range."""

    name: str
    default: OptionValue
    choices: tuple[OptionValue, ...] = ()
    range: Range | None = None

    @property
    def valid(self) -> str:
        """What it may be, in words: ``one of a, b``, ``0 to 1``, ``a whole number``."""
        if self.choices:
            return f"one of {', '.join(map(str, self.choices))}"
        if self.range is not None:
            return f"{self.range.low:g} to {self.range.high:g}"
        return _KINDS.get(type(self.default), "a text")

    def parse(self, text: str) -> OptionValue:
        """Read a value.

        Raises
        ------
        ValueError
            If `text` is not of the option's type or not among its choices.
        """
        value: OptionValue = text
        try:
            if isinstance(self.default, bool):
                value = {"true": True, "1": True, "false": False, "0": False}[text.lower()]
            elif isinstance(self.default, int):
                value = int(text)
            elif isinstance(self.default, float):
                value = float(text)
        except (KeyError, ValueError):
            kind = _KINDS[type(self.default)]
            raise ValueError(f"option {self.name}={text!r} is not {kind}") from None
        if self.choices and value not in self.choices:
            valid = ", ".join(map(str, self.choices))
            raise ValueError(f"option {self.name}={text!r} is not one of {valid}")
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"option {self.name}={text!r} is not finite")
        if self.range is not None and isinstance(value, int | float):
            low, high = self.range
            if not low <= value <= high:
                raise ValueError(f"option {self.name}={text!r} is not in {low:g} to {high:g}")
        return value


@dataclass(frozen=True)
class Method:
    """A registered method.

    Attributes
    ----------
    name : str
        Short and stable: ``heft``, ``prefix@highs``.
    run : callable
        ``run(instance, context, **options)``.
    problems : tuple of str
        Problems that it answers.
    kind : {'exact', 'heuristic'}
        An exact method proves its answer given time.
    source : str
        Publication or "this suite".
    options : mapping of str to Option
        Keyword-only arguments of `run`.
    warm : bool
        Has parts that are compiled or imported at first use: the harness runs it on a tiny instance
        before the clock starts, until nothing new is compiled or imported. Else that time counts.
    needs : tuple of str
        Modules that must be importable, for messages and for ``list``.
    refuses : callable
        Instance -> why it cannot be taken, or None.
    clash : callable
        All options by name -> why they do not go together, or None.
    mixtures : bool
        Takes `throughput` instances with ``replicate: mixture``: answers with several mappings, or
        with one, and then claims and bounds nothing that more of them could refute.
    """

    name: str
    run: Run
    problems: tuple[str, ...]
    kind: Literal["exact", "heuristic"]
    source: str
    options: Mapping[str, Option]
    warm: bool = False
    needs: tuple[str, ...] = ()
    refuses: Callable[[Instance], str | None] = lambda instance: None
    summary: str = ""
    clash: Callable[[Mapping[str, typing.Any]], str | None] = lambda options: None
    mixtures: bool = False

    def refusal(self, instance: Instance) -> str | None:
        """Why this method cannot take the instance; None where it can."""
        if instance.problem not in self.problems:
            return f"{self.name} is for {', '.join(self.problems)}, not {instance.problem}"
        if is_mixture(instance.rules) and not self.mixtures:
            return f"{self.name} does not know `replicate: mixture`"
        return self.refuses(instance)


REGISTRY: dict[str, Method] = {}


def register(entry: Method) -> Method:
    """Add a method.

    Raises
    ------
    ValueError
        If the name is malformed or taken by another function.
    """
    if not _NAME.fullmatch(entry.name):
        raise ValueError(f"method name {entry.name!r}: lower case, digits and dashes only")
    known = REGISTRY.get(entry.name)
    if known is not None and known.run is not entry.run:
        raise ValueError(f"method name {entry.name!r} is taken")
    REGISTRY[entry.name] = entry
    return entry


def method(
    *,
    problems: Sequence[str],
    source: str = "unstated",
    name: str | None = None,
    kind: Literal["exact", "heuristic"] = "heuristic",
    warm: bool = False,
    needs: Sequence[str] = (),
    refuses: Callable[[Instance], str | None] = lambda instance: None,
    clash: Callable[[Mapping[str, typing.Any]], str | None] = lambda options: None,
    mixtures: bool = False,
) -> Callable[[Run], Run]:
    """Register the decorated function; its keyword-only arguments become options.

    Parameters
    ----------
    name : str, optional
        By default the function's name with dashes for underscores.
    warm : bool
        Run it on a tiny instance before the clock starts; for methods that compile, or that import
        inside the function (:class:`Method`).
    clash : callable, optional
        All options by name -> why these values do not go together, or None: a wrong use is said
        before anything runs.

    mixtures : bool, optional
        Takes ``replicate: mixture``, too (:class:`Method`).

    Raises
    ------
    ValueError
        If the name is malformed or taken, a problem is unknown, or an option has no default.
    """
    _check_problems(problems)

    def decorate(run: Run) -> Run:
        register(
            Method(
                name=name or run.__name__.replace("_", "-"),
                run=run,
                problems=tuple(problems),
                kind=kind,
                source=source,
                options=options_of(run),
                warm=warm,
                needs=tuple(needs),
                refuses=refuses,
                clash=clash,
                mixtures=mixtures,
                summary=(inspect.getdoc(run) or "").split("\n")[0],
            )
        )
        return run

    return decorate


def _check_problems(problems: Sequence[str]) -> None:
    valid = ", ".join(RULES)
    if isinstance(problems, str):
        raise ValueError(
            f"problems={problems!r} is a string, not a list: write problems=[{problems!r}]"
            f" (the problems are {valid})"
        )
    if not problems:
        raise ValueError(f"problems is empty; the problems are {valid}")
    for problem in problems:
        if problem not in RULES:
            raise ValueError(f"unknown problem {problem!r}; the problems are {valid}")


def options_of(run: Run) -> dict[str, Option]:
    """The keyword-only arguments of a method as options; ``Literal`` annotations give choices.

    Raises
    ------
    ValueError
        If one has no default, or a default that no text can name.
    """
    hints = typing.get_type_hints(run, include_extras=True)
    result: dict[str, Option] = {}
    for parameter in inspect.signature(run).parameters.values():
        if parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
            continue
        default = parameter.default
        if not isinstance(default, bool | int | float | str):
            raise ValueError(f"option {parameter.name!r} needs a default: bool, int, float or str")
        hint = hints.get(parameter.name)
        limits: Range | None = None
        if typing.get_origin(hint) is Annotated:
            hint, *extra = typing.get_args(hint)
            limits = next((each for each in extra if isinstance(each, Range)), None)
        choices = typing.get_args(hint) if typing.get_origin(hint) is Literal else ()
        result[parameter.name] = Option(parameter.name, default, choices, limits)
    return result
