"""A method whose file cannot be imported in the process of a run; not a test module."""

import os

import numpy as np

from problems.answer import Answer
from solvers.method import method


@method(problems=["throughput", "latency"])
def cannot_be_imported(instance, context):
    return Answer.of(np.zeros(instance.n, int))


if "PLACEBENCH_RUN" in os.environ:
    raise ImportError("no module named gurobi")
