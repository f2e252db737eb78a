"""Simulated annealing from several constructive starts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

import numpy as np

from heuristics.greedy import construct
from heuristics.shared import anneal_calls, anneal_latency, anneal_throughput
from heuristics.shared import rng as rng_
from heuristics.shared import space as space_
from heuristics.shared.best import Best
from heuristics.shared.feasible import baseline
from heuristics.shared.lists import mean_rank, offer_schedule
from heuristics.shared.pieces import in_pieces
from heuristics.shared.space import Space
from problems import latency
from problems.answer import Answer
from problems.instance import Instance
from solvers.method import Context, Range, method

# Rounds without a deadline and without a number of rounds.
ROUNDS = 8
# Moves of the first round for every unit; each round after the starts has twice as many.
EFFORT = 30
# Moves of a round at most: where moves cost nothing, doubling would not end.
MOST = 2**40
# A warm-up on a busy machine might have no time left for any move, and the code would be loaded
# under the clock.
AT_ONCE = 1
Start = Literal["all", "greedy", "heft", "single"]
Heat = Annotated[float, Range(1e-12, 100.0)]


def clash(options: Mapping[str, Any]) -> str | None:
    """Why these options do not go together, or None."""
    if options["cold"] > options["hot"]:
        return f"option cold={options['cold']} is above hot={options['hot']}: a round cools"
    return None


@method(
    problems=["throughput", "latency", "calls", "chips"], source="this suite", warm=True,
    mixtures=True,
    clash=clash,
)  # fmt: skip
def annealing(
    instance: Instance,
    context: Context,
    *,
    cooling: Annotated[float, Range(0.01, 0.99999)] = 0.98,
    hot: Heat = 0.0003,
    cold: Heat = 0.00001,
    rounds: Annotated[int, Range(0, 1_000_000)] = 0,
    start: Start = "all",
) -> Answer | None:
    """Simulated annealing: move, swap and segment moves, evaluated by what they change.

    One short round from every start, then longer and longer ones from the best answer. A round
    cools from `hot` to `cold` (parts of the best objective; 100 times that under `calls`,
    10 times under `chips`) in steps of `cooling`. Without a number of `rounds` it goes on until
    time is up. The clock only cuts the walk: its course depends on the seed alone.
    """
    if not 0 < cooling < 1 or not 0 < cold <= hot:
        raise ValueError("annealing: cooling is within 0..1, and 0 < cold <= hot")
    if instance.problem == "chips":
        from heuristics.chips import entries as chips_  # slow to load: for those who need it

        units, best = chips_.begin(instance, context)
        chips_.annealed(units, context, best, cooling, hot, cold, rounds)
        return best.answer
    best = Best(instance, context)
    space = space_.build(instance)
    baseline(instance, space, context, best)
    found = constructive(instance, space, context, best, start)
    if found:
        anneal(instance, space, context, best, found, cooling, hot, cold, rounds)
    return best.answer


def anneal(
    instance: Instance,
    space: Space,
    context: Context,
    best: Best,
    found: list[Answer],
    cooling: float = 0.98,
    hot: float = 0.0003,
    cold: float = 0.00001,
    rounds: int = 0,
) -> None:
    """Anneal from valid answers, one round each, then from the best one; see :func:`annealing`."""
    if rounds == 0 and context.deadline == math.inf:
        rounds = ROUNDS
    if instance.K == 1 and instance.problem != "calls":
        return  # one device, one objective
    steps = max(1, math.ceil(math.log(cold / hot) / math.log(cooling)))
    go = WALKS[instance.problem](instance, space, best, rng_.seeded(context.rng))
    effort, count = EFFORT * len(space.unit_bytes), 0
    while not best.done() and (rounds == 0 or count < rounds) and best.value > 0:
        first = found[count] if count < len(found) else None
        # From the best answer: a cool round polishes, a hot one walks off; they take turns.
        heat = hot if count < len(found) or count % 2 == 0 else 10 * hot
        if count >= len(found):
            effort = min(2 * effort, MOST)
        go(first, heat * best.value, cooling, steps, max(1, effort // steps))
        count += 1


def constructive(
    instance: Instance, space: Space, context: Context, best: Best, start: Start = "all"
) -> list[Answer]:
    """Different constructive answers, best first; each is offered as well."""
    found = [] if best.answer is None else [best.answer]
    makers: dict[str, Callable[[Best], object]] = {}
    if start in ("all", "greedy"):
        makers["greedy"] = lambda own: construct(instance, space, own)
    if start in ("all", "heft") and instance.problem == "latency":
        makers["heft"] = lambda own: offer_schedule(
            instance, space, own, mean_rank(instance, space)
        )
    for make in makers.values():
        # A quiet context: only what beats the best so far is reported.
        own = Best(instance, Context(seed=context.seed, deadline=context.deadline))
        own.answer = best.answer
        make(own)
        if own.answer is not None and own.value < math.inf:
            best.offer(own.answer)
            found.append(own.answer)
    return found


Walk = Callable[[Answer | None, float, float, int, int], None]


def _throughput_walk(instance: Instance, space: Space, best: Best, stream: np.ndarray) -> Walk:
    run = anneal_throughput.search(space, stream)
    one_of = space.unit_node[space.unit_ptr[:-1]]  # a node of every unit

    def go(first: Answer | None, hot: float, cooling: float, steps: int, step: int) -> None:
        answer = first or best.answer
        assert answer is not None
        anneal_throughput.restart(space, run, answer.device[one_of])

        known = run.energy[1]

        def some(at: int, moves: int) -> None:
            anneal_throughput.anneal(space, run, at, moves, hot, cooling, step)

        def offer() -> None:
            nonlocal known
            if run.energy[1] < known:
                known = run.energy[1]
                best.offer_device(run.best[space.unit])

        in_pieces(steps * step, some, best.done, offer, AT_ONCE)

    return go


def _latency_walk(instance: Instance, space: Space, best: Best, stream: np.ndarray) -> Walk:
    run = anneal_latency.search(space, stream)

    def go(first: Answer | None, hot: float, cooling: float, steps: int, step: int) -> None:
        answer = first or best.answer
        assert answer is not None
        if answer.order is None:
            answer = latency.dispatch(instance, answer.device)
        sequence = latency.sequence_of(instance, answer)
        assert sequence is not None
        anneal_latency.restart(space, run, answer.device, sequence)

        known = run.value[1]

        def some(at: int, moves: int) -> None:
            anneal_latency.anneal(space, run, at, moves, hot, cooling, step)

        def offer() -> None:
            nonlocal known
            if run.value[1] < known:
                known = run.value[1]
                best.offer(anneal_latency.answer(instance, run))

        in_pieces(steps * step, some, best.done, offer, AT_ONCE)

    return go


def _calls_walk(instance: Instance, space: Space, best: Best, stream: np.ndarray) -> Walk:
    arrays = anneal_calls.arrays(instance, best.answer)
    run = anneal_calls.search(arrays, stream)

    def go(first: Answer | None, hot: float, cooling: float, steps: int, step: int) -> None:
        answer = first or best.answer
        assert answer is not None
        # An answer of more calls than the walk has room for: on from where the walk is.
        if not anneal_calls.restart(instance, arrays, run, answer) and run.energy[0] == math.inf:
            return
        hot, known = hot * anneal_calls.HEAT, run.energy[1]

        def some(at: int, moves: int) -> None:
            anneal_calls.anneal(arrays, run, at, moves, hot, cooling, step)

        def offer() -> None:
            nonlocal known
            if run.energy[1] < known:
                known = run.energy[1]
                best.offer(Answer(run.best_device.copy(), slot=run.best_slot.copy()))

        in_pieces(steps * step, some, best.done, offer, AT_ONCE)

    return go


WALKS = {"throughput": _throughput_walk, "latency": _latency_walk, "calls": _calls_walk}
