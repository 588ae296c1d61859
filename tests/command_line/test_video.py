"""Films from end to end: results, the table, replications, sweeps, comparisons."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

import bentpipe as bp
from conftest import SCENARIOS, Bentpipe

FILM = SCENARIOS / "video.toml"
SHORTER = {"flows.film.length": "60 s", "flows.download.duration": "40 s", "flows.download.start": "10 s"}


@pytest.fixture(scope="module")
def short() -> bp.Scenario:
    return bp.Scenario.load(FILM).with_(SHORTER)


def test_the_film_is_what_its_segments_are(short: bp.Scenario) -> None:
    found = json.loads(bp.run(short).json())
    (film,) = found["videos"]
    segments = [row for row in found["transactions"] if row["flow"] == "film"]
    assert film["segments"] == len(segments) == 15
    rates = [row["size_bytes"] * 8 / 4 for row in segments]
    assert set(rates) <= {400e3, 800e3, 1.6e6, 3e6, 5e6}
    assert film["bit_rate_mean_bps"] == pytest.approx(sum(rates) / len(rates))
    assert film["bit_rate_switches"] == sum(one != other for one, other in pairwise(rates))
    # What the user has seen by the last byte is the rest of the time.
    waited = film["startup_s"] + film["stalled_s"]
    assert 0 < waited < found["flows"][0]["finish_s"]


def test_a_starved_film_stalls_and_the_table_says_so(bentpipe: Bentpipe) -> None:
    slow = ("--set", "links.satellite.rate=500 kbit/s", "--set", "flows.download.start=5 s")
    run = json.loads(bentpipe("run", FILM, *slow, "--json").stdout)
    (film,) = run["videos"]
    assert film["stalls"] > 0
    assert film["stalled_s"] > 5
    assert film["startup_s"] + film["stalled_s"] < run["duration_s"]
    table = bentpipe("run", FILM, *slow).stdout
    header = next(line for line in table.splitlines() if "stalled" in line)
    assert header.split() == ["video", "segments", "startup", "stalls", "stalled", "bit", "rate", "switches"]


def test_replications_and_sweeps_have_its_numbers(short: bp.Scenario, tmp_path: Path) -> None:
    lossy = short.with_({"links.satellite.loss": {"model": "packet", "probability": 0.01}})
    film = bp.replicate(lossy, runs=3).videos["film"]
    estimate = film["bit_rate_mean_bps"]
    assert isinstance(estimate, dict)
    assert estimate["n"] == 3
    swept = bp.sweep(lossy, {"links.satellite.rate": ["2 Mbit/s", "8 Mbit/s"]}, out=tmp_path / "s")
    rows = [row for row in swept.table().to_pylist() if row["kind"] == "video"]
    assert [row["name"] for row in rows] == ["film", "film"]
    assert rows[0]["bit_rate_mean_bps"] <= rows[1]["bit_rate_mean_bps"]


def test_variants_are_compared_by_what_the_user_sees(short: bp.Scenario) -> None:
    alone = short.with_({"flows.download.duration": "1 s", "flows.download.start": "50 s"})
    variants = ["newreno", "cubic"]
    by_rate = bp.compare(alone, variants, runs=2, metric="bit_rate_mean_bps", flows=["film"])
    assert "shows the film at" in by_rate.sentence
    assert "of the link" not in by_rate.markdown()
    values = [variant.value["mean"] for variant in by_rate.variants]
    assert values == sorted(values, reverse=True)
    assert (
        values[0]
        == bp.run(alone.with_({"flows.film.variant": by_rate.variants[0].name})).videos[0][
            "bit_rate_mean_bps"
        ]
    )
    by_startup = bp.compare(alone, variants, runs=2, metric="startup_s", flows=["film"])
    assert by_startup.variants[0].value["mean"] <= by_startup.variants[1].value["mean"]
    # Without the metric a film by itself is compared by its bit rate, and beside a download the download is.
    assert bp.compare(alone, variants, runs=1, flows=["film"]).measure.metric == "bit_rate_mean_bps"
    both = bp.compare(alone, variants, runs=1).measure
    assert (both.metric, both.flows) == ("goodput_bps", ("download",))


def test_a_metric_of_films_asks_for_one(short: bp.Scenario) -> None:
    with pytest.raises(bp.BentpipeError, match=r'--metric: expected a flow with app = "video" for stalled_s'):
        bp.compare(short, ["sack", "cubic"], runs=1, metric="stalled_s", flows=["download"])
