"""Rain over a link, from the command line: tables, pictures, traces and errors."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from bentpipe.errors import InputError
from bentpipe.weather import MODEMS, api
from conftest import SCENARIOS, Bentpipe

PLACE = ("--place", "ahmedabad", "--satellite", "74")
STORM = (*PLACE, "--storm", "10", "--duration", "600", "--step", "5")


def request_of(bentpipe: Bentpipe, *arguments: str) -> dict[str, Any]:
    result = bentpipe("fade", *STORM, *arguments, "--json")
    assert (result.returncode, result.stderr) == (0, "")
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_the_page_s_first_example_is_what_its_command_prints(bentpipe: Bentpipe, tmp_path: Path) -> None:
    page = (SCENARIOS.parent / "docs" / "how-to" / "weather.md").read_text(encoding="utf-8")
    command, printed, trace = page.split("```")[1:6:2]
    arguments = command.removeprefix("sh\n").replace("\\\n", " ").split()
    assert arguments[:2] == ["bentpipe", "fade"]
    arguments = arguments[1 : arguments.index("--trace")]
    output = bentpipe(*arguments, "--trace", tmp_path / "storm.csv").stdout.splitlines()
    lines = [line for line in printed.strip().splitlines() if line != "…"]
    assert len(lines) == 8
    assert not set(lines) - set(output)
    written = [line for line in (tmp_path / "storm.csv").read_text().splitlines() if line[0] != "#"]
    rows = trace.strip().splitlines()
    assert rows[-1] == "…"
    assert written[: len(rows) - 1] == rows[:-1]


def test_the_numbers_are_those_of_the_budget(bentpipe: Bentpipe) -> None:
    found = request_of(bentpipe, "--modem", "qpsk-1/2")
    clear, series = found["clear"], found["series"]
    loss = found["free_space_db"] + found["request"]["atmosphere_db"]
    density = found["request"]["eirp_dbw"] + found["gain_over_temperature_db"] - loss + 228.5992
    assert clear["carrier_to_density_dbhz"] == pytest.approx(density, abs=1e-3)
    assert clear["es_n0_db"] == pytest.approx(density - 70 - 1, abs=1e-3)
    assert [len(column) for column in series.values()] == [120] * len(series)
    assert series["rain_db"][60] == pytest.approx(10)
    assert [row["percent"] for row in found["exceeded"]] == [5, 3, 1, 0.3, 0.1, 0.03, 0.01, 0.001]


def test_a_seed_gives_the_same_bytes_and_another_others(bentpipe: Bentpipe) -> None:
    first, again, other = (
        bentpipe("fade", *STORM, "--seed", seed, "--json").stdout for seed in ("1", "1", "2")
    )
    assert first == again != other


@pytest.mark.parametrize("modem", MODEMS)
def test_a_trace_is_one_that_a_link_follows(bentpipe: Bentpipe, tmp_path: Path, modem: str) -> None:
    files = ("--trace", "storm.csv", "--plot", "storm.svg")
    result = bentpipe("fade", *STORM, "--modem", modem, *files)
    assert (result.returncode, result.stderr) == (0, "Wrote storm.svg\nWrote storm.csv\n")
    assert "clear sky" in result.stdout
    assert (tmp_path / "storm.svg").read_text().startswith("<?xml")
    lines = (tmp_path / "storm.csv").read_text().splitlines()
    assert lines[0].startswith("# bentpipe fade --place ahmedabad")
    rows = list(csv.DictReader(lines[1:]))
    assert float(rows[0]["time_s"]) == 0
    assert len({tuple(row.values())[1:] for row in rows}) > 1
    setting = "links.satellite.trace=storm.csv"
    run = bentpipe("run", "preset:geo", "--set", setting, "--set", "duration=60 s", "--json")
    assert run.returncode == 0, run.stderr
    assert "time_s,rate_bps" in run.stdout


def test_spells_are_the_times_without_data() -> None:
    base = {"step_s": 5.0, "modem": "dvb-s2"}
    rates = [1.0, 0.0, 0.0, 1.0, 1.0, 0.0]
    series = {"rate_bps": rates, "loss": [0.0, 0.0, 0.0, 1.0, 0.0, 0.0], "ber": [None] * 6}
    assert list(api.Fade(base, {"series": series}).spells()) == [15.0, 5.0]


def test_the_cities_have_what_the_maps_say() -> None:
    places = {place.name: place for place in api.places()}
    assert len(places) == 40
    assert places["singapore"].rain_rate_mm_h > 90 > 10 > places["cairo"].rain_rate_mm_h
    assert all(place.rain_height_km > place.altitude_km for place in places.values())


def test_a_request_that_lacks_a_number_is_refused() -> None:
    with pytest.raises(InputError, match="missing field `latitude_deg`"):
        api.fade({})


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ("--place", "nowhere", "--satellite", "9"),
            "--place: expected degrees as 48.2,16.4 or one of ahmedabad,",
        ),
        (("--place", "nan,0", "--satellite", "9"), "--place: expected degrees as 48.2,16.4"),
        (("--place", "48,16", "--satellite", "9"), "--rain-rate: expected mm/h"),
        (
            ("--place", "95,0", "--satellite", "0", "--rain-rate", "9"),
            "--place: expected degrees from -90 to 90",
        ),
        (("--place", "oslo"), "--satellite: expected its longitude in degrees east, found none"),
        (
            ("--place", "oslo", "--satellite", "180"),
            "--satellite: expected a satellite above the station's horizon",
        ),
        ((*PLACE, "--frequency", "90"), "--frequency: expected 1 to 55 GHz, found 90"),
        ((*PLACE, "--dish", "0"), "--dish: expected more than 0"),
        ((*PLACE, "--dish", "1 m"), "expected a number (m), found '1 m'"),
        ((*PLACE, "--eirp", "inf"), "expected a number (dBW), found 'inf'"),
        ((*PLACE, "--storm", "-1"), "--storm: expected more than 0"),
        ((*PLACE, "--step", "0.001"), "--step: expected at most 200000 steps in the duration"),
        ((*PLACE, "--modcod", "QAM"), "--modcod: expected a MODCOD of the modem"),
        ((*PLACE, "--rain-share", "0"), "--rain-share: expected 0.05 to 100 percent, found 0"),
        ((*PLACE, "--plot", "fade.gif"), "expected a file name that ends in .png, .svg or .pdf"),
        ((*PLACE, "--plot", "a.png", "--trace", "a.png"), "expected a file that nothing else is written to"),
    ],
)
def test_a_mistake_is_one_line_and_writes_nothing(
    bentpipe: Bentpipe, tmp_path: Path, arguments: tuple[str, ...], expected: str
) -> None:
    result = bentpipe("fade", *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert expected in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_adaptive_coding_carries_more_through_the_rain(bentpipe: Bentpipe) -> None:
    def goodputs(name: str) -> dict[str, Any]:
        run = json.loads(bentpipe("run", SCENARIOS / name, "--json").stdout)
        return {flow["name"]: flow for flow in run["flows"]}

    adaptive, constant = goodputs("rain.toml"), goodputs("rain-qpsk.toml")
    assert adaptive["download"]["goodput_bps"] > 3 * constant["download"]["goodput_bps"]
    assert adaptive["call"]["datagrams_lost"] == 0
    assert constant["call"]["datagrams_lost"] > 10_000


def test_a_number_beyond_any_quantity_is_shown_as_it_was_written(bentpipe: Bentpipe) -> None:
    result = bentpipe("fade", *PLACE, "--storm", "1e300")
    assert result.returncode == 2
    assert result.stderr == ("bentpipe: Invalid value for '--storm': expected a number (dB), found '1e300'\n")
