"""What policies are trained on: nothing held out, and the same for the same seed."""

from heuristics.rl import corpus
from problems.catalogue import Library
from problems.compose.instances import HOLDOUT


def test_nothing_that_is_held_out_is_in_it():
    library = Library()
    names = corpus.captured(library)
    family = {graph.name: graph.family for graph in library.catalogue().graphs}
    held = {family[name] for name in HOLDOUT if name in family}
    assert len(names) >= 15
    assert not held & {family[name] for name in names}
    assert "bert" in held
    assert not any("bert" in name for name in names)


def test_cases_repeat_and_differ():
    library = Library()
    cases = [corpus.case(number, 0, library) for number in range(6)]
    assert len({case.digest for case in cases}) == 6
    assert corpus.case(3, 0, library).digest == cases[3].digest
    assert corpus.case(3, 1, library).digest != cases[3].digest
    assert {case.problem for case in cases} == {"chips"}
