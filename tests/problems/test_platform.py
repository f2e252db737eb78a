import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems.files import FileError
from problems.platform import (
    AlphaBeta,
    Device,
    LinkFile,
    LinkPoint,
    Platform,
    Timing,
    Wire,
    validate,
)


def link(*points, backward=(), model=None):
    return LinkFile(
        "placebench-link/1",
        "l",
        "measured",
        {},
        [LinkPoint(*p) for p in points],
        [LinkPoint(*p) for p in backward],
        model,
    )


def test_interpolation():
    curve = link((10, 1.0, 9), (20, 3.0, 9), (40, 2.0, 9), (80, 6.0, 9))
    assert [curve.time(s) for s in (0, 10, 15, 20)] == [1, 1, 2, 3]
    assert curve.time(30) == curve.time(40) == 3  # the running maximum
    assert curve.time(60) == 4.5
    assert curve.time(160) == 6 + 3 * 2  # the last slope goes on
    assert curve.time(15, backward=True) == 2


def test_directions_models_and_single_points():
    curve = link((10, 1.0, 1), backward=[(10, 2.0, 2)])
    assert (curve.time(500), curve.time(500, backward=True)) == (1, 2)
    assert link(model=AlphaBeta(0.5, 4.0)).time(10) == 3.0
    # Points come before their summary.
    assert link((10, 1.0, 1), model=AlphaBeta(0.5, 4.0)).time(10) == 1.0


@given(
    st.lists(st.tuples(st.integers(0, 10**9), st.floats(0, 1e3)), min_size=1, max_size=8),
    st.integers(0, 2 * 10**9),
    st.integers(0, 10**9),
)
def test_a_larger_payload_never_takes_less(points, size, more):
    ascending = sorted(dict(points).items())
    curve = link(*((size, t, t) for size, t in ascending))
    assert curve.time(size) <= curve.time(size + more) * (1 + 1e-12)
    assert curve.time(size) >= ascending[0][1]


@pytest.mark.parametrize(
    ("points", "backward", "message"),
    [
        ([], [], "needs `forward` points or a `model`"),
        ([], [(1, 1, 1)], "needs `forward` points or a `model`"),
        ([(2, 1, 1), (2, 1, 1)], [], "ascend"),
        ([(1, 1, 1)], [(3, 1, 1), (2, 1, 1)], "ascend"),
    ],
)
def test_what_a_link_cannot_be(points, backward, message):
    with pytest.raises(ValueError, match=message):
        link(*points, backward=backward)


HOST, GPU, CARD = Device("h", "cpu", host=True), Device("g", "gpu", link="l"), Device("x", "gpu")


def platform(topology, *devices, **named):
    return Platform("placebench-platform/1", "p", topology, list(devices), **named)


@pytest.mark.parametrize(
    ("case", "message"),
    [
        (platform("staged"), r"at least one device - at `\$\.devices`"),
        (platform("staged", HOST, GPU, GPU), r"'g' is used twice - at `\$\.devices\[2\]`"),
        (platform("staged", HOST, CARD), r"is a host or has a `link` - at `\$\.devices\[1\]`"),
        (platform("staged", Device("h", "cpu", host=True, link="l")), "is a host or has a `link`"),
        (platform("staged", HOST, default_link="l"), r"direct topology - at `\$\.wires`"),
        (platform("staged", HOST, GPU, wires=[Wire("h", "g", "l")]), "direct topology"),
        (platform("direct", HOST, GPU), r"`link` belongs to the staged.*devices\[1\]"),
        (platform("direct", HOST, CARD), "no wire joins 'h' and 'x'"),
        (platform("direct", HOST, CARD, wires=[Wire("h", "y", "l")]), "no device 'y'.* h, x.*0"),
        (platform("direct", HOST, CARD, wires=[Wire("h", "h", "l")]), "wire to itself"),
        (
            platform("direct", HOST, CARD, wires=[Wire("h", "x", "l"), Wire("x", "h", "l")]),
            r"given twice.*wires\[1\]",
        ),
    ],
)
def test_what_a_platform_cannot_be(case, message):
    with pytest.raises(FileError, match=f"^here: .*{message}"):
        validate(case, "here")


@pytest.mark.parametrize(
    "case",
    [
        platform("staged", HOST, GPU),
        platform("staged", GPU),
        platform("direct", HOST, CARD, default_link="l"),
        platform("direct", HOST, CARD, wires=[Wire("x", "h", "l")]),
        platform("direct", CARD),
    ],
)
def test_what_is_fine(case):
    validate(case)


def test_timings_ascend():
    with pytest.raises(ValueError, match="min_s <= median_s <= max_s"):
        Timing(2.0, 1.0, 3.0, 5)
