"""Throughput, replicated or not: fractional placement that pays for its fractional cuts.

    minimise T
    load of class c <= n_c T, as `overlap` has it, with
    comp_c = sum_g p_c(g) x_gc,  out_c = sum_e send_c(e) out_ce,  in_c = sum_e receive_c(e) in_ce
    out_ce >= x_ac - x_bc,  in_ce >= x_bc - x_ac          net e from group a, every pin b
    sum_g m(g) x_gc <= n_c M_c,  sum_c x_gc = 1,  x >= 0

On staged platforms this is the local polytope: the joint marginals of a and b of least cost put
min(x_ac, x_bc) on both being on c. It holds for any mixture of mappings too (x is then the share of
samples for which g is on c, and every row is a mean of rows that hold), so that it is a bound under
replication, which voids all bounds that reason on whole groups. Devices of a class are one column:
any solution may be spread evenly over them.
"""

from __future__ import annotations

import numpy as np

from problems.bounds.block import hold_no_more, unit_cost
from problems.bounds.linear import Linear
from problems.bounds.nets import Nets, by_phases
from problems.bounds.node_bound import RULES
from problems.bounds.registry import bound
from problems.instance import Instance

# Kinds of devices x (nodes + 2 edges), beyond which the LP takes more than a few seconds.
LARGEST_LP = 30_000


def _refuses(instance: Instance) -> str | None:
    if instance.host.all():
        return "no device pays transfers"
    if len(np.unique(instance.device_class)) * (instance.n + 2 * instance.m) > LARGEST_LP:
        return f"more than {LARGEST_LP} kinds of devices x (nodes + 2 edges)"
    return None


@bound(
    "local-polytope",
    problems=["throughput"],
    rules=[*RULES, "replicate"],  # this one and the load LP alone may name it
    refuses=_refuses,
)
def local_polytope(instance: Instance) -> tuple[float, str]:
    """The LP over fractional placements and their cuts, in seconds."""
    return by_phases(instance, lambda nets, _: local(nets), 0.0)


def local(nets: Nets) -> tuple[float, str]:
    """The bound of some phases' costs, in seconds, and a note."""
    unit = nets.work[0]
    if unit <= 0:
        return 0.0, "no work to share"
    model, t, _, _ = program(nets)
    value = model.relaxed(unit_cost(model, t))
    if not value > 1:
        return unit, "the load LP, which the cuts do not raise"
    return unit * value, "dual multipliers of the LP, evaluated anew"


def program(nets: Nets) -> tuple[Linear, int, np.ndarray, list[np.ndarray]]:
    """The LP in units of the load LP's bound.

    Returns
    -------
    model : Linear
    t : int
        The variable T.
    whole : int64 array, shape (G,)
        The rows that place every group.
    loads : list of int64 arrays
        The other rows of each class.
    """
    G, C = nets.time.shape
    model = Linear()
    t = int(model.variables(1, upper=np.inf)[0])
    x = np.array([model.variables(G) for _ in range(C)])
    whole = model.rows(G, lower=1.0, upper=1.0)
    loads = []
    for c in range(C):
        begin = model.height
        model.add(whole, x[c], 1.0)
        hold_no_more(model, nets, [c], x[c][None], t, [int(nets.count[c])], x[c])
        loads.append(np.arange(begin, model.height))
    return model, t, whole, loads
