import msgspec
import numpy as np
import pytest

from problems.files import FileError
from problems.generate.random import random_bundle
from problems.platform import AlphaBeta, LinkFile, LinkPoint
from problems.resolve import from_bundle, tier_of
from tests.tiny import bundle, instance

replace = msgspec.structs.replace


def without_device(files):
    return replace(files, devices={"d0": files.devices["d0"]})


def without_link(files):
    return replace(files, links={})


def without_time(files):
    table = dict(files.devices["d1"].times)
    del table["b"]
    return replace(
        files, devices={**files.devices, "d1": replace(files.devices["d1"], times=table)}
    )


def with_problem(**change):
    return lambda files: replace(files, instance=replace(files.instance, **change))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (without_device, r"no device file 'd1'; there are d0 - at `\$\.platform\.devices\[1\]"),
        (without_link, r"no link file 'port0'; there are none"),
        (without_time, r"'d1' has no time for signature 'b' of node 'b'"),
        (with_problem(problem="x"), "unknown problem 'x'"),
        (with_problem(rules={"x": 1}), r"`\$\.instance\.rules`"),
        (lambda files: replace(files, graph=replace(files.graph, edges=[(0, 0)])), "itself"),
        (
            lambda files: replace(files, platform=replace(files.platform, devices=[])),
            "here: platform: .*at least one device",
        ),
    ],
)
def test_what_is_refused(change, message):
    files = bundle([[1, 2], [3, 4]], [(0, 1)], delay=[1, 2])
    from_bundle(files, "here")
    with pytest.raises(FileError, match=f"^here: .*{message}|^{message}"):
        from_bundle(change(files), "here")


def test_nodes_that_run_nowhere():
    with pytest.raises(FileError, match="node 'b' runs on no device"):
        instance([[1, 2], [None, None]])
    with pytest.raises(FileError, match="'a' runs with its colocation group on no device"):
        instance([[None, 2], [1, None]], colocate={0: "g", 1: "g"})


def test_unlimited_devices_are_for_latency():
    assert instance([[1, 2]], unlimited=[1]).unlimited.tolist() == [False, True]
    with pytest.raises(FileError, match="unlimited devices are for `latency`"):
        instance([[1, 2]], unlimited=[1], problem="throughput")


def test_what_counts_against_memory():
    traits = {
        "payload": [1, 2, 3],
        "weights": [{"s": 10, "t": 5, "own": 7}, {"s": 10, "t": 5}, {"x": 1}],
    }
    total = instance([[1]] * 3, **traits)
    assert total.node_bytes.tolist() == [8, 2, 4]
    # Weights with the same readers are one.
    assert (total.shared_ptr.tolist(), total.shared_node.tolist()) == ([0, 2], [0, 1])
    assert total.shared_bytes.tolist() == [15]
    weights = instance([[1]] * 3, rules={"memory": "weights"}, **traits)
    assert weights.node_bytes.tolist() == [7, 0, 1]
    ignored = instance([[1]] * 3, rules={"memory": "ignored"}, **traits)
    assert ignored.node_bytes.tolist() == [0, 0, 0]
    assert len(ignored.shared_bytes) == 0


def test_groups_are_numbered_by_first_node():
    case = instance([[1]] * 5, colocate={4: "x", 1: "x", 3: "y", 2: "y"})
    assert case.group.tolist() == [0, 1, 2, 2, 1]


def test_tied_weights_make_groups_where_asked():
    weights = [{"s": 1}, {}, {"s": 1, "t": 1}, {"t": 1}, {"u": 1}]
    traits = {"weights": weights, "colocate": {3: "g", 4: "g"}}
    assert instance([[1]] * 5, **traits).group.tolist() == [0, 1, 2, 3, 3]
    tied = instance([[1]] * 5, rules={"colocate_tied": True}, **traits)
    assert tied.group.tolist() == [0, 1, 0, 0, 0]


def two_way(name="wire0-1"):
    return {
        name: LinkFile(
            "placebench-link/1", name, "measured", {},
            [LinkPoint(0, 1.0, 1.0)], [LinkPoint(0, 4.0, 4.0)],
        )
    }  # fmt: skip


def test_a_port_takes_its_slower_way():
    files = bundle([[1, 2]], hosts=[0], delay=[0, 0])
    case = from_bundle(replace(files, links=two_way("port1")))
    assert case.port.tolist() == [0, 1]
    assert case.link_time[case.port].tolist() == [[0.0], [4.0]]
    assert case.staged


def test_a_wire_has_two_ways():
    files = bundle([[1, 2]], delay={(0, 1): 0.0})
    case = from_bundle(replace(files, links=two_way()))
    assert case.link_time[case.wire, 0].tolist() == [[0, 1], [4, 0]]
    assert not case.staged
    # Named the other way round, the ways change places.
    turned = [replace(w, source=w.target, target=w.source) for w in files.platform.wires]
    files = replace(files, platform=replace(files.platform, wires=turned))
    case = from_bundle(replace(files, links=two_way()))
    assert case.link_time[case.wire, 0].tolist() == [[0, 4], [1, 0]]


def test_a_default_link_is_the_same_both_ways():
    files = bundle([[1, 2, 3]], delay={(0, 1): 7.0})
    platform = replace(files.platform, default_link="rest")
    case = from_bundle(replace(files, platform=platform, links=files.links | two_way("rest")))
    assert case.link_time[case.wire, 0].tolist() == [[0, 7, 4], [7, 0, 4], [4, 4, 0]]


def test_payloads_of_one_size_take_one_time():
    case = instance([[1, 1]] * 4, payload=[5, 2, 5, 0], delay=[0.5, 1.5])
    assert case.link_time.tolist() == [[0] * 4, [5.5, 2.5, 5.5, 0.5], [6.5, 3.5, 6.5, 1.5]]
    assert np.isinf(case.memory).all()


def test_provenance_says_how_each_part_came_about():
    found = instance([[1, 2]], delay=[0, 0]).provenance
    assert found["devices"] == {"d0": {"kind": "modelled"}, "d1": {"kind": "modelled"}}
    assert found["links"]["port1"] == {"kind": "modelled"}


def test_tiers():
    sizes = (1, 49, 50, 199, 200, 1_999, 2_000, 19_999, 20_000)
    found = [tier_of(n) for n in sizes]
    assert found == ["tiny"] * 2 + ["small"] * 2 + ["medium"] * 2 + ["large"] * 2 + ["huge"]
    assert instance([[1]]).tier == "tiny"


def test_alpha_beta_link():
    files = bundle([[1, 2]], payload=[8], hosts=[0], delay=[0, 0])
    link = replace(files.links["port1"], model=AlphaBeta(0.5, 16.0))
    assert from_bundle(replace(files, links={"port1": link})).link_time.tolist() == [[0], [1]]


def test_links_of_equal_times_are_one():
    case = instance([[1, 2, 3]], payload=[2], delay=[1, 1, 2])
    assert case.port.tolist() == [1, 1, 2]
    assert case.link_time.tolist() == [[0], [3], [4]]
    # A link that takes no time is no link.
    assert instance([[1, 2]], delay=[0, 1]).port.tolist() == [0, 1]


def test_parts_go_by_the_name_that_is_asked_for():
    files = random_bundle(0, n=3)
    device = msgspec.structs.replace(files.devices["d1"], name="other")
    mixed = msgspec.structs.replace(files, devices={**files.devices, "d1": device})
    with pytest.raises(FileError, match=r"'d1' is asked for and 'other' given - at `\$\.devices"):
        from_bundle(mixed)


def test_links_that_never_arrive_are_refused():
    files = random_bundle(0, n=3)
    slow = msgspec.structs.replace(files.links["port1"], model=AlphaBeta(0.0, 1e-300))
    with pytest.raises(FileError, match="link 'port1' takes"):
        from_bundle(msgspec.structs.replace(files, links={"port1": slow}))
