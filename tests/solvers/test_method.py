"""Declaring a method: what is wrong is said where it is written."""

from __future__ import annotations

import pytest

from solvers import method as methods
from solvers.method import Gap, method, options_of


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch):
    monkeypatch.setattr(methods, "REGISTRY", {})


@pytest.mark.parametrize(
    ("problems", "says"),
    [
        ("latency", r"write problems=\['latency'\].*throughput"),
        ([], "is empty.*latency"),
        (["latency", "makespan"], "unknown problem 'makespan'; the problems are .*latency"),
        ([None], "unknown problem None"),
    ],
)
def test_problems_are_a_list_of_known_names(problems, says):
    with pytest.raises(ValueError, match=says):
        method(problems=problems)(lambda instance, context: None)
    assert not methods.REGISTRY


def test_known_problems_are_taken():
    @method(problems=("latency", "throughput"))
    def mine(instance, context):
        return None

    assert methods.REGISTRY["mine"].problems == ("latency", "throughput")


@pytest.mark.parametrize("text", ["-1", "1.5", "nan"])
def test_a_number_out_of_its_range_is_refused_when_it_is_read(text):
    def run(instance, context, *, gap: Gap = 0.0):
        return None

    option = options_of(run)["gap"]
    assert option.parse("0.5") == 0.5
    with pytest.raises(ValueError, match="gap="):
        option.parse(text)
