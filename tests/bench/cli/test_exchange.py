"""Export, solve elsewhere, import: with every open solver at hand."""

from __future__ import annotations

import json
import re
import subprocess
from functools import cache

import pytest

from bench import bks
from problems.catalogue import Library
from problems.cp_sat import keep_sound
from solvers.catalogue import load
from solvers.method import Context

CHAIN = "random1-8-t:operator/platform-random1-8-t/throughput[contiguous]"
LATENCY = "random1-8-l:operator/platform-random1-8-l/latency"


@cache
def optimum(library, instance, method):
    found = []
    context = Context(on_claim=lambda claim, objective, note: found.append((claim, objective)))
    load(method).run(library.load(instance), context)
    ((claim, objective),) = found
    assert claim == "optimal"
    return objective


def highs(model, style):
    import highspy

    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.readModel(model)
    solver.run()
    solver.writeSolution("out.sol", style)
    return "out.sol"


def scip(model):
    import pyscipopt

    solver = pyscipopt.Model()
    solver.hideOutput()
    solver.readProblem(model)
    solver.optimize()
    solver.writeBestSol("out.sol")
    return "out.sol"


def cbc(model, *more):
    pulp = pytest.importorskip("pulp", reason="needs the extra cbc")
    program = pulp.PULP_CBC_CMD.pulp_cbc_path
    command = [program, model, *more, "-solve", "-solution", "out.sol"]
    subprocess.run(command, check=True, capture_output=True, timeout=100)
    return "out.sol"


def cp_sat(model, binary=True):
    from google.protobuf import text_format
    from ortools.sat import cp_model_pb2
    from ortools.sat.python import cp_model

    program = cp_model.CpModel()
    if binary:
        proto = cp_model_pb2.CpModelProto()
        with open(model, "rb") as file:
            proto.ParseFromString(file.read())
        program.proto.parse_text_format(text_format.MessageToString(proto))
    else:
        with open(model) as file:
            program.proto.parse_text_format(file.read())
    solver = cp_model.CpSolver()
    keep_sound(solver.parameters)
    assert solver.solve(program) == cp_model.OPTIMAL
    name = "out.pb" if binary else "out.pbtxt"
    response = text_format.Parse(str(solver.response_proto), cp_model_pb2.CpSolverResponse())
    with open(name, "wb") as file:
        file.write(response.SerializeToString() if binary else str(solver.response_proto).encode())
    return name


RUNS = [
    ("mps", lambda m: highs(m, 0)),
    ("mps", lambda m: highs(m, 1)),
    ("lp", lambda m: highs(m, 0)),
    ("mps", scip),
    ("lp", scip),
    ("mps", cbc),
    ("mps", lambda m: cbc(m, "-printingOptions", "all")),
    ("lp", cbc),
]


@pytest.mark.parametrize(("kind", "solve"), RUNS)
def test_the_way_there_and_back_gives_the_optimum(cli, library, kind, solve):
    best = optimum(library, CHAIN, "prefix@highs")
    code, out, err = cli("export", kind, CHAIN, "-o", f"model.{kind}")
    assert code == 0, err
    assert "prefix, objective in" in out
    found = solve(f"model.{kind}")
    for which in (["--instance", CHAIN], ["--model", f"model.{kind}"]):
        code, out, err = cli("import", "solution", found, *which, "-o", "answer.json")
        assert code == 0, err
        assert "the checker agrees" in out
    code, out, _ = cli("check", "answer.json", "--json")
    assert json.loads(out)["objective_s"] == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize(("instance", "method"), [(CHAIN, "stages"), (LATENCY, "intervals")])
def test_the_way_of_protos(cli, library, instance, method, text):
    best = optimum(library, instance, method)
    model = f"model.{'pbtxt' if text else 'pb'}"
    code, _, err = cli("export", "proto", instance, "-o", model, *(["--text"] if text else []))
    assert code == 0, err
    found = cp_sat(model, binary=not text)
    code, out, err = cli("import", "solution", found, "--model", model, "-o", "answer.json")
    assert code == 0, err
    assert err == ""
    assert "the checker agrees" in out
    code, out, _ = cli("check", "answer.json", "--json")
    assert json.loads(out)["objective_s"] == pytest.approx(best, rel=1e-6)


def test_a_selection_goes_to_a_folder_with_a_manifest(cli, library):
    code, out, err = cli("export", "mps", "default", "--folder", "models", "--no-symmetry")
    assert code == 0, err
    with open("models/manifest.json") as file:
        told = json.load(file)["models"]
    assert len(told) == len(out.splitlines()) >= 3
    for each in told:
        instance = Library(library.root).load(each["model"]["instance"])
        assert each["model"]["digest"] == instance.digest
        assert each["model"]["symmetry"] is False
    first = f"models/{told[0]['file']}"
    found = highs(first, 0)
    code, out, err = cli("import", "solution", found, "--model", first, "-o", "answer.json")
    assert code == 0, err
    assert "the checker agrees" in out


@pytest.mark.parametrize(
    ("change", "known", "says"),
    [
        ({}, None, None),
        ({"Objective": "0.001"}, None, "the answer takes 12."),
        # An objective above the answer's is poor bookkeeping, unless it is said to be optimal.
        ({"Objective": "2.0"}, None, "said to be optimal, but the answer itself takes 12."),
        ({"Objective": "2.0", "Optimal": "Time limit reached"}, None, None),
        ({}, 12.5, "said to be optimal, but the best known answer (elsewhere) takes 12.5 s"),
        ({"Optimal": "Time limit reached"}, 12.5, None),
    ],
)
def test_a_false_claim_is_a_failure(cli, library, change, known, says):
    cli("export", "mps", CHAIN, "-o", "model.mps")
    highs("model.mps", 0)
    with open("out.sol") as file:
        lines = file.read().splitlines()
    for i, line in enumerate(lines):
        word = line.split(" ")[0]
        if word in change:
            lines[i] = f"Objective {change[word]}" if word == "Objective" else change[word]
    with open("out.sol", "w") as file:
        file.write("\n".join(lines))
    if known is not None:
        digest = library.load(CHAIN).digest
        claim = bks.Claim("answer", known, "elsewhere", verified_by="checker")
        bks.save({digest: bks.Claims("placebench-claims/1", digest, CHAIN, [claim])})
    code, out, _ = cli("import", "solution", "out.sol", "--instance", CHAIN, "-o", "a.json")
    assert code == (says is not None)
    assert ("% off" in out) == ("Objective" in change)
    assert ("false claim" in out) == (says is not None)
    assert (says or "claims") in out


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda text: text.replace("y_0_0 ", "q_0_0 "), "q_0_0 is in no row and column"),
        (lambda text: text.replace("y_0_0 ", "place_0_0 "), "y_0_0 has no value"),
        (lambda text: text.replace("y_0_0 1", "y_0_0 nan"), "y_0_0: nan is not finite"),
        (lambda text: "nothing\n", "not a solution file of"),
    ],
)
def test_what_cannot_be_read_is_refused(cli, change, says):
    cli("export", "mps", CHAIN, "-o", "model.mps")
    highs("model.mps", 0)
    with open("out.sol") as file:
        text = file.read().replace("y_0_0 0", "y_0_0 1")
    with open("out.sol", "w") as file:
        file.write(change(text))
    code, _, err = cli("import", "solution", "out.sol", "--instance", CHAIN, "-o", "a.json")
    assert code == 2
    assert says in err


def test_an_empty_file_is_refused_before_a_model_is_built(cli, monkeypatch):
    def built(*_, **__):
        raise AssertionError("for nothing")

    for each in ("neutral", "native"):
        monkeypatch.setattr(f"solvers.exchange.build.{each}", built)
    for name, says in [("out.sol", "not a solution file of"), ("out.pb", "holds no solution")]:
        open(name, "w").close()
        code, _, err = cli("import", "solution", name, "--instance", CHAIN, "-o", "a.json")
        assert (code, says in err) == (2, True), err


def test_what_does_not_belong_together_is_refused(cli):
    cli("export", "mps", CHAIN, "-o", "model.mps")
    highs("model.mps", 0)
    with open("model.mps") as file:
        text = re.sub(r"unit_s: .*", "unit_s: nan", file.read())
    for path, content in [("nan.mps", text), ("nothing.pb", "?"), ("response.pbtxt", "status: 4")]:
        with open(path, "w") as file:
            file.write(content)
    other = CHAIN.replace("random1", "random0")
    for arguments, says in [
        (["--model", "model.mps", "--instance", other], "was exported from the instance"),
        ([], "say which instance"),
        (["--instance", CHAIN, "--formulation", "best"], "no formulation 'best'; there are"),
        (["--instance", LATENCY, "--formulation", "prefix"], "prefix is for throughput"),
        (["--model", "out.sol"], "nothing says placebench-model/1"),
        (["--model", "model.mps", "--formulation", "assign"], "of the formulation prefix"),
        (["--model", "model.mps", "--no-symmetry"], "was exported with --symmetry"),
        (["--model", "nan.mps"], "nan.mps: unit_s: nan is not above 0"),
        (["--model", "nothing.pb"], "nothing says placebench-model/1"),
        (["--model", "response.pbtxt"], "nothing says placebench-model/1"),
    ]:
        code, _, err = cli("import", "solution", "out.sol", "-o", "a.json", *arguments)
        assert (code, says in err) == (2, True), (arguments, err)
    with open("gurobi.sol", "w") as file:
        file.write("# Solution for model placebench_0000000000000000\nx 1\n")
    code, _, err = cli("import", "solution", "gurobi.sol", "-o", "a.json", "--instance", CHAIN)
    assert code == 2
    assert "is of the model placebench_0000000000000000" in err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["mps", CHAIN], "give -o FILE"),
        (["mps", "default", "-o", "m.mps"], "give --folder"),
        (["mps", CHAIN, "-o", "m.lp"], "must end in .mps"),
        (["lp", CHAIN, "-o", "m.lp", "--formulation", "assign"], "is for prefix"),
        (["proto", CHAIN, "-o", "m.pb", "--formulation", "prefix"], "there are hops, intervals"),
    ],
)
def test_exports_that_cannot_be(cli, arguments, says):
    code, _, err = cli("export", *arguments)
    assert code == 2
    assert says in err
