"""Solution files in the layouts of their programs; round trips are in tests/bench/cli."""

from __future__ import annotations

import pytest

from problems.files import FileError
from solvers.exchange.solution_file import read

GUROBI = """\
# Solution for model placebench_0123
# Objective value = 2.5e-01
x_0 1
x_1 0
"""
CPLEX = """\
<?xml version = "1.0" encoding="UTF-8" standalone="yes"?>
<CPLEXSolution version="1.2">
 <header problemName="placebench_0123" objectiveValue="0.25" solutionStatusString="optimal"/>
 <quality epInt="1e-05"/>
 <linearConstraints><constraint name="row_0" index="0" slack="0"/></linearConstraints>
 <variables>
  <variable name="x_0" index="0" value="1"/>
  <variable name="x_1" index="1" value="-0"/>
 </variables>
</CPLEXSolution>
"""
GLPK = """\
Problem:    placebench_0123
Rows:       1
Columns:    2 (2 integer, 2 binary)
Non-zeros:  2
Status:     INTEGER OPTIMAL
Objective:  objective = 0.25 (MINimum)

   No.   Row name        Activity     Lower bound   Upper bound
------ ------------    ------------- ------------- -------------
     1 row_0                       1             1             =\x20

   No. Column name       Activity     Lower bound   Upper bound
------ ------------    ------------- ------------- -------------
     1 x_0          *              1             0             1\x20
     2 receive_pin_10_3
                    *              0             0             1\x20

Integer feasibility conditions:

KKT.PE: max.abs.err = 0.00e+00 on row 0
"""
HIGHS = """\
Model status
Optimal

# Primal solution values
Feasible
Objective 0.25
# Columns 2
x_0 1
x_1 0
# Rows 1
row_0 1

# Dual solution values
None
"""
PRETTY = """\
Columns
    Index Status        Lower        Upper       Primal         Dual  Type        Name
        0                   0            1            1               Integer     x_0
        1                   0          inf            0               Continuous  x_1
Rows
    Index Status        Lower        Upper       Primal         Dual  Name
        0                   0            1            1               row_0

Model status: Optimal

Objective value: 0.25
"""
SCIP = """\
solution status: optimal solution found
objective value:                                 0.25
x_0                                                 1 \t(obj:0)
"""
CBC = """\
Optimal - objective value 0.25
      0 x_0                    1                       0
"""
CBC_ALL = """\
Stopped on time - objective value 0.25
      0 row_0                  1                       0
**    0 x_0                    1                       0
      1 x_1                    0                       0
"""


@pytest.mark.parametrize(
    ("text", "source", "names"),
    [
        (GUROBI, "Gurobi", ["x_0", "x_1"]),
        (CPLEX, "CPLEX", ["x_0", "x_1"]),
        (GLPK, "GLPK", ["x_0", "receive_pin_10_3"]),
        (HIGHS, "HiGHS", ["x_0", "x_1"]),
        (PRETTY, "HiGHS", ["x_0", "x_1"]),
        (SCIP, "SCIP", ["x_0"]),
        (CBC, "CBC", ["x_0"]),
        (CBC_ALL, "CBC", ["x_0", "x_1"]),
    ],
)
def test_names_values_and_claim(text, source, names):
    found = read(text, "file")
    assert found.source == source
    assert list(found.values) == names
    assert found.values["x_0"] == 1
    assert sum(found.values.values()) == 1
    assert found.objective == 0.25
    assert found.complete == (source not in ("SCIP", "CBC"))
    if source in ("Gurobi", "CPLEX", "GLPK"):
        assert found.model == "placebench_0123"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not a solution file of HiGHS, SCIP"),
        ("placebench", "not a solution file"),
        (GUROBI.replace("x_1 0", "x_1 nan"), "x_1: nan is not finite"),
        (GUROBI.replace("x_1 0", "x_1 one"), "x_1: 'one' is not a number"),
        (GUROBI.replace("x_1", "x_0"), "x_0 has two values"),
        (GUROBI.replace("x_1 0", "x_1"), "x_1: '' is not a number"),
        (CPLEX.replace('value="1"', 'value="inf"'), "x_0: inf is not finite"),
        (CPLEX[:300], "file: "),
        (HIGHS.replace("# Columns 2", "# Columns 5"), "not a name and a value"),
        ("\n".join(HIGHS.splitlines()[:5]), "not a solution file"),
        (CBC.replace("0.25", "x"), "objective value: 'x'"),
        ("Infeasible - objective value 0\n", "holds no solution: Infeasible"),
        (
            "Stopped on time (no integer solution - continuous used) - objective value 1\n",
            "holds no solution",
        ),
        ("solution status: infeasible\nno solution available\n", "holds no solution"),
        ("# Objective value = 1\n", "holds no solution"),
    ],
)
def test_what_is_wrong_is_said(text, says):
    with pytest.raises(FileError, match="file: ") as error:
        read(text, "file")
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("text", "loose"),
    [
        (CPLEX, ("optimal", "feasible")),
        (GLPK, ("INTEGER OPTIMAL", "INTEGER NON-OPTIMAL")),
        (HIGHS, ("Optimal", "Time limit reached")),
        (PRETTY, ("Optimal", "Time limit reached")),
        (SCIP, ("optimal solution found", "time limit reached")),
        (CBC, ("Optimal", "Stopped on time")),
    ],
)
def test_what_is_said_to_be_optimal(text, loose):
    assert read(text, "file").optimal
    assert not read(text.replace(*loose), "file").optimal
    assert not read(GUROBI, "file").optimal
