"""The guide of the heuristics says what the registry says.

``python tests/heuristics/test_readme.py`` prints the table that belongs there.
"""

import re
from pathlib import Path

import pytest

from heuristics import catalogue
from solvers import catalogue as solvers

README = Path(catalogue.__file__).with_name("README.md")


def _option(option):
    if option.choices:
        others = [str(each) for each in option.choices if each != option.default]
        return f"`{option.name}={option.default}` ({', '.join(others)})"
    default = "''" if option.default == "" else str(option.default).lower()
    if option.range is not None:
        return f"`{option.name}={default}` ({option.range.low:g} to {option.range.high:g})"
    return f"`{option.name}={default}`"


def names():
    """The entries of this package, and those of `solvers` that are heuristics by kind."""
    others = [each for each in solvers.names() if solvers.load(each).kind == "heuristic"]
    return sorted([*catalogue.names(), *others])


def load(name):
    return (catalogue if name in catalogue.names() else solvers).load(name)


def rows():
    """One row an entry, by name."""
    result = {}
    for name in names():
        entry = load(name)
        options = ", ".join(map(_option, entry.options.values())) or "none"
        cells = [f"`{name}`", ", ".join(entry.problems), entry.source, options]
        result[name] = "| " + " | ".join(cells) + " |"
    return result


@pytest.mark.parametrize("name", names())
def test_the_table_has_the_row_of_every_entry(name):
    assert rows()[name] in README.read_text().splitlines()


def test_every_entry_is_described_once_and_no_other():
    text = README.read_text()
    assert re.findall(r"^\* `([a-z-]+)`: ", text, re.M) == names()
    assert re.findall(r"^\| `([a-z-]+)` \|", text, re.M) == names()
    assert re.findall(r"^- `([a-z-]+)`: ", text, re.M) == names()  # what they cost


if __name__ == "__main__":
    print("\n".join(rows().values()))
