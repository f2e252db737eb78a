"""CPOP, PEFT, ETF, m-ETF and m-SCT beside plain Python, and what all list schedulers share."""

import math
import time
import types
from functools import cache

import numpy as np
import pytest
import scipy.optimize

from heuristics import catalogue, cpop
from heuristics.shared import earliest, favourites, lists, placing, ranks
from heuristics.shared import space as space_
from heuristics.shared.best import Best, objective
from heuristics.shared.favourites import favourite_children
from problems import latency
from problems.answer import Answer
from problems.checker import check
from solvers.method import Context
from tests import tiny
from tests.heuristics.samples import samples
from tests.heuristics.test_heft import example

ENTRIES = ("heft", "cpop", "peft", "etf", "m-etf", "m-sct")


def plain(count, **given):
    """Random graphs as the papers have them: no groups, no limits, no ties, no free sources."""
    rules = {"colocate_tied": False}
    traits = {"tight": None, "groups": 0, "ties": False, "density": 0.2, "rules": rules}
    for seed, instance in samples(count, problem="latency", devices=4, **traits | given):
        yield seed, instance, space_.build(instance)


def own(instance, name, **options):
    """An entry's own answer: the single device beside it is not offered."""
    found = []

    class Own(Best):
        def offer(self, answer):
            found.append(answer)
            return super().offer(answer)

    module = __import__(f"heuristics.{name.replace('-', '_')}", fromlist=["x"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "Best", Own)
        catalogue.load(name).run(instance, Context(), **options)
    return found[-1]


class Slow:
    """The state of a list scheduler in plain Python."""

    def __init__(self, instance):
        self.instance, self.placed = instance, {}
        self.busy = [[] for _ in range(instance.K)]
        self.free = [0.0] * instance.K

    def able(self, v):
        return [k for k in range(self.instance.K) if math.isfinite(self.instance.time[v, k])]

    def producers(self, v):
        return self.instance.pred[self.instance.pred_ptr[v] : self.instance.pred_ptr[v + 1]]

    def consumers(self, v):
        return self.instance.succ[self.instance.succ_ptr[v] : self.instance.succ_ptr[v + 1]]

    def ready(self, v, k):
        found = 0.0
        for u in self.producers(v):
            j, finish = self.placed[u][0], self.placed[u][2]
            found = max(found, finish + float(latency.delays(self.instance, u)[j, k]))
        return found

    def start(self, v, k, insertion):
        ready, seconds = self.ready(v, k), self.instance.time[v, k]
        if self.instance.unlimited[k]:
            return ready
        if not insertion:
            return max(ready, self.free[k])
        for t in sorted([ready, *(end for _, end in self.busy[k] if end > ready)]):
            if not any(b < t + seconds and e > t for b, e in self.busy[k]):
                return t
        raise AssertionError

    def place(self, v, k, insertion):
        start = self.start(v, k, insertion)
        finish = start + self.instance.time[v, k]
        self.placed[v] = (k, start, finish)
        self.busy[k].append((start, finish))
        if not self.instance.unlimited[k]:
            self.free[k] = max(self.free[k], finish)

    def all_ready(self):
        return [
            v
            for v in range(self.instance.n)
            if v not in self.placed and all(u in self.placed for u in self.producers(v))
        ]

    def agrees(self, answer):
        assert answer.device.tolist() == [self.placed[v][0] for v in range(self.instance.n)]
        last = max(finish for _, _, finish in self.placed.values())
        assert check(self.instance, answer).objective == pytest.approx(last)


def means(instance):
    """Mean time of every operator and of every output, in plain Python."""
    K = instance.K
    pairs = [(k, j) for k in range(K) for j in range(K) if k != j]
    seconds, between = [], []
    for v in range(instance.n):
        able = [t for t in instance.time[v] if math.isfinite(t)]
        seconds.append(sum(able) / len(able))
        each = latency.delays(instance, v)
        between.append(sum(float(each[p]) for p in pairs) / len(pairs) if pairs else 0.0)
    return seconds, between


def test_cpop_on_the_example_of_the_paper():
    """Makespan 86, critical path 1, 2, 9, 10 on their second processor (figure 3b)."""
    instance = example()
    space = space_.build(instance)
    times = ranks.averages(instance, space)
    priority = ranks.upward(space, *times) + ranks.downward(space, *times)
    path = ranks.critical_path(space, priority)
    names = [instance.names[v] for v in path]
    assert [name for name in names if name <= "j"] == ["a", "b", "i", "j"]
    answer = own(instance, "cpop")
    assert set(answer.device[path]) == {1}
    assert check(instance, answer).objective == pytest.approx(86.0)


def test_cpop_against_plain_python():
    for _, instance, space in plain(60, n=20):
        slow = Slow(instance)
        seconds, between = means(instance)
        n = instance.n
        up, down = [0.0] * n, [0.0] * n
        for v in reversed(range(n)):
            up[v] = seconds[v] + max((between[v] + up[w] for w in slow.consumers(v)), default=0.0)
        for v in range(n):
            before = [down[u] + seconds[u] + between[u] for u in slow.producers(v)]
            down[v] = max(before, default=0.0)
        times = ranks.averages(instance, space)
        # The critical path ties but for rounding: both have to round alike.
        priority = ranks.upward(space, *times) + ranks.downward(space, *times)
        assert priority == pytest.approx(np.array(up) + down)
        pull = cpop.pull(space, ranks.critical_path(space, priority))
        assert pull.any()
        while len(slow.placed) < n:
            v = min(slow.all_ready(), key=lambda v: (-priority[v], v))
            k = min(
                slow.able(v),
                key=lambda k: (pull[v, k], slow.start(v, k, True) + instance.time[v, k], k),
            )
            slow.place(v, k, True)
        slow.agrees(own(instance, "cpop"))


def test_peft_against_plain_python():
    """The table by its definition (equation 3 of the paper), and the schedule that it leads to."""
    for _, instance, space in plain(60, n=20):
        slow = Slow(instance)
        _, between = means(instance)

        @cache
        def left(v, k, slow=slow, instance=instance, between=between):
            return max(
                (
                    min(
                        left(w, j) + instance.time[w, j] + (between[v] if j != k else 0.0)
                        for j in slow.able(w)
                    )
                    for w in slow.consumers(v)
                ),
                default=0.0,
            )

        table = [[left(v, k) for k in range(instance.K)] for v in range(instance.n)]
        _, mean = ranks.averages(instance, space)
        assert ranks.optimistic_costs(space, mean) == pytest.approx(np.array(table))
        order = np.mean(ranks.optimistic_costs(space, mean), axis=1)
        while len(slow.placed) < instance.n:
            v = min(slow.all_ready(), key=lambda v: (-order[v], v))
            value = {
                k: slow.start(v, k, True) + instance.time[v, k] + left(v, k) for k in slow.able(v)
            }
            slow.place(v, min(value, key=lambda k: (round(value[k], 9), k)), True)
        answer = own(instance, "peft")
        last = max(finish for _, _, finish in slow.placed.values())
        assert check(instance, answer).objective == pytest.approx(last)


@pytest.mark.parametrize(
    ("name", "by"), [("etf", "start"), ("etf", "finish"), ("m-etf", "start"), ("m-etf", "finish")]
)
def test_etf_against_plain_python(name, by):
    for _, instance, _ in plain(40, n=25):
        slow = Slow(instance)
        seconds, _ = means(instance)
        level = [0.0] * instance.n
        for v in reversed(range(instance.n)):
            level[v] = seconds[v] + max((level[w] for w in slow.consumers(v)), default=0.0)
        while len(slow.placed) < instance.n:
            pairs = []
            for v in slow.all_ready():
                for k in slow.able(v):
                    value = slow.start(v, k, False) + (instance.time[v, k] if by == "finish" else 0)
                    pairs.append((value, -level[v] if name == "etf" else 0, v, k))
            _, _, v, k = min(pairs)
            slow.place(v, k, False)
        slow.agrees(own(instance, name, by=by))


def test_a_favourite_child_is_worth_its_transfer():
    """a feeds b, c over a dear link; b is long, so b is the one to share a's device."""
    instance = tiny.instance(
        [(1.0, 1.0), (9.0, 9.0), (2.0, 2.0)], [(0, 1), (0, 2)], payload=[5, 0, 0],
        delay={(0, 1): 1.0},
    )  # fmt: skip
    space = space_.build(instance)
    times = ranks.averages(instance, space)
    for left in (10.0, 0.0):  # by the linear program, by the matching
        child = favourite_children(space, *times, ranks.upward(space, *times), left)
        assert child.tolist() == [1, -1, -1]
    answer = own(instance, "m-sct")
    assert answer.device[0] == answer.device[1]


def test_favourite_children_are_pairs():
    for _, instance, space in plain(30, n=25):
        times = ranks.averages(instance, space)
        rank = ranks.upward(space, *times)
        for left in (10.0, 0.0):
            child = favourite_children(space, *times, rank, left)
            chosen = child[child >= 0]
            assert len(set(chosen)) == len(chosen)
            for v in np.flatnonzero(child >= 0):
                assert child[v] in instance.succ[instance.succ_ptr[v] : instance.succ_ptr[v + 1]]


def test_a_device_waits_for_the_favourite_child():
    """b, of a lower number, could start on d0 first; but d0 is kept for a's child c."""
    instance = tiny.instance(
        [(2.0, 2.0), (1.0, 9.0), (1.0, 1.0), (3.0, 3.0)],
        [(0, 2), (1, 3)],
        payload=[5, 1, 0, 0],
        delay={(0, 1): 1.0},
    )
    child = np.array([2, -1, -1, -1])
    space = space_.build(instance)
    for favourite, after in ((child, [0, 2]), (None, [0, 1])):
        best = Best(instance, Context())
        priority = np.array([4.0, 1.0, 0.0, 0.0])
        earliest.offer_earliest(instance, space, best, priority, favourite=favourite)
        first = best.answer.order[int(best.answer.device[0])][:2].tolist()
        assert first[0] == 0
        if favourite is not None:
            assert first == after


def test_memory_never_leaves_them_stuck():
    """With a mapping to go by, every operator finds a device, however tight the memory."""
    tight = 0
    given = {"problem": "latency", "n": 14, "devices": 4, "tight": 1.05, "unsupported": 0.2}
    for _, instance in samples(150, **given):
        known = catalogue.load("single").run(instance, Context())
        if known is None:
            continue
        tight += 1
        space = space_.build(instance)
        rank = ranks.mean_rank(instance, space)
        for offer in (lists.offer_schedule, earliest.offer_earliest):
            best = Best(instance, Context())
            best.answer = Answer(known.device)
            assert offer(instance, space, best, rank)
            assert check(instance, best.answer).valid
    assert tight > 60


def test_transfers_are_planned_at_the_ports():
    """What is planned holds: the judge finds no later finish, at times an earlier one than FIFO."""
    better = 0
    for _, instance in samples(
        80, problem="latency", n=30, devices=4, rules={"contention": "ports"}
    ):
        best, space = Best(instance, Context()), space_.build(instance)
        work = placing.start(instance, space, None)
        sequence = np.argsort(-ranks.mean_rank(instance, space), kind="stable")
        none = np.zeros((0, instance.K))
        done = lists.advance(space, work, sequence, 0, instance.n, True, none)
        if done < instance.n:
            continue
        lists.offer_work(instance, best, work)
        assert best.value <= work.finish.max() * (1 + 1e-9)
        without = Answer(best.answer.device, best.answer.order)
        better += best.value < objective(instance, without) * (1 - 1e-9)
    assert better >= 5


@pytest.mark.parametrize("name", ENTRIES)
def test_valid_whatever_the_rules(name):
    for _, instance in samples(40, problem="latency", n=14, rules={"contention": "ports"}):
        answer = catalogue.load(name).run(instance, Context())
        assert answer is None or check(instance, answer).valid


def test_the_clock_cuts_between_pieces():
    _, instance = next(samples(1, problem="latency", n=6))
    best = Best(instance, Context(deadline=time.monotonic() + 60))
    steps = []

    def some(at, count):
        steps.append((at, count))
        best.context.deadline = 0.0
        return count

    assert not lists.in_pieces(best, 10_000, some)
    assert steps == [(0, 500)]


def test_options_change_the_ranks():
    instance = example()
    space = space_.build(instance)
    mean, worst, least = (ranks.averages(instance, space, how) for how in ranks.How.__args__)
    for i in range(2):
        assert (least[i] <= mean[i] + 1e-12).all()
        assert (mean[i] <= worst[i] + 1e-12).all()
    assert worst[0].max() == instance.time.max()


def test_the_relaxation_is_made_within_its_time(monkeypatch):
    (_, instance, space), *_ = plain(1, n=25)
    times = ranks.averages(instance, space)
    given = space, *times, ranks.upward(space, *times)
    allowed, now = [], [0.0]

    def later():
        now[0] += 1.0
        return now[0]

    def linprog(*rows, options, **more):
        allowed.append(options["time_limit"])
        return types.SimpleNamespace(status=1)

    monkeypatch.setattr(scipy.optimize, "linprog", linprog)
    monkeypatch.setattr(favourites.time, "monotonic", later)
    favourite_children(*given, 10.0)
    assert allowed == [9.0]
    favourite_children(*given, 1.0)
    monkeypatch.setattr(favourites, "SOLVER", "not imported")
    favourite_children(*given, favourites.IMPORT)
    assert allowed == [9.0]  # no time for a program
