"""SAMPLE and FIX against the definition of the rules, enumerated on tiny graphs."""

import itertools
import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from problems.compiled import REHEARSAL
from solvers.repair import modes, partition, search
from solvers.repair.cuts import any_valid
from solvers.repair.modes import Repair
from solvers.repair.problem import build
from solvers.repair.reference import complete, complete_steps
from solvers.repair.valid import is_valid
from solvers.rng import seeded


class Tiny:
    """A graph, and by the words of the rules which partitions are valid."""

    def __init__(self, n, edges, chips, node_bytes, capacity, reads=(), shared=()):
        self.n, self.edges, self.chips, self.capacity = n, edges, chips, capacity
        self.bytes, self.reads, self.shared = node_bytes, reads, shared
        self.problem = build(n, edges, chips, node_bytes, capacity, reads, shared)
        self.partitions = set(itertools.product(range(chips), repeat=n))
        self.valid = {f for f in self.partitions if self.keeps_all(f)}

    def keeps_all(self, f):
        if any(f[u] > f[v] for u, v in self.edges):
            return False  # C1
        if set(f) != set(range(max(f) + 1)):
            return False  # C2
        quotient = {(f[u], f[v]) for u, v in self.edges if f[u] != f[v]}

        def longest(a, b):
            if a == b:
                return 0
            return max((1 + longest(y, b) for x, y in quotient if x == a), default=-math.inf)

        if any(longest(a, b) > 1 for a, b in quotient):
            return False  # C3
        for c in range(self.chips):  # C4
            held = sum(self.bytes[v] for v in range(self.n) if f[v] == c)
            held += sum(self.shared[w] for w in {w for v, w in self.reads if f[v] == c})
            if held > self.capacity[c]:
                return False
        return True


def tiny(seed):
    rng = np.random.default_rng(seed)
    n, chips = int(rng.integers(1, 7)), int(rng.integers(1, 5))
    density, tight = rng.choice([0.2, 0.4, 0.7]), rng.choice([0.4, 0.6, 0.8, 2.0])
    edges = [(u, v) for u in range(n) for v in range(u + 1, n) if rng.random() < density]
    node_bytes, shared = rng.integers(0, 10, n), rng.integers(1, 10, 2)
    reads = [(v, w) for v in range(n) for w in range(2) if rng.random() < 0.2]
    total = int(node_bytes.sum()) + int(shared.sum())
    capacity = np.floor(total * tight * rng.uniform(0.7, 1.3, chips)) + 1
    return Tiny(n, edges, chips, node_bytes, capacity, reads, shared)


@pytest.fixture(scope="module")
def graphs():
    return [tiny(seed) for seed in range(60)]


def steps_by_one(case, f):
    return all(f[v] - f[u] <= 1 for u, v in case.edges)


def few(graphs):
    """Those of at most 40 valid partitions: all of them are drawn soon."""
    return [case for case in graphs if len(case.valid) <= 40]


def drawn(repair, case, count, stream, rng):
    """What `count` samples give; None among them where one found nothing."""
    uniform = np.ones((case.n, case.chips))
    found = set()
    for _ in range(count):
        got = repair.sample(uniform, rng.permutation(case.n), stream)
        found.add(None if got is None else tuple(got.chip.tolist()))
    return found


def test_the_cases_are_mixed(graphs):
    assert sum(not each.valid for each in graphs) >= 5
    skipping = [f for each in graphs for f in each.valid if not steps_by_one(each, f)]
    assert len(skipping) >= 20, "some valid partitions are none of the difference system"
    assert sum(len(each.valid) > 10 for each in graphs) >= 15


def test_sample_reaches_every_valid_partition_and_no_other(graphs):
    rng = np.random.default_rng(0)
    stream = seeded(rng)
    for case in few(graphs):
        repair = Repair(case.problem)
        found = drawn(repair, case, 30 * max(1, len(case.valid)), stream, rng)
        assert found == (case.valid or {None})
        assert repair.none == (not case.valid)


def test_the_difference_system_reaches_all_steps_of_one_and_no_other(graphs):
    rng = np.random.default_rng(1)
    stream = seeded(rng)
    for case in few(graphs):
        steps = {f for f in case.valid if steps_by_one(case, f)}
        repair = Repair(case.problem, "difference")
        found = drawn(repair, case, 30 * max(1, len(steps)), stream, rng)
        assert found == (steps or {None})


def test_fix_leaves_a_valid_partition_alone(graphs):
    rng = np.random.default_rng(2)
    stream = seeded(rng)
    for case in graphs:
        repair = Repair(case.problem)
        for f in case.valid:
            got = repair.fix(np.array(f), rng.permutation(case.n), stream)
            assert (tuple(got.chip.tolist()), got.by, got.attempt) == (f, "search", 0)


def test_fix_keeps_the_first_node_where_any_valid_partition_does(graphs):
    rng = np.random.default_rng(3)
    stream = seeded(rng)
    for case in graphs:
        repair = Repair(case.problem)
        for _ in range(10):
            wish, order = rng.integers(0, case.chips, case.n), rng.permutation(case.n)
            got = repair.fix(wish, order, stream)
            assert (got is None) == (not case.valid)
            if got is not None:
                assert tuple(got.chip.tolist()) in case.valid
                first = order[0]
                possible = any(f[first] == wish[first] for f in case.valid)
                assert (got.chip[first] == wish[first]) == possible


def test_the_compiled_definition_is_the_definition(graphs):
    for case in graphs:
        for f in case.partitions:
            assert is_valid(case.problem, np.array(f)) == (f in case.valid)


def test_cuts_are_valid_where_they_are_found(graphs):
    found = [(case, any_valid(case.problem)) for case in graphs]
    assert all(f is None or tuple(f.tolist()) in case.valid for case, f in found)
    assert sum(f is not None for _, f in found) >= 0.8 * sum(bool(c.valid) for c in graphs)


def test_forbidden_chips_are_not_used(graphs):
    rng = np.random.default_rng(4)
    stream = seeded(rng)
    for case in few(graphs):
        allowed = rng.random((case.n, case.chips)) < 0.7
        valid = {f for f in case.valid if all(allowed[v, f[v]] for v in range(case.n))}
        repair = Repair(case.problem, allowed=allowed)
        assert drawn(repair, case, 30 * max(1, len(valid)), stream, rng) == (valid or {None})
        likely = np.where(allowed, rng.uniform(0.5, 1, allowed.shape), 0.0)
        got = Repair(case.problem).sample(likely, np.arange(case.n), stream)
        assert (got is None) == (not valid)
        assert got is None or tuple(got.chip.tolist()) in valid


def test_probabilities_are_followed():
    """A free node is drawn as often as its probabilities say."""
    repair = Repair(build(2, [], 2))
    stream = seeded(np.random.default_rng(5))
    likely = np.array([[1.0, 0.0], [0.2, 0.8]])
    ones = [repair.sample(likely, np.arange(2), stream).chip[1] for _ in range(2_000)]
    assert 0.75 < np.mean(ones) < 0.85


@st.composite
def graph_and_wish(draw):
    n, chips = draw(st.integers(1, 40)), draw(st.integers(1, 12))
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
    edges = [(min(e), max(e)) for e in draw(st.lists(pairs, max_size=80)) if e[0] != e[1]]
    node_bytes = draw(st.lists(st.integers(0, 9), min_size=n, max_size=n))
    room = draw(st.integers(0, 3 * sum(node_bytes) // chips + 9))
    wish = draw(st.lists(st.integers(0, chips - 1), min_size=n, max_size=n))
    return build(n, edges, chips, node_bytes, [room] * chips), np.array(wish)


@given(graph_and_wish(), st.sampled_from(["exact", "difference"]), st.integers(0, 2**32))
@settings(max_examples=150, deadline=None)
def test_what_comes_back_is_valid_whatever_the_graph(given_, rule, seed):
    problem, wish = given_
    rng = np.random.default_rng(seed)
    stream, n = seeded(rng), len(wish)
    repair = Repair(problem, rule)
    soon = time.monotonic() + 0.5
    kept = repair.fix(wish, rng.permutation(n), stream, soon)
    sampled = repair.sample(rng.random((n, problem.chips)), rng.permutation(n), stream, soon)
    assert kept is None or is_valid(problem, kept.chip)
    assert sampled is None or is_valid(problem, sampled.chip)
    if is_valid(problem, np.zeros(n, np.int64)):
        assert kept is not None
        assert sampled is not None
    if repair.rule == "exact" and is_valid(problem, wish):
        np.testing.assert_array_equal(kept.chip, wish)


def test_a_repair_ends_at_its_deadline():
    """Bytes that fit nowhere together: the search alone would go on and on."""
    rng = np.random.default_rng(6)
    n, chips = 2_000, 36
    edges = [(max(0, v - int(rng.integers(1, 9))), v) for v in range(1, n)]
    held = rng.integers(500, 1_000, n)
    room = np.full(chips, held.sum() / chips * 1.0001)
    repair = Repair(build(n, edges, chips, held, room))
    stream, order = seeded(rng), rng.permutation(n)
    repair.sample(np.ones((n, chips)), order, stream, time.monotonic())  # compiled before the clock
    begin = time.monotonic()
    got = repair.sample(np.ones((n, chips)), order, stream, begin + 0.05)
    assert time.monotonic() - begin < 3
    assert got is None or is_valid(repair.problem, got.chip)


def test_same_seed_same_sample(graphs):
    case = max(graphs, key=lambda each: len(each.valid))
    found = []
    for _ in range(2):
        stream, repair = seeded(np.random.default_rng(7)), Repair(case.problem)
        likely = np.ones((case.n, case.chips))
        found.append([repair.sample(likely, np.arange(case.n), stream).chip for _ in range(5)])
    np.testing.assert_array_equal(*found)
    assert len(np.unique(found[0], axis=0)) > 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, [], 2), "nodes=0: at least 1"),
        ((2, [], 63), "chips=63: 1 to 62"),
        ((2, [(1, 0)], 2), "0 <= u < v < 2"),
        ((2, [], 2, [1]), r"node_bytes of shape \(1,\)"),
        ((2, [], 2, [1, 1], [9, 9], [(0, 1)], [4]), "a weight below 1"),
    ],
)
def test_what_is_no_problem_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        build(*arguments)


def test_arguments_that_do_not_fit_are_refused():
    repair, stream = Repair(build(2, [(0, 1)], 2)), seeded(np.random.default_rng(0))
    with pytest.raises(ValueError, match="rule='loose' is not one of exact, difference"):
        Repair(repair.problem, "loose")
    with pytest.raises(ValueError, match="a permutation of 0"):
        repair.sample(np.ones((2, 2)), np.array([0, 0]), stream)
    with pytest.raises(ValueError, match="finite numbers of 0 or more"):
        repair.sample(np.full((2, 2), -1.0), np.arange(2), stream)
    with pytest.raises(ValueError, match=r"chips 0..1"):
        repair.fix(np.array([0, 2]), np.arange(2), stream)
    with pytest.raises(ValueError, match=r"allowed: shape \(1, 2\)"):
        Repair(repair.problem, allowed=np.ones((1, 2), bool))


def short_of_memory(seed, n=300, chips=12, slack=1.25):
    rng = np.random.default_rng(seed)
    edges = [(max(0, v - int(rng.integers(1, 7))), v) for v in range(1, n)]
    held = rng.integers(1, 100, n)
    return build(n, edges, chips, held, np.full(chips, slack * held.sum() / chips)), rng


def test_where_memory_is_short_sweeps_lead_from_cuts_towards_what_is_asked():
    problem, rng = short_of_memory(0)
    n, repair, stream = 300, Repair(problem), seeded(rng)
    start = repair.fallback
    assert is_valid(problem, start)
    for seed in range(5):
        wish = np.random.default_rng(seed).integers(0, problem.chips, n)
        got = repair.fix(wish, rng.permutation(n), stream)
        assert got.by == "sweeps"
        assert is_valid(problem, got.chip)
        assert np.abs(got.chip - wish).sum() < np.abs(start - wish).sum()
        assert (np.abs(got.chip - wish) <= np.abs(start - wish)).all(), "no node moves away"
    likely = np.full((n, problem.chips), 1e-9)
    likely[:, ::2] = 1.0
    got = repair.sample(likely, rng.permutation(n), stream)
    assert got.by == "sweeps"
    assert (got.chip % 2 == 0).sum() > (start % 2 == 0).sum()


def test_a_partition_counts_what_it_would_count_anew():
    problem, rng = short_of_memory(1, n=40, chips=5, slack=3.0)
    kept, anew = partition.empty(problem), partition.empty(problem)
    place = any_valid(problem)
    partition.settle(problem, kept, place)
    for _ in range(200):
        v, chip = int(rng.integers(40)), int(rng.integers(5))
        before = kept.place[v]
        partition.shift(problem, kept, v, chip)
        if (np.diff(kept.place[np.array(edges_of(problem))], axis=1) < 0).any():
            partition.shift(problem, kept, v, before)
            continue
        partition.settle(problem, anew, kept.place)
        for name in ("place", "held", "use", "readers", "edges", "feeds"):
            np.testing.assert_array_equal(getattr(kept, name), getattr(anew, name))
        assert partition.keeps(problem, kept) == is_valid(problem, kept.place)


def edges_of(problem):
    rows = np.repeat(np.arange(len(problem.bytes)), np.diff(problem.succ_ptr))
    return np.stack([rows, problem.succ], axis=1)


def test_the_reference_finds_the_largest_worth_of_all_valid_partitions(graphs):
    rng = np.random.default_rng(8)
    for case in graphs[::3]:
        worth = rng.uniform(0, 1, (case.n, case.chips)).round(3)
        found = complete(case.problem, worth)
        assert (found is None) == (not case.valid)
        if found is not None:
            assert tuple(found.tolist()) in case.valid
            best = max(sum(worth[v, f[v]] for v in range(case.n)) for f in case.valid)
            assert worth[np.arange(case.n), found].sum() == pytest.approx(best)


def odd(kind):
    """Problems at the edges: (problem, whether there is any valid partition)."""
    chain = [(v, v + 1) for v in range(1_999)]
    return {
        "one node": (build(1, [], 36, [5], [5] * 36), True),
        "one node too large": (build(1, [], 36, [5], [4] * 36), False),
        "one chip": (build(50, chain[:49], 1, [1] * 50, [50]), True),
        "one chip too small": (build(50, chain[:49], 1, [1] * 50, [49]), False),
        "no edges": (build(400, [], 36), True),
        "no edges, exactly full": (build(36, [], 36, [7] * 36, [7] * 36), True),
        "two parts": (build(2_000, [e for e in chain if e[0] != 999], 36), True),
        "long chain": (build(2_000, chain, 62), True),
        "long chain, nothing fits": (build(2_000, chain, 36, [1] * 2_000, [10] * 36), False),
        "first chip too small": (build(4, chain[:3], 3, [2] * 4, [1, 9, 9]), False),
        "all weights shared": (
            build(9, chain[:8], 3, [0] * 9, [5] * 3, [(v, 0) for v in range(9)], [5]), True,
        ),
        "complete": (build(40, [(u, v) for u in range(40) for v in range(u + 1, 40)], 36), True),
    }[kind]  # fmt: skip


ODD = (
    "one node", "one node too large", "one chip", "one chip too small", "no edges",
    "no edges, exactly full", "two parts", "long chain", "long chain, nothing fits",
    "first chip too small", "all weights shared", "complete",
)  # fmt: skip


@pytest.mark.parametrize("rule", ["exact", "difference"])
@pytest.mark.parametrize("kind", ODD)
def test_at_the_edges_repairs_are_valid_and_end(kind, rule):
    problem, some = odd(kind)
    n, C = len(problem.bytes), problem.chips
    rng = np.random.default_rng(11)
    stream, repair = seeded(rng), Repair(problem, rule)
    repair.sample(np.ones((n, C)), np.arange(n), stream, time.monotonic() + 0.1)  # compiled
    for _ in range(3):
        for share in (0.0, 0.05):  # a limit that is over at the start, too
            begin = time.thread_time()
            until = time.monotonic() + share
            got = repair.sample(rng.random((n, C)), rng.permutation(n), stream, until)
            kept = repair.fix(rng.integers(0, C, n), rng.permutation(n), stream, until)
            assert time.thread_time() - begin < 2 * share + 1.0
            for each in (got, kept):
                assert each is None or is_valid(problem, each.chip)
                assert some or each is None
    if not some:
        assert repair.fallback is None
    else:
        assert repair.sample(np.ones((n, C)), rng.permutation(n), stream) is not None


@given(graph_and_wish(), st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_many_repairs_by_one_object_stay_valid(given_, seed):
    """What earlier calls leave behind (attempts left out, tables, counts) harms no later one."""
    problem, wish = given_
    n, rng = len(wish), np.random.default_rng(seed)
    stream, repair = seeded(rng), Repair(problem)
    soon = time.monotonic() + 1.0
    for _ in range(20):
        got = repair.sample(rng.random((n, problem.chips)), rng.permutation(n), stream, soon)
        kept = repair.fix(rng.integers(0, problem.chips, n), rng.permutation(n), stream, soon)
        assert got is None or is_valid(problem, got.chip)
        assert kept is None or is_valid(problem, kept.chip)
        if got is not None:
            again = repair.fix(got.chip, rng.permutation(n), stream, soon)
            np.testing.assert_array_equal(again.chip, got.chip)


def test_attempts_that_come_to_nothing_are_left_out_for_a_while():
    rng = np.random.default_rng(12)
    n = 600
    edges = [(max(0, v - int(rng.integers(1, 5))), v) for v in range(1, n)]
    edges += [(max(0, v - int(rng.integers(1, 13))), v) for v in range(2, n, 2)]
    repair, stream = Repair(build(n, [e for e in edges if e[0] < e[1]], 36)), seeded(rng)
    attempts = []
    for _ in range(2 * modes.RETRY):
        got = repair.sample(np.ones((n, 36)), rng.permutation(n), stream)
        assert got.by == "search"
        attempts.append((got.attempt, repair.made))
    assert max(attempt for attempt, _ in attempts) > 0, "too large for the loosest attempts"
    for call, (attempt, made) in enumerate(attempts):
        before = 0 if call % modes.RETRY == 0 else attempts[call - 1][0]
        assert made == attempt + 1 - before, "from where the last call came to"


@pytest.mark.parametrize(("nodes", "calls"), [(REHEARSAL, True), (REHEARSAL + 1, False)])
def test_on_tiny_problems_all_compiled_parts_run_at_once(nodes, calls, monkeypatch):
    called = set()
    for module, name in ((search, "run"), (partition, "sweep"), (partition, "settle")):
        whole = getattr(module, name)

        def record(*given, whole=whole, name=name):
            called.add(name)
            return whole(*given)

        monkeypatch.setattr(module, name, record)
    repair = Repair(build(nodes, [], 2))
    assert called == ({"run", "sweep", "settle"} if calls else set())
    found = repair.fix(np.zeros(nodes, int), np.arange(nodes), seeded(np.random.default_rng(0)))
    assert (found.chip == 0).all()


def test_the_difference_system_of_the_reference(graphs):
    rng = np.random.default_rng(13)
    checked = 0
    for case in graphs:
        problem = build(case.n, case.edges, case.chips)
        if (np.diff(problem.pred_ptr)[1:] == 0).any():
            with pytest.raises(ValueError, match="one source"):
                complete_steps(problem, np.zeros(case.n))
            continue
        valid = [f for f in case.partitions if is_valid(problem, np.array(f))]
        valid = [f for f in valid if steps_by_one(case, f)]
        wish = rng.integers(0, case.chips, case.n)
        found = complete_steps(problem, wish)
        assert np.abs(found - wish).sum() == min(np.abs(np.array(f) - wish).sum() for f in valid)
        assert tuple(complete_steps(problem, wish, first=True).tolist()) in valid
        checked += 1
    assert checked >= 5
