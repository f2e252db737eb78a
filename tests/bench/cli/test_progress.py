"""Plain progress: what is counted, plan by plan."""

import io

from bench.cli.progress import Plain
from bench.events import Finished, Planned, Run
from tests.bench.synthetic import record


def test_every_plan_is_counted_from_its_own_beginning():
    out = io.StringIO()
    with Plain(out) as shown:
        for count in (3, 2):
            shown(Planned(count, 0, 0, 1.0, 1))
            for index in range(count):
                shown(Finished(Run(index, "a", "greedy", index), record()))
    heads = [line.split("]")[0] for line in out.getvalue().splitlines() if line.startswith("[")]
    assert heads == ["[1/3", "[2/3", "[3/3", "[1/2", "[2/2"]
