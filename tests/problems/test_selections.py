"""Named selections keep the splits apart."""

from __future__ import annotations

import pytest

from problems.files import FileError
from problems.instance import InstanceSpec
from problems.selections import check, derived

SPECS = [
    InstanceSpec("a", "p", "latency"),
    InstanceSpec("b", "p", "throughput"),
    InstanceSpec("c", "p", "latency", split="holdout"),
    InstanceSpec("d", "p", "latency"),
]
A, B, C, D = (spec.id for spec in SPECS)


def test_derived_selections() -> None:
    assert derived(SPECS, {"smoke": [D, A], "empty": [], "throughput": [B]}) == {
        "smoke": [A, D],
        "full": [A, B, D],
        "latency": [A, D],
        "throughput": [B],
        "holdout": [C],
    }


def test_selections_are_listed_in_their_usual_order() -> None:
    assert list(derived(SPECS, {"mine": [A], "scaling": [B], "default": [A]})) == [
        "default", "full", "latency", "throughput", "scaling", "holdout", "mine",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("selections", "message"),
    [
        ({"smoke": [A, C]}, "of the split holdout; .* in no other - at `\\$.selections.smoke`"),
        ({"full": [A, B, C, D]}, "of the split holdout"),
        ({"holdout": [C, A]}, "of the split public"),
        ({"smoke": ["e"]}, "no instance 'e'"),
        ({"smoke": [A, A]}, "listed twice"),
        ({"smoke": []}, "empty"),
    ],
)
def test_wrong_selections_are_refused(selections, message) -> None:
    with pytest.raises(FileError, match=message):
        check(SPECS, selections)


def test_an_instance_is_in_the_index_once() -> None:
    with pytest.raises(FileError, match=r"listed twice - at `\$\.instances`"):
        check([*SPECS, SPECS[0]], {})
