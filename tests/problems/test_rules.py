import pytest

from problems.files import FileError
from problems.rules import LatencyRules, ThroughputRules, label, parse


def test_defaults_and_values():
    assert parse("throughput", {}) == ThroughputRules()
    given = parse("latency", {"memory": "weights", "colocate_tied": True})
    assert given == LatencyRules(memory="weights", colocate_tied=True)


@pytest.mark.parametrize(
    ("problem", "rules", "message"),
    [
        ("speed", {}, "unknown problem 'speed'; the problems are throughput, latency"),
        (
            "throughput",
            {"overlap": "some"},
            r"'some', not one of none, half, full; .*rules\.overlap",
        ),
        (
            "throughput",
            {"contention": "none"},
            "contention.*throughput has the rules contiguous",
        ),
        ("latency", {"contiguous": True}, "contiguous.*latency has the rules contention"),
        ("throughput", {"contiguous": 1}, "contiguous"),
    ],
)
def test_what_is_refused(problem, rules, message):
    with pytest.raises(FileError, match=f"^here: .*{message}"):
        parse(problem, rules, "here")


def test_labels_show_what_differs():
    assert label(ThroughputRules()) == ""
    rules = ThroughputRules(overlap="full", contiguous=True, memory="ignored")
    assert label(rules) == "contiguous,memory=ignored,overlap=full"
