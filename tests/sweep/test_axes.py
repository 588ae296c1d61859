"""What is varied: values, ranges, samples."""

import pytest

from bentpipe import InputError
from bentpipe.sweeps.axes import Points, points_of


def values(text: str) -> tuple[str, ...]:
    (axis,) = points_of([("key", text)], None, 1).axes
    return axis.values


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("reno,sack", ("reno", "sack")),
        ("1..64:log:7", ("1", "2", "4", "8", "16", "32", "64")),
        ("0..1:5", ("0", "0.25", "0.5", "0.75", "1")),
        ("0..1:lin:3", ("0", "0.5", "1")),
        ("1e-6..1e-2:log:5", ("1e-06", "1e-05", "0.0001", "0.001", "0.01")),
        ("1..100 Mbit/s:log:3", ("1 Mbit/s", "10 Mbit/s", "100 Mbit/s")),
        ("256 KiB..1 MiB:log:3", ("0.25 MiB", "0.5 MiB", "1 MiB")),
        ("-10..10:3", ("-10", "0", "10")),
        (
            '{ model = "packet", probability = 0.1 }, "none"',
            ('{ model = "packet", probability = 0.1 }', '"none"'),
        ),
        ("[1, 2],[3]", ("[1, 2]", "[3]")),
        ("../traces/rain.csv,dry.csv", ("../traces/rain.csv", "dry.csv")),
    ],
)
def test_values(text: str, expected: tuple[str, ...]) -> None:
    assert values(text) == expected


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "empty value"),
        ("1,,2", "empty value"),
        ("1,2,1", "'1' twice"),
        ("1..2", "number of values"),
        ("1..2:1", "number of values"),
        ("1..2:log:few", "number of values"),
        ("2..1:3", "first end is below"),
        ("1..1:3", "first end is below"),
        ("0..1:log:3", "above zero"),
        ("1 MiB..2 s:3", "units of one kind"),
        ("1..many:3", "two numbers"),
        ("1..1.0000001:9", "six digits"),
    ],
)
def test_what_is_no_list_of_values_is_told(text: str, told: str) -> None:
    with pytest.raises(InputError, match=r"--vary key: expected") as caught:
        values(text)
    assert told in str(caught.value)


def test_every_combination_is_a_point_and_the_last_axis_is_fastest() -> None:
    points = points_of([("a", "1,2"), ("b", "x,y,z")], None, 1)
    found = [points.settings(point) for point in range(len(points))]
    assert found == [[("a", a), ("b", b)] for a in "12" for b in "xyz"]


def latin(seed: int) -> Points:
    return points_of([("p", "1e-4..1:log"), ("q", "0..10"), ("v", "reno,sack")], 40, seed)


def test_a_sample_has_one_point_in_each_part_of_every_axis() -> None:
    points = latin(1)
    assert len(points) == 40
    settings = [dict(points.settings(point)) for point in range(40)]
    assert sorted(int(float(found["q"]) * 4) for found in settings) == list(range(40))
    decades = [
        sum(1 for found in settings if 10.0**k <= float(found["p"]) < 10.0 ** (k + 1)) for k in range(-4, 0)
    ]
    assert decades == [10, 10, 10, 10]
    assert [found["v"] for found in settings].count("reno") == 20
    # The axes are drawn apart from each other.
    order = [sorted(range(40), key=lambda k, key=key: float(settings[k][key])) for key in "pq"]  # type: ignore[misc]
    assert order[0] != order[1]


def test_a_sample_is_the_same_for_the_same_seed_and_another_for_another() -> None:
    assert latin(1) == latin(1)
    assert latin(1) != latin(2)
    # Of a folder that was begun with an older version the sample must be the same.
    assert dict(latin(1).settings(0)) == {"p": "0.0522492", "q": "1.27974", "v": "reno"}


def test_a_count_beside_a_sample_is_refused() -> None:
    with pytest.raises(InputError, match=r"--vary q: expected LO\.\.HI or LO\.\.HI:log, as --sample says"):
        points_of([("q", "0..10:5")], 40, 1)


def test_numbers_of_quantities() -> None:
    axes = points_of(
        [("a", "1 Mbit/s,500 kbit/s"), ("b", "1,2.5"), ("c", "1,x"), ("d", "1 s,1 B")], None, 1
    ).axes
    assert [axis.numbers() for axis in axes] == [([1.0, 0.5], "Mbit/s"), ([1.0, 2.5], ""), None, None]
