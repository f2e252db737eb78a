"""No CP-SAT solver is made without what keeps its proofs sound."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted(
    path for folder in ("problems", "solvers", "heuristics", "bench") for path in
    (ROOT / folder).rglob("*.py")
)  # fmt: skip


def called(tree: ast.AST, name: str) -> int:
    """How often something of that name is called."""
    return sum(
        isinstance(node, ast.Call)
        and name in (getattr(node.func, "attr", None), getattr(node.func, "id", None))
        for node in ast.walk(tree)
    )


def careless(source: str) -> bool:
    """Whether a function makes a solver and leaves it as it is."""
    tree = ast.parse(source)
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
    made = called(tree, "CpSolver")
    kept = sum(called(f, "CpSolver") for f in functions if called(f, "keep_sound"))
    return made > kept


def test_every_solver_is_kept_sound():
    users = [path for path in MODULES if "CpSolver" in path.read_text()]
    assert len(users) >= 6
    assert [str(path.relative_to(ROOT)) for path in users if careless(path.read_text())] == []


@pytest.mark.parametrize(
    ("source", "is_careless"),
    [
        ("def f():\n    s = cp_model.CpSolver()\n    s.solve(m)", True),
        ("def f():\n    s = CpSolver()\n    keep_sound(s.parameters)", False),
        ("s = CpSolver()\ndef f():\n    keep_sound(s.parameters)", True),
    ],
)
def test_what_counts_as_careless(source, is_careless):
    assert careless(source) == is_careless
