"""Network, rounds and PPO: shapes, the same course under a seed, and that a step teaches."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the policy needs torch, of the extra rl")
pytest.importorskip("safetensors", reason="the policy needs safetensors, of the extra rl")

from heuristics.rl import features, ppo, search  # noqa: E402
from heuristics.rl.policy import Config, fresh, graph_of, logits, vectors  # noqa: E402
from heuristics.rl.rounds import draw, play, state_of  # noqa: E402
from heuristics.rl.tasks import task_of  # noqa: E402
from heuristics.shared.best import Best  # noqa: E402
from solvers.method import Context  # noqa: E402
from solvers.rng import seeded  # noqa: E402
from tests.heuristics.rl.tiny import tiny  # noqa: E402

CPU = torch.device("cpu")
SMALL = Config(hidden=16, layers=2, match=4)


def _begun(instance, seed=0):
    task = task_of(instance)
    start = state_of(task, task.starts()[0])
    return task, fresh(SMALL, seed, CPU), graph_of(task, CPU), start


@pytest.mark.parametrize("devices", [2, 5, 36])
def test_one_policy_takes_any_number_of_places(devices):
    task, policy, graph, start = _begun(tiny(1, devices=devices))
    seen = features.seen(task, start.place, start.loads)
    likely = logits(policy, graph, [seen, seen]).exp()
    assert likely.shape == (2, task.units, devices)
    assert torch.allclose(likely.sum(dim=2), torch.ones(2, task.units), atol=1e-5)


def test_an_untrained_policy_moves_two_units_and_prefers_nothing():
    task, policy, graph, start = _begun(tiny(2, n=40, devices=4, density=0.1))
    seen = features.seen(task, start.place, start.loads)
    likely = logits(policy, graph, [seen])[0].exp().detach().numpy()
    stays = likely[np.arange(task.units), start.place]
    assert (1 - stays).sum() == pytest.approx(2, rel=0.1)
    others = np.sort(likely, axis=1)[:, :-1]
    assert np.allclose(others, others[:, :1], atol=1e-6)


def test_what_is_not_supported_is_not_wished():
    task, policy, graph, start = _begun(tiny(6, problem="throughput", unsupported=0.4))
    seen = features.seen(task, start.place, start.loads)
    likely = logits(policy, graph, [seen])[0].exp().detach().numpy()
    assert (likely[~np.isfinite(task.time)] == 0).all()
    assert (~np.isfinite(task.time)).any()


def test_messages_come_over_edges():
    task, policy, graph, _ = _begun(tiny(3))
    with torch.no_grad():
        with_edges = policy.encoder(graph.node, graph.edges)
        without = policy.encoder(graph.node, graph.edges[:, :0])
    linked = np.unique(task.edges)
    alone = np.setdiff1d(np.arange(task.units), linked)
    assert not torch.allclose(with_edges[linked], without[linked])
    assert torch.allclose(with_edges[alone], without[alone])


def test_draws_follow_their_probabilities():
    likely = np.array([[0.2, 0.5, 0.3], [0.0, 0.0, 1.0]])
    stream = seeded(np.random.default_rng(0))
    drawn = draw(np.cumsum(likely, axis=1), np.zeros(2, np.int64), 20_000, stream)
    share = np.bincount(drawn[:, 0], minlength=3) / len(drawn)
    assert share == pytest.approx(likely[0], abs=0.02)
    assert (drawn[:, 1] == 2).all()


def test_the_same_seed_learns_the_same():
    result = []
    for _ in range(2):
        task, policy, graph, start = _begun(tiny(4))
        optimizer = ppo.optimizer_of(policy)
        stream = seeded(np.random.default_rng(3))
        for _ in range(3):
            found = play(task, policy, graph, start, start.value, 8, stream)
            ppo.update(policy, graph, optimizer, [found])
        result.append(torch.cat([each.flatten() for each in policy.parameters()]))
    assert torch.equal(*result)
    other = fresh(SMALL, 1, CPU)
    assert not torch.equal(result[0], torch.cat([each.flatten() for each in other.parameters()]))


def test_making_a_policy_leaves_other_draws_alone():
    torch.manual_seed(5)
    first = torch.rand(1)
    torch.manual_seed(5)
    fresh(SMALL, 0, CPU)
    assert torch.equal(first, torch.rand(1))


def test_a_step_makes_what_was_rewarded_likelier():
    task, policy, graph, start = _begun(tiny(4))
    stream = seeded(np.random.default_rng(1))
    worst = state_of(task, np.zeros(task.units, np.int64))  # all on one chip: much to gain
    found = play(task, policy, graph, worst, start.value, 32, stream)
    gain = ppo.advantage(found.reward)
    assert gain.max() > 0 > gain.min()

    def score():
        log = logits(policy, graph, [found.seen])[0]
        taken = log.gather(1, torch.from_numpy(found.wished).T).sum(dim=0)
        return float((taken * torch.from_numpy(gain)).mean().detach())

    before = score()
    ppo.update(policy, graph, ppo.optimizer_of(policy), [found], epochs=4)
    assert score() > before


def test_learning_raises_the_reward():
    """From one state of a tiny graph, over and over: proposals get better on the whole."""
    task, policy, graph, start = _begun(tiny(7, n=20, devices=4, density=0.15))
    worst = state_of(task, np.zeros(task.units, np.int64))  # all on one chip: much to gain
    optimizer, stream = ppo.optimizer_of(policy, 1e-2), seeded(np.random.default_rng(2))
    means = []
    for _ in range(60):
        found = play(task, policy, graph, worst, start.value, 16, stream)
        means.append(found.reward.mean())
        ppo.update(policy, graph, optimizer, [found])
    assert np.mean(means[-10:]) > np.mean(means[:10]) + 0.05


def test_alike_rewards_teach_nothing():
    assert (ppo.advantage(np.full(5, 0.3)) == 0).all()
    task, policy, graph, start = _begun(tiny(4))
    stream = seeded(np.random.default_rng(1))
    found = play(task, policy, graph, start, start.value, 4, stream)._replace(reward=np.zeros(4))
    before = [each.clone() for each in policy.parameters()]
    ppo.update(policy, graph, ppo.optimizer_of(policy), [found])
    assert all(torch.equal(a, b) for a, b in zip(before, policy.parameters(), strict=True))


def test_a_round_that_is_cut_keeps_what_it_has():
    task, policy, graph, start = _begun(tiny(4))
    stream = seeded(np.random.default_rng(1))
    found = play(task, policy, graph, start, start.value, 8, stream, lambda: True)
    assert len(found.reward) == len(found.wished) < 8
    assert found.value == start.value


def test_a_round_is_the_same_with_what_the_encoder_made_before():
    task, policy, graph, start = _begun(tiny(4, n=20, devices=3))
    with torch.no_grad():
        for each in policy.parameters():
            each.add_(0.3 * torch.randn(each.shape, generator=torch.Generator().manual_seed(1)))
    rounds = [
        play(task, policy, graph, start, start.value, 8, seeded(np.random.default_rng(0)), **given)
        for given in ({}, {"vector": vectors(policy, graph)})
    ]
    assert np.array_equal(rounds[0].wished, rounds[1].wished)
    other = play(
        task, policy, graph, start, start.value, 8, seeded(np.random.default_rng(0)),
        vector=torch.zeros_like(vectors(policy, graph)),
    )  # fmt: skip
    assert not np.array_equal(rounds[0].wished, other.wished)


@pytest.mark.parametrize(("learn", "calls"), [(False, 1), (True, 3)])
def test_the_encoder_runs_anew_only_where_weights_have_changed(learn, calls, monkeypatch):
    instance = tiny(4, n=20, devices=3)
    task, policy, _, start = _begun(instance)
    context = Context(seed=0)
    best = Best(instance, context)
    best.offer_device(start.place[task.unit])
    made, weights = [], [each.clone() for each in policy.parameters()]
    monkeypatch.setattr(search, "vectors", lambda *given: made.append(1) or vectors(*given))
    rounds = search.BATCH * search.ROUNDS * 3
    assert search.search(task, policy, best, start.place, rounds, learn) > 0
    assert len(made) >= calls if learn else len(made) == calls
    same = all(map(torch.equal, weights, policy.parameters()))
    assert same != learn
