"""`throughput` with ``replicate: mixture``: whole copies, a device each (data parallelism)."""

from __future__ import annotations

import numpy as np

from problems import mixture, throughput
from problems.answer import Answer
from problems.instance import Instance
from problems.rules import is_mixture
from solvers.method import Context, Method, Unsupported, options_of


def copies(instance: Instance, context: Context) -> Answer | None:
    """A copy of the whole graph on every device that runs and holds it, each at its own rate.

    None where no device takes the whole graph.
    """
    reason = refuses(instance)
    if reason is not None:
        raise Unsupported(reason)
    able: list[np.ndarray] = []
    for k in range(instance.K):
        device = np.full(instance.n, k, np.int64)
        if throughput.is_valid(instance, device):
            able.append(device)
    if not able:
        return None
    periods = np.array([throughput.period(instance, device) for device in able])
    if not periods.min() > 0:  # one copy takes no time
        return Answer(able[int(periods.argmin())])
    return mixture.answer_of(instance, able, 1 / periods)


def refuses(instance: Instance) -> str | None:
    """Why the method cannot take the instance, or None."""
    if not is_mixture(instance.rules):
        return "copies are for `replicate: mixture`"
    return None


METHOD = Method(
    name="copies",
    run=copies,
    problems=("throughput",),
    kind="heuristic",
    source="data parallelism, as practitioners do",
    options=options_of(copies),
    warm=True,
    refuses=refuses,
    summary="A copy of the whole graph on every device that holds it",
    mixtures=True,
)
