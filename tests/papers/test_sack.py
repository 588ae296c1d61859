"""The reproduction of the sack document: complete, explained, and with the verdicts that its page reports."""

import json
from pathlib import Path

import pytest

from bentpipe.errors import BentpipeError
from bentpipe_papers import sack
from bentpipe_papers.common import plain
from bentpipe_papers.reproduction import papers
from bentpipe_papers.reproduction.finished import Cache
from bentpipe_papers.reproduction.reproduce import Context, Item, Reproduced, Row, reproduce
from bentpipe_papers.sack import geo, satellite, terrestrial
from bentpipe_papers.sack.recovery import (
    lost_at_end,
    most_resent_in_a_round_trip,
    new_before_known_losses,
    recovery,
)
from bentpipe_papers.sack.runs import (
    CURVE_WINDOWS,
    PHASES,
    SCHEMES,
    WINDOWS,
    fact_name,
    satellite_settings,
    scheme_settings,
    terrestrial_settings,
)
from bentpipe_papers.sack.runs import terrestrial as terrestrial_case
from conftest import ROOT, Bentpipe

PAPER = papers.read(papers.folder() / "sack")
PICTURES = [item.name for item in sack.ITEMS if item.draw is not None]
FIGURES = [f"figure-{number}" for number in range(1, 6)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sack") / "report"


@pytest.fixture(scope="module")
def results(folder: Path, finished_runs: Path) -> list[Reproduced]:
    return reproduce("sack", Cache(finished_runs), report=folder)


@pytest.fixture
def context(finished_runs: Path) -> Context:
    return Context(PAPER, "text-one-drop", Cache(finished_runs), 1)


@pytest.fixture(scope="module")
def rows(results: list[Reproduced]) -> dict[tuple[str, str, str], Row]:
    return {(result.item.name, row.case, row.metric): row for result in results for row in result.rows}


@pytest.mark.parametrize(
    "number",
    ["94", "255.3", "392140.8", "95.737", "96", "41127", "0.274", "128", "1.536", "6370", "42242", "3e5"],
)
def test_every_printed_number_has_a_row(number: str) -> None:
    assert number in {row.published for row in PAPER.published if row.kind == "printed"}


def test_every_figure_has_claims_and_a_picture() -> None:
    assert set(FIGURES) <= {row.item for row in PAPER.published}
    assert set(FIGURES) <= set(PICTURES)


def test_the_windows_that_the_document_names_are_in_claims_and_curves() -> None:
    assert {96, 128, 160, 190} <= set(WINDOWS) <= set(CURVE_WINDOWS)


@pytest.mark.parametrize(
    ("item", "case", "metric", "verdict"),
    [
        ("text-window", "satellite", "round trip", "input"),
        ("text-window", "satellite", "bandwidth-delay product in packets", "input"),
        ("text-window", "satellite", "window that fills the link", "input"),
        ("text-methodology", "link", "rate", "input"),
        ("text-methodology", "standard window", "window", "input"),
        ("text-geo", "orbit", "radius", "input"),
        ("text-geo", "largest distance", "slant range", "contradiction"),
        ("text-geo", "largest distance", "2 d / c", "input"),
        ("text-geo", "largest distance", "round trip of TCP", "contradiction"),
        ("text-schemes", "NewReno, three drops", "timeouts", "match"),
        ("text-schemes", "SACK, three drops", "new packets sent before a known loss", "match"),
        (
            "text-schemes",
            "SACK inflates its window as Reno does",
            "largest window in recovery",
            "contradiction",
        ),
        ("text-one-drop", "Tahoe has the least throughput", "throughput", "match"),
        ("text-one-drop", "SACK as Reno and NewReno", "efficiency", "match"),
        ("text-one-drop", "SACK has the shortest queue", "queueing delay", "match"),
        ("text-one-drop", "Tahoe, window after the drop", "growth in the third round trip", "contradiction"),
        ("figure-1", "Reno has the lowest efficiency", "efficiency", "match"),
        ("figure-1", "Reno waits for the timer, the others do not", "timeouts", "match"),
        ("figure-1", "SACK", "efficiency", "differs"),
        ("figure-1", "SACK far ahead", "efficiency", "shape"),
        ("figure-1", "SACK far ahead", "throughput", "match"),
        ("figure-3", "NewReno: fewer drops at 190 than at 160 packets", "drops", "differs"),
        ("figure-4", "Tahoe: falls up to 128 packets", "efficiency", "shape"),
        ("figure-4", "Tahoe: higher at 160 than at 128 packets", "efficiency", "differs"),
        ("figure-4", "Reno: lower at 190 than at 160 packets", "efficiency", "match"),
        ("figure-4", "96 packets: SACK far ahead", "efficiency", "differs"),
        ("figure-4", "190 packets: SACK far ahead", "efficiency", "match"),
        ("figure-4", "190 packets: NewReno worst", "efficiency", "match"),
        ("figure-5", "SACK: highest at 96 packets", "throughput", "match"),
        ("figure-5", "Reno: higher at 190 than at 160 packets", "throughput", "match"),
        ("text-recovery", "SACK repairs no slower than Tahoe", "round trips to repair them", "contradiction"),
        ("text-recovery", "SACK", "resent in the first round trip", "match"),
        ("text-recovery", "SACK", "resent in the second round trip", "contradiction"),
        ("text-recovery", "SACK", "growth from one round trip to the next", "match"),
        ("text-recovery", "SACK", "timeouts", "contradiction"),
        ("text-conclusions", "the window affects queueing delay", "queueing delay", "match"),
    ],
)
def test_verdicts(
    rows: dict[tuple[str, str, str], Row], item: str, case: str, metric: str, verdict: str
) -> None:
    assert rows[item, case, metric].verdict.removesuffix(" (also without)") == verdict


def test_without_an_overflow_the_schemes_do_the_same(rows: dict[tuple[str, str, str], Row]) -> None:
    computed = str(rows["figure-4", "96 packets: SACK far ahead", "efficiency"].computed)
    values = [part.split()[1] for part in computed.removesuffix(" %").split(", ")]
    assert len(values) == 4
    assert len(set(values)) == 1
    for case in ("SACK far ahead", "NewReno worst"):
        for item, metric in (("figure-4", "efficiency"), ("figure-5", "throughput")):
            row = rows[item, f"96 packets: {case}", metric]
            assert row.cause == "not stated"
            assert "The sentence names no window" in row.note


def test_newreno_repairs_one_loss_a_round_trip(rows: dict[tuple[str, str, str], Row]) -> None:
    row = rows["text-schemes", "NewReno, three drops", "round trips to repair them"]
    assert row.computed == pytest.approx(3.0, abs=0.05)


def test_efficiency_is_what_arrives_of_what_is_sent(context: Context) -> None:
    (run,) = context.runs("three-drops.toml", [terrestrial_settings("sack")])
    flow = run["flows"][0]
    sent = plain(flow["throughput_bps"]) * plain(flow["duration_s"]) / 8
    measured = terrestrial_case(context, "three-drops.toml", ["sack"])["sack"]
    assert measured.efficiency == pytest.approx(100 * plain(flow["bytes_delivered"]) / sent)
    assert measured.efficiency == pytest.approx(94.6, abs=0.1)


def test_two_claims_alone_depend_on_where_in_a_tick_the_transfer_begins(results: list[Reproduced]) -> None:
    (grid,) = (result.grid for result in results if result.item.name == "text-phases")
    assert grid is not None
    counts = [[cell for cell in row[2:] if isinstance(cell, float)] for row in grid.rows]
    assert {sum(one) for one in counts} == {float(PHASES)}
    assert len(grid.rows) == 73
    apart = {(row[0], row[1]) for row, one in zip(grid.rows, counts, strict=True) if max(one) < PHASES}
    assert apart == {
        ("figure-4", "Reno: higher at 160 than at 128 packets, efficiency"),
        ("figure-4", "128 packets: SACK far ahead, efficiency"),
    }


def test_the_first_data_leaves_at_the_same_time_in_both_cases(context: Context) -> None:
    for settings, scenario in (
        (satellite_settings("sack", 96), "satellite.toml"),
        (terrestrial_settings("sack"), "one-drop.toml"),
    ):
        sent = context.trace(scenario, settings, title="SACK").traces.get("transfer", "sent")
        assert sent.time_s[0] == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_nothing_is_random(context: Context, scheme: str) -> None:
    settings = [satellite_settings(scheme, 160)]
    one, other = (context.runs("satellite.toml", settings, seed=seed)[0]["flows"] for seed in (1, 2))
    assert one == other


@pytest.mark.parametrize(
    ("early", "first", "lost", "resent", "timeouts"),
    [
        *(
            (early, first, *case)
            for early, first in ((True, 65), (False, 65), (False, 401))
            for case in (
                (32, [1, 2, 4, 8, 16, 1], 0),
                (33, [1, 1, 2, 4, 8, 16, 1], 0),
                (34, [1, 0, 1, 2, 4, 8, 10], 1),
            )
        ),
        (True, 401, 28, [1, 1, 2, 4, 8, 12], 0),
        (True, 401, 29, [1, 0, 1, 2, 4, 8, 10], 1),
    ],
)
def test_sack_doubles_what_it_resends_where_no_more_is_lost_than_pipe_leaves_room_for(
    context: Context, *, early: bool, first: int, lost: int, resent: list[int], timeouts: int
) -> None:
    settings = {
        **scheme_settings("sack"),
        "links.downlink.loss.packets": f"{[*range(first, first + lost)]}",
        "tcp.sack-1996.until_august_2000": str(early).lower(),
    }
    repair = recovery(context.trace("burst.toml", settings, title="SACK"))
    assert [repair.resent_in(one) for one in range(1, len(resent) + 1)] == resent
    assert repair.timeouts == timeouts


@pytest.mark.parametrize(("scheme", "new"), [("sack", 0), ("sack-6675", 4)])
def test_new_packets_before_a_known_loss_are_counted(context: Context, scheme: str, new: int) -> None:
    trace = context.trace("three-drops.toml", terrestrial_settings(scheme), title=scheme)
    assert new_before_known_losses(trace) == new


@pytest.mark.parametrize(("scheme", "most"), [("tahoe", 1), ("reno", 1), ("newreno", 1), ("sack", 2)])
def test_lost_packets_resent_in_a_round_trip_are_counted(context: Context, scheme: str, most: int) -> None:
    trace = context.trace("three-drops.toml", terrestrial_settings(scheme), title=scheme)
    assert most_resent_in_a_round_trip(trace) == most


def test_what_is_lost_and_not_resent_is_counted_at_the_end(context: Context) -> None:
    left = {}
    for scheme in SCHEMES:
        trace = context.trace("satellite.toml", satellite_settings(scheme, 190), title=scheme)
        left[scheme] = lost_at_end(trace)
    assert left["sack"] == 0
    assert left["newreno"] == max(left.values()) > 30


def test_newrenos_drops_fall_at_190_packets_by_the_size_of_the_buffer_which_is_not_stated(
    context: Context, rows: dict[tuple[str, str, str], Row]
) -> None:
    def drops(buffer: int) -> list[float]:
        settings = [
            satellite_settings("newreno", window, traffic_s=10, buffer=buffer) for window in (160, 190)
        ]
        runs = context.runs("satellite.toml", settings)
        return [sum(plain(link["dropped_packets"]) for link in run["links"]) for run in runs]

    row = rows["figure-3", "NewReno: fewer drops at 190 than at 160 packets", "drops"]
    assert row.cause == "not stated"
    assert "35 to 46 packets" in row.note
    assert drops(40) == [62, 55]
    fall = [buffer for buffer in range(33, 50) if drops(buffer)[1] < drops(buffer)[0]]
    assert fall == [*range(35, 47)]


def test_the_names_of_facts_are_told_apart() -> None:
    assert fact_name("SACK: far ahead", "queueing delay") == "sack_far_ahead_queueing_delay"
    names = [fact_name(claim.case, claim.metric) for group in satellite.CLAIMS.values() for claim in group]
    assert len(set(names)) == len(names)


def test_the_elevation_of_the_largest_distance() -> None:
    assert geo.elevation_deg(41_127, 6370, 42_242) == pytest.approx(5.74, abs=0.01)
    assert geo.elevation_deg(41_127, 6378, 42_164) == pytest.approx(5.0, abs=0.01)
    assert geo.orbit_radius_km() == pytest.approx(42_164.17, abs=0.05)


def test_claims_and_published_rows_are_the_same_set() -> None:
    claimed = {
        (item, claim.case, claim.metric) for item, group in satellite.CLAIMS.items() for claim in group
    } | {(item, claim.case, claim.metric) for item, group in terrestrial.CLAIMS.items() for claim in group}
    assert claimed <= {(row.item, row.case, row.metric) for row in PAPER.published}


@pytest.mark.usefixtures("results")
def test_the_report_cites_explains_and_shows(folder: Path) -> None:
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert "Ghanthiya Leerujikul" in page
    assert "Asian Institute of Technology" in page
    for item in sack.ITEMS:
        assert item.about, item.name
        assert f'id="sack-{item.name}"' in page
    assert {path.name for path in folder.iterdir()} == {"index.html", "result.json"}
    # Beside them the scatter, and the printed numbers of three items.
    assert page.count("<figure ") == len(PICTURES) + 4
    assert page.count("<svg") + page.count('src="data:image/png') == len(PICTURES) + 4


def test_a_report_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object, path: Path) -> None:
        path.write_bytes(b"half a picture")
        raise BentpipeError("no more ink")

    one = sack.ITEMS[2]
    monkeypatch.setattr(sack, "ITEMS", (Item(one.name, one.title, one.compute, fail),))
    monkeypatch.setattr(papers, "folder", lambda: _only(one.name, tmp_path / "papers"))
    with pytest.raises(BentpipeError, match="no more ink"):
        reproduce("sack", Cache(None), report=tmp_path / "report")
    assert not (tmp_path / "report").exists()


def _only(item: str, destination: Path) -> Path:
    """Make a folder of papers in which sack has the rows of one item."""
    folder = destination / "sack"
    folder.mkdir(parents=True, exist_ok=True)
    lines = (PAPER.folder / "published.csv").read_text().splitlines(keepends=True)
    kept = [lines[0], *(line for line in lines[1:] if line.startswith(f"{item},"))]
    (folder / "published.csv").write_text("".join(kept))
    for name in ("paper.toml", "notes.csv"):
        (folder / name).write_text((PAPER.folder / name).read_text())
    return destination


def test_one_item_from_the_command_line(bentpipe: Bentpipe) -> None:
    result = bentpipe("reproduce", "sack/text-window", "--json")
    assert result.returncode == 0, result.stderr
    (item,) = json.loads(result.stdout)["items"]
    assert item["item"] == "text-window"
    assert [row["verdict"] for row in item["rows"]] == ["input"] * 4


@pytest.mark.parametrize("name", ["satellite", "one-drop", "three-drops", "burst"])
def test_the_scenario_files_run_by_themselves(bentpipe: Bentpipe, name: str) -> None:
    result = bentpipe("run", ROOT / "papers" / "sack" / f"{name}.toml", "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["flows"][0]["bytes_delivered"] > 0
