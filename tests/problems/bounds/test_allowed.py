import numpy as np

from problems.bounds.allowed import allowed_times, groups_of
from tests.tiny import instance


def test_a_group_goes_where_all_its_nodes_go():
    found = groups_of(
        instance([[1, None, 3], [4, 5, 6], [7, 8, 9]], colocate={0: "g", 1: "g"}, backward=[2])
    )
    assert found.allowed.tolist() == [[True, False, True], [True, True, True]]
    assert found.time.tolist() == [[[5, np.inf, 9], [0, 0, 0]], [[0, np.inf, 0], [7, 8, 9]]]


def test_a_group_goes_where_it_fits_alone():
    case = instance(
        [[1, 1, 1]] * 3,
        payload=[2, 3, 4],
        weights=[{"s": 10}, {"s": 10}, {"own": 1}],
        memory=[11, 12, 13],
    )
    found = groups_of(case)
    assert found.bytes.tolist() == [2, 3, 5]
    assert [(size, readers.tolist()) for size, readers in found.shared] == [(10, [0, 1])]
    # 2 + 10, 3 + 10 and 5 bytes
    assert found.allowed.tolist() == [[False, True, True], [False, False, True], [True] * 3]
    assert np.isinf(allowed_times(case)[1, 1])


def test_a_weight_read_in_one_group_belongs_to_it():
    case = instance([[1], [1]], weights=[{"s": 10}, {"s": 10}], colocate={0: "g", 1: "g"})
    found = groups_of(case)
    assert found.bytes.tolist() == [10]
    assert found.shared == []


def test_what_fits_nowhere_keeps_its_devices():
    found = groups_of(instance([[1, None, 2]], payload=[9], memory=[3, 20, 3]))
    assert found.allowed.tolist() == [[True, False, True]]
