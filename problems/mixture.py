"""Mixtures: `throughput` with ``replicate: mixture``, samples split over several mappings.

The one definition of the objective. Mapping i takes r_i samples a second; no engine of a device
may be in use for more than all of the time, and a device holds the nodes that any mapping with
r_i > 0 puts there, each once::

    sum_i r_i load_i(e) <= 1                      every engine e of every device
    sum of w(v) + o(v) over the v that some mapping with r_i > 0 puts on k <= memory of k
    minimise 1 / sum_i r_i                        seconds a sample

The engines are the whole device without overlap; computing and the port with ``overlap: half``;
computing, receiving and sending with ``overlap: full``. A mapping without rates takes as many
samples as it can, which makes it what it is under `throughput`. Where a device is used beyond 1 by
no more than rounding, that counts as time.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from problems import throughput
from problems.answer import Answer
from problems.instance import Instance
from problems.rules import is_mixture

USE_TOLERANCE = 1e-9
"""How far rounding may bring the use of an engine above 1."""


def mappings(answer: Answer) -> list[np.ndarray]:
    """All mappings of an answer, each of shape (n,)."""
    return [answer.device, *(answer.others or ())]


def engine_loads(instance: Instance, device: np.ndarray) -> np.ndarray:
    """Seconds a sample of every engine of every device, float64 array of shape (E, K).

    E is 1, 2 or 3 with ``overlap`` none, half or full; the load of a device is the largest of its
    column.
    """
    compute, receive, send = throughput.parts(instance, device).sum(axis=0).T
    overlap = throughput.rules_of(instance).overlap
    engines = {
        "none": [compute + receive + send],
        "half": [compute, receive + send],
        "full": [compute, receive, send],
    }[overlap]
    return np.array(engines)


def memory_use(instance: Instance, held: np.ndarray) -> np.ndarray:
    """Bytes that each device holds, shape (K,).

    Parameters
    ----------
    held : bool array, shape (n, K)
        Whether some mapping in use puts the node on the device.
    """
    use: np.ndarray = _memory_use(
        np.ascontiguousarray(held),
        instance.node_bytes,
        instance.shared_ptr,
        instance.shared_node,
        instance.shared_bytes,
    )
    return use


def held_by(instance: Instance, devices: list[np.ndarray]) -> np.ndarray:
    """Whether some of the mappings puts a node on a device, bool array of shape (n, K)."""
    held = np.zeros((instance.n, instance.K), bool)
    for device in devices:
        held[np.arange(instance.n), device] = True
    return held


def is_valid(instance: Instance, answer: Answer) -> bool:
    """Whether an answer (mappings of shape (n,) into 0..K-1) keeps every rule of the instance."""
    if not is_mixture(instance.rules):
        plain = answer.others is None and answer.rates is None
        return plain and throughput.is_valid(instance, answer.device)
    every = mappings(answer)
    if answer.rates is None:
        return len(every) == 1 and throughput.is_valid(instance, answer.device)
    rates = answer.rates
    if rates.shape != (len(every),) or not np.isfinite(rates).all() or (rates < 0).any():
        return False
    total = sum(rates.tolist())
    if not (total > 0 and math.isfinite(total) and math.isfinite(1 / total)):
        return False
    if not all(_keeps_its_rules(instance, device) for device in every):
        return False
    used = [device for device, rate in zip(every, rates, strict=True) if rate > 0]
    if (memory_use(instance, held_by(instance, used)) > instance.memory).any():
        return False
    return _busiest(instance, every, rates) <= 1 + USE_TOLERANCE


def period(instance: Instance, answer: Answer) -> float:
    """Objective of an answer in seconds a sample."""
    if answer.rates is None:
        return throughput.period(instance, answer.device)
    busiest = _busiest(instance, mappings(answer), answer.rates)
    return max(1.0, busiest) / math.fsum(answer.rates.tolist())


def answer_of(instance: Instance, devices: list[np.ndarray], shares: np.ndarray) -> Answer:
    """The answer that splits samples by `shares`, shape (mappings,), as fast as that can be.

    Mappings without a share are left out; the one with the largest comes first. A single one gets
    no rates: it is as fast as it is.
    """
    order = [int(i) for i in np.argsort(-shares, kind="stable") if shares[i] > 0]
    every = [np.array(devices[i], np.int64) for i in order]
    if len(every) == 1:
        return Answer(every[0])
    some = np.array([shares[i] for i in order], float)
    busiest = _busiest(instance, every, some)
    if busiest == 0.0:  # nothing takes any time
        return Answer(every[0])
    return Answer(every[0], others=tuple(every[1:]), rates=some / busiest)


def _busiest(instance: Instance, devices: list[np.ndarray], rates: np.ndarray) -> float:
    loads = np.array([engine_loads(instance, device) for device in devices])
    return float(np.tensordot(rates, loads, 1).max())


def _keeps_its_rules(instance: Instance, device: np.ndarray) -> bool:
    """Support, colocation and the chain, memory apart."""
    if not np.isfinite(instance.time[np.arange(instance.n), device]).all():
        return False
    leader = np.full(int(instance.group.max()) + 1, -1)
    leader[instance.group[::-1]] = device[::-1]
    if not (leader[instance.group] == device).all():
        return False
    rules = throughput.rules_of(instance)
    return not rules.contiguous or throughput.is_contiguous(instance, device)


@njit(cache=True)
def _memory_use(held, node_bytes, shared_ptr, shared_node, shared_bytes):  # type: ignore[no-untyped-def]
    n, K = held.shape
    use = np.zeros(K)
    for v in range(n):
        for k in range(K):
            if held[v, k]:
                use[k] += node_bytes[v]
    for i in range(shared_bytes.shape[0]):
        for k in range(K):
            for j in range(shared_ptr[i], shared_ptr[i + 1]):
                if held[shared_node[j], k]:
                    use[k] += shared_bytes[i]
                    break
    return use
