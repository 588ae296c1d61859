"""Satellites of a file, what a station sees of them, and a path as a trace."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from bentpipe.orbit.station_path import StationPath, Stretch, Values, trace_of
from bentpipe.runs.notes import ages_in_words, warning
from conftest import SCENARIOS, Bentpipe

SHELL = SCENARIOS / "shell.toml"
SCENARIO = """
duration = "60 s"
[constellation]
elements = "two.tle"
elevation = "5 deg"
uplink = { rate = "20 Mbit/s", queue = "60 packets" }
[stations.quito]
[stations.bogota]
[flows.file]
from = "quito"
to = "bogota"
"""


def summed(line: str) -> str:
    """Put the checksum of an element set behind a line."""
    return line + str(sum(int(letter) if letter.isdigit() else letter == "-" for letter in line) % 10)


def satellite(number: int, node_deg: float, anomaly_deg: float) -> str:
    """Give an element set of a circular orbit over the equator, at 1,200 km, of 23 November 2026."""
    first = f"1 {number:05d}U 26001A   26327.00000000  .00000000  00000-0  00000-0 0  999"
    second = (
        f"2 {number:05d} {0.01:8.4f} {node_deg:8.4f} 0001000 {0:8.4f} {anomaly_deg:8.4f} {13.16:11.8f}{1:5d}"
    )
    return f"EQUATOR {number}\n{summed(first)}\n{summed(second)}\n"


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    # The mean sidereal time of that midnight is 61.8 degrees, and Quito lies 78.5 degrees west.
    sets = satellite(1, 0.0, (61.8 - 76.0) % 360.0) + satellite(2, 0.0, 150.0)
    (tmp_path / "two.tle").write_text(sets)
    file = tmp_path / "two.toml"
    file.write_text(SCENARIO)
    return file


def test_a_run_goes_over_the_satellite_that_both_stations_see(bentpipe: Bentpipe, scenario: Path) -> None:
    result = bentpipe("run", scenario, "--json")
    assert (result.returncode, result.stderr) == (0, "")
    told_ = json.loads(result.stdout)
    assert {link["name"].split("/")[0] for link in told_["links"]} == {"quito.EQUATOR-1", "bogota.EQUATOR-1"}
    (path,) = told_["paths"]
    # Up and down are 1,200 km each, and a little more.
    assert 4 * 1200 / 299_792.458 < path["rtt_min_s"] < 0.02
    assert path["no_path_s"] == 0


def test_a_station_is_told_when_a_satellite_passes(bentpipe: Bentpipe, scenario: Path) -> None:
    options = ("--station", "quito", "--until", "2 h")
    passes = json.loads(bentpipe("orbit", scenario, *options, "--json").stdout)
    first = next(each for each in passes if each["satellite"] == "EQUATOR-1")
    assert first["rise_s"] == 0
    # Quito lies on the equator within 20 km: what flies along it culminates overhead.
    other = next(each for each in passes if each["satellite"] == "EQUATOR-2")
    assert other["elevation_deg"] > 88
    assert other["range_km"] == pytest.approx(1200, abs=15)
    assert other["rise_s"] < other["culmination_s"] < other["set_s"]
    table = bentpipe("orbit", scenario, *options).stdout
    assert "over quito" in table
    assert "The element sets are 0.0 days old when it begins." in table


def test_old_element_sets_are_told(bentpipe: Bentpipe, scenario: Path) -> None:
    later = ("--set", "constellation.epoch=2026-12-23T12:00:00Z")
    result = bentpipe("run", scenario, *later, "--json")
    assert result.returncode == 0
    assert result.stderr.startswith(
        "bentpipe: The element sets are 30.5 days old when it begins. After 14 days"
    )


def test_the_age_is_told_of_the_newest_and_the_oldest_set() -> None:
    assert ages_in_words(None) is None
    assert ages_in_words((1.0, 3.26)) == "The element sets are 1.0 to 3.3 days old when it begins."
    assert warning((1.0, 14.0)) is None
    assert warning((-20.0, 3.0)) is not None


def other_digit(line: str) -> str:
    return line[:-1] + str((int(line[-1]) + 1) % 10)


@pytest.mark.parametrize(
    ("number", "change", "expected"),
    [
        (
            2,
            other_digit,
            "two.tle:2: constellation.elements: expected an element set of two lines, found a bad line",
        ),
        (
            6,
            other_digit,
            "two.tle:6: constellation.elements: expected an element set of two lines, found a bad line",
        ),
        (5, str.swapcase, "two.tle:5: constellation.elements: expected an element set of two lines"),
        (4, lambda _: "a\nb", "two.tle:5: constellation.elements: expected the first line of an element set"),
    ],
)
def test_a_wrong_file_is_told_in_a_line(
    bentpipe: Bentpipe, scenario: Path, number: int, change: Callable[[str], str], expected: str
) -> None:
    file = scenario.with_name("two.tle")
    lines = file.read_text().splitlines()
    lines[number - 1] = change(lines[number - 1])
    file.write_text("\n".join(lines))
    result = bentpipe("run", scenario)
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert expected in result.stderr


def test_a_path_is_a_trace_that_a_link_follows(bentpipe: Bentpipe, tmp_path: Path) -> None:
    file = tmp_path / "orbit.csv"
    assert bentpipe("orbit", SHELL, "--flows", "call", "--trace", file).returncode == 0
    rows = [line.split(",") for line in file.read_text().splitlines() if not line.startswith("#")]
    assert rows[0] == ["time_s", "delay_s"]
    assert len(rows) == 1202
    path = json.loads(bentpipe("orbit", SHELL, "--flows", "call", "--json").stdout)[0]
    delays = [float(delay) for _, delay in rows[1:]]
    assert (2 * min(delays), 2 * max(delays)) == pytest.approx((path["rtt_min_s"], path["rtt_max_s"]))
    link = tmp_path / "link.toml"
    link.write_text(
        '[links.sky]\nfrom = "a"\nto = "b"\nrate = "10 Mbit/s"\ndelay = "1 ms"\ntrace = "orbit.csv"\n'
        '[flows.f]\nfrom = "a"\nto = "b"\nbytes = "1 MB"\n'
    )
    assert bentpipe("run", link).returncode == 0


def test_a_trace_loses_everything_where_there_is_no_path() -> None:
    def stretch(start: float, *delays: float) -> Stretch:
        values: Values = np.array(delays, float)
        return Stretch(start, (0, 2, 1) if delays else (), values)

    path = StationPath("a", "b", 1.0, 5.0, (stretch(0, 0.01, 0.02), stretch(2), stretch(4, 0.03)))
    assert trace_of(path).splitlines() == [
        "time_s,delay_s,loss",
        "0,0.01,0",
        "1,0.02,0",
        "2,0.02,1",
        "4,0.03,0",
    ]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--station", "paris"), "--station: expected a station (london, new-york"),
        (("--station", "london", "--flows", "call"), "--station: expected neither --flows nor a file"),
        (("--trace", "x.csv"), "--trace: expected one path, as --flows chooses it, found 3"),
    ],
)
def test_what_cannot_be_is_told_in_a_line(
    bentpipe: Bentpipe, options: tuple[str, ...], expected: str
) -> None:
    result = bentpipe("orbit", SHELL, *options)
    assert (result.returncode, result.stderr.count("\n")) == (2, 1)
    assert expected in result.stderr
