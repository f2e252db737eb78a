"""What is said of runs that were not made."""

from __future__ import annotations

from bench.cli import skipped
from tests.bench import harness

NEEDS = f"{harness.MISBEHAVING}:needs-what-is-not-there"


def test_one_line_a_reason():
    told = skipped.lines(
        {
            ("dp", "dp is for throughput, not latency"): 4,
            ("heft", "heft is for latency, not throughput"): 1,
            ("prefix@highs[gap=0.1]", "prefix@highs is for throughput, not latency"): 4,
        }
    )
    assert told == [
        "skipped: 9 runs",
        "  for throughput, not latency: dp, prefix@highs[gap=0.1] (8 runs)",
        "  for latency, not throughput: heft (1 run)",
    ]
    assert skipped.lines({}) == []


def test_what_was_asked_for_by_name_and_lacks_a_package():
    why = "needs-what-is-not-there needs no_such_module_anywhere, which is not installed"
    assert skipped.unavailable(["single", NEEDS]) == [why]
    assert skipped.unavailable(["all", "default", "single"]) == []


def test_it_costs_the_exit_code_and_no_other_run(cli):
    code, out, err = cli("run", "-i", "smoke", "-m", f"single,{NEEDS}", "--time", "1s")
    assert code == 1
    assert "needs-what-is-not-there needs no_such_module_anywhere" in err
    assert "  needs no_such_module_anywhere, which is not installed: needs-what" in out
    assert out.count("] ok ") == 2
    assert cli("run", "-i", "smoke", "-m", "single,heft", "--time", "1s")[0] == 0
