import numpy as np

from heuristics.orders.genetic import Population


def course(seed, generations=40):
    """Best values of each generation for the sum of the distances of all keys from a half."""
    people = Population(np.random.default_rng(seed), 30, 6, 0.2, 0.2, 0.7)
    values = []
    for _ in range(generations):
        for i in people.unknown():
            people.value[i] = np.abs(people.keys[i] - 0.5).sum()
        values.append(people.value.min())
        people.evolve()
    return values


def test_the_elite_stays_and_the_rest_gets_better():
    values = course(0)
    assert values == sorted(values, reverse=True)
    assert values[-1] < 0.3 * values[0]
    assert values == course(0)
    assert values != course(1)


def test_children_take_most_keys_from_the_elite():
    people = Population(np.random.default_rng(0), 100, 50, 0.1, 0.1, 0.7)
    people.keys[:10], people.keys[10:] = 0.25, 0.75
    people.value[:] = np.where(np.arange(100) < 10, 0.0, 1.0)
    people.evolve()
    assert len(people.unknown()) == 90
    children = people.keys[10:90]
    assert 0.65 < (children == 0.25).mean() < 0.75
    assert ((children == 0.25) | (children == 0.75)).all()
    assert not np.isin(people.keys[90:], [0.25, 0.75]).any()
