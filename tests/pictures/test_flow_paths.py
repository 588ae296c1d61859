"""What a run's picture shows of paths that change: propagation below the RTT, goodput, changes, no path."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bentpipe as bp
from bentpipe import _core
from bentpipe.plot import DrawnRun, Page
from bentpipe.plot.flow_path import path_curves
from bentpipe.runs.traces import Traces
from conftest import SCENARIOS, Bentpipe
from fake_sky import FakeSky

MOVING = """\
extends = "preset:geo"
title = "moving"
duration = "10 s"
[links.satellite]
schedule = [
  { at = "4 s", delay = "150 ms", rate = "1 Mbit/s", loss = { model = "packet", probability = 0.2 } },
  { at = "5 s", loss = { model = "packet", probability = 0 } },
  { at = "8 s", outage = "500 ms" },
]
[flows.download]
from = "server"
to = "client"
"""

OVER_SATELLITES = """\
title = "islands"
duration = "10 s"
[constellation]
preset = "starlink"
uplink = { rate = "20 Mbit/s" }
downlink = { rate = "20 Mbit/s" }
laser = { rate = "1 Gbit/s" }
[stations]
fiji = { latitude = "-18 deg", longitude = "178 deg" }
samoa = { latitude = "-14 deg", longitude = "-172 deg" }
[flows."web{i}"]
from = "samoa"
to = "fiji"
count = 3
[flows.download]
from = "fiji"
to = "samoa"
[flows.call]
app = "cbr"
rate = "64 kbit/s"
packet = "160 B"
from = "samoa"
to = "fiji"
"""


def panels(subject: DrawnRun, **options: Any) -> dict[str, Any]:
    from matplotlib.figure import Figure

    page = Page([subject], **options)
    grid = page.draw(Figure(figsize=page.size_in))
    return {axes.get_ylabel().split(" (")[0]: axes for axes in grid[:, 0]}


def legend(axes: Any) -> list[str]:
    return [text.get_text().replace("\n", " ") for text in axes.get_legend().get_texts()]


def spans(axes: Any) -> list[tuple[float, float]]:
    found = [patch for patch in axes.patches if hasattr(patch, "get_width")]
    return sorted((patch.get_x(), patch.get_x() + patch.get_width()) for patch in found)


@pytest.fixture
def moving(tmp_path: Path) -> DrawnRun:
    (tmp_path / "moving.toml").write_text(MOVING)
    return DrawnRun.of(str(tmp_path / "moving.toml"))


def test_links_that_change_have_their_propagation_below_the_rtt(moving: DrawnRun) -> None:
    way = path_curves(moving.run, ["download"], 10.0)["download"]
    assert way.without == ((8.0, 8.5),)
    assert way.lossy == ((4.0, 5.0),)
    # There and back over what the preset has around the satellite.
    before, after = (way.rtt_s[np.searchsorted(way.time_s, at, "right") - 1] for at in (0.0, 4.5))
    assert before > after
    drawn = panels(moving)
    assert list(drawn) == ["sequence number", "goodput", "window", "RTT", "queue"]
    area = drawn["RTT"].collections[0]
    heights = {round(float(y), 9) for y in area.get_paths()[0].vertices[:, 1]}
    assert {0.0, round(float(before), 9), round(float(after), 9)} <= heights
    assert legend(drawn["RTT"]) == ["propagation alone", "RTT, newest sample"]
    for axes in drawn.values():
        assert spans(axes) == [(4.0, 5.0), (8.0, 8.5)]
    assert legend(drawn["goodput"]) == ["narrowest link", "no path", "links lose 10 % or more"]


def test_goodput_is_what_was_delivered_over_time(moving: DrawnRun) -> None:
    axes = panels(moving)["goodput"]
    assert axes.get_ylabel() == "goodput (Mbit/s)\nmean of 100 ms"
    assert axes.get_ylim()[0] == 0
    narrowest, goodput = axes.get_lines()
    assert set(narrowest.get_ydata()) == {2.048e6, 1e6}
    carried = np.sum(np.asarray(goodput.get_ydata())[:-1] * np.diff(goodput.get_xdata())) / 8
    assert carried == pytest.approx(moving.run["flows"][0]["bytes_delivered"], rel=0.06)


def test_the_goodput_of_a_group_is_a_band(tmp_path: Path) -> None:
    users = MOVING.replace("[flows.download]", '[flows."user{i}"]\ncount = 20')
    (tmp_path / "users.toml").write_text(users)
    subject = DrawnRun.of(str(tmp_path / "users.toml"))
    axes = panels(subject)["goodput"]
    (band,) = axes.collections
    narrowest, median = axes.get_lines()
    assert set(narrowest.get_ydata()) == {2.048e6, 1e6}
    # In 100 ms half of the users get something and a few get much of the link.
    highest = band.get_paths()[0].vertices[:, 1].max()
    assert 0 < np.max(median.get_ydata()) < highest < 2.048e6


def test_a_link_whose_rate_alone_changes_has_goodput_beside_it(tmp_path: Path) -> None:
    text = MOVING.replace(', loss = { model = "packet", probability = 0.2 }', "").replace(
        'delay = "150 ms", ', ""
    )
    rain = "".join(line for line in text.splitlines(keepends=True) if 'at = "5 s"' not in line)
    rain = rain.replace('  { at = "8 s", outage = "500 ms" },\n', "")
    (tmp_path / "rain.toml").write_text(rain)
    subject = DrawnRun.of(str(tmp_path / "rain.toml"))
    narrowest = panels(subject)["goodput"].get_lines()[0]
    assert set(narrowest.get_ydata()) == {2.048e6, 1e6}
    (tmp_path / "dry.toml").write_text(rain.replace('rate = "1 Mbit/s"', 'rate = "2.048 Mbit/s"'))
    assert "goodput" not in panels(DrawnRun.of(str(tmp_path / "dry.toml")))


def test_what_was_not_recorded_has_no_panel(moving: DrawnRun) -> None:
    kept = tuple(trace for trace in moving.traces if trace.kind in ("cwnd", "rtt"))
    drawn = panels(DrawnRun("made", moving.run, Traces(kept)))
    assert list(drawn) == ["sequence number", "window", "RTT"]


def test_a_result_of_another_scenario_has_no_ways(moving: DrawnRun) -> None:
    assert path_curves({**moving.run, "scenario_toml": "[links"}, ["download"], 10.0) == {}
    run = {key: value for key, value in moving.run.items() if key != "scenario_toml"}
    assert path_curves(run, ["download"], 10.0) == {}  # type: ignore[arg-type]
    more = {**moving.run, "flows": [*moving.run["flows"], {"name": "second"}]}
    assert list(path_curves(more, ["download", "second"], 10.0)) == ["download"]  # type: ignore[arg-type]


def test_a_run_over_links_that_stay_as_they_are_has_no_such_panel(lossy: Path) -> None:
    drawn = panels(DrawnRun.of(str(lossy)))
    assert list(drawn) == ["sequence number", "window", "RTT, RTO", "queue"]
    assert "propagation alone" not in legend(drawn["RTT, RTO"])


@pytest.fixture
def satellites(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DrawnRun:
    # 100 ms there and back by a path, and 130 by the next.
    stretches = [(0.0, [0, 3, 1], [50.0] * 4), (4.0, [], []), (5.0, [0, 3, 4, 1], [65.0] * 5)]
    monkeypatch.setattr(_core, "Sky", lambda _: AnyWay(stretches=stretches), raising=False)
    (tmp_path / "islands.toml").write_text(OVER_SATELLITES)
    return DrawnRun.of(str(tmp_path / "islands.toml"))


class AnyWay(FakeSky):
    def follow(self, source: str, to: str, until_s: float) -> Any:
        assert {source, to} == {"fiji", "samoa"}
        assert until_s == 10.0
        return self.stretches


def test_paths_over_satellites_are_marked_where_they_change_and_shaded_where_there_is_none(
    satellites: DrawnRun,
) -> None:
    drawn = panels(satellites)
    # Links over satellites come and go, and have no curves of their queues.
    assert list(drawn) == ["sequence number", "goodput", "cwnd", "RTT"]
    for axes in drawn.values():
        marks = [line for line in axes.get_lines() if list(line.get_xdata()) == [5.0, 5.0]]
        assert len(marks) == 1
        # The path that is found again has an outage first.
        assert spans(axes) == [(4.0, 5.5)]
    assert drawn["goodput"].get_ylim()[0] == 0
    assert legend(drawn["goodput"]) == ["no path", "path changes"]
    # All flows have the same path: one area.
    assert legend(drawn["RTT"]) == ["propagation alone"]
    way = path_curves(satellites.run, ["web0", "download"], 10.0)
    assert way["web0"] is way["download"]


@pytest.mark.parametrize("handover", ["", "constellation.handover.outage=300 ms"])
def test_nothing_gets_through_for_as_long_as_the_run_says(handover: str) -> None:
    # Bent pipes, so that there is not always a satellite that both see.
    settings = ["constellation.lasers=false", "constellation.reconfigure=loss", "duration=300 s", handover]
    settings += ["stations.new-york.latitude=52 deg", "stations.new-york.longitude=-25.5 deg"]
    pairs = [tuple(setting.split("=", 1)) for setting in settings if setting]
    subject = DrawnRun.of(str(SCENARIOS / "shell.toml"), pairs)  # type: ignore[arg-type]
    (path,) = [path for path in subject.run["paths"] if path["flow"] == "cubic"]
    way = path_curves(subject.run, ["cubic"], 300.0)["cubic"]
    assert len(way.changes) == path["handovers"]
    without = sum(end - start for start, end in way.without)
    assert without == pytest.approx(path["no_path_s"], abs=1e-6)
    assert without > 0


def test_flows_with_paths_of_their_own_have_lines_of_their_own(tmp_path: Path) -> None:
    text = 'title = "two"\nduration = "10 s"\n'
    for number, delay in enumerate(("50 ms", "80 ms")):
        link = f'from = "a{number}"\nto = "b{number}"\nrate = "1 Mbit/s"\ndelay = "20 ms"\n'
        change = f'schedule = [{{ at = "5 s", delay = "{delay}" }}]\n'
        text += f'[links.l{number}]\n{link}{change}[flows.f{number}]\nfrom = "a{number}"\nto = "b{number}"\n'
    (tmp_path / "two.toml").write_text(text)
    drawn = panels(DrawnRun.of(str(tmp_path / "two.toml")))
    lines = [line for line in drawn["RTT"].get_lines() if line.get_linestyle() == "--"]
    values = [sorted({round(1e3 * float(y)) for y in line.get_ydata()}) for line in lines]
    # The way back takes 20 ms all the time.
    assert values == [[40, 70], [40, 100]]
    assert legend(drawn["RTT"]) == ["propagation alone"]
    assert not drawn["RTT"].collections


@pytest.mark.parametrize(
    ("scenario", "picture"),
    [("first.toml", "first.png"), ("-", "plot.png"), ("folder/", "folder.png")],
)
def test_run_draws_into_a_file_with_the_scenarios_name(
    bentpipe: Bentpipe, tmp_path: Path, scenario: str, picture: str
) -> None:
    text = (SCENARIOS / "first.toml").read_text()
    (tmp_path / "first.toml").write_text(text)
    settings = ["--set", "duration=2 s"]
    if scenario == "folder/":
        assert bentpipe("run", "first.toml", "--out", "folder").returncode == 0
    result = bentpipe("run", scenario, "--plot", *settings, input=text if scenario == "-" else None)
    assert (result.returncode, result.stderr) == (0, f"Wrote {picture}\n")
    assert "goodput" in result.stdout
    assert (tmp_path / picture).read_bytes().startswith(b"\x89PNG")


def test_a_picture_without_a_folder_is_the_one_in_the_folder(
    bentpipe: Bentpipe, lossy: Path, tmp_path: Path
) -> None:
    bentpipe("run", lossy, "--plot", "--flows", "download")
    bentpipe("run", lossy, "--plot", "--out", "result")
    assert (tmp_path / "lossy.png").read_bytes() == (tmp_path / "result" / "plot.png").read_bytes()
    assert bentpipe("run", lossy, "--out", "result", "--plot").stderr == ""


def test_a_picture_that_would_replace_the_scenario_is_refused(bentpipe: Bentpipe, tmp_path: Path) -> None:
    (tmp_path / "odd.png").write_text((SCENARIOS / "first.toml").read_text())
    result = bentpipe("run", "odd.png", "--plot")
    assert result.returncode == 2
    assert result.stderr.startswith("bentpipe: --plot: expected a file that this command does not read")
    assert result.stderr.count("\n") == 1


def test_a_trace_of_deliveries_has_a_rate_and_no_outage_between_two_of_them(tmp_path: Path) -> None:
    # Two seconds at 3 Mbit/s, a delivery each 4 ms; nothing for a second; a second at 6 Mbit/s.
    times = [*range(4, 2001, 4), *range(3002, 4001, 2)]
    (tmp_path / "x.up").write_text("".join(f"{time}\n" for time in times))
    (tmp_path / "s.toml").write_text(
        'duration = "8 s"\n[links.l]\nfrom = "a"\nto = "b"\nrate = "9 Mbit/s"\ndelay = "10 ms"\n'
        'trace = { file = "x.up", format = "mahimahi" }\n[flows.f]\nfrom = "a"\nto = "b"\n'
    )
    run = bp.run(bp.Scenario.load(tmp_path / "s.toml")).run
    way = path_curves(run, ["f"], 8.0)["f"]
    assert [(round(start, 6), round(end, 6)) for start, end in way.without] == [(2.0, 3.0), (6.0, 7.0)]
    rates = dict(zip(np.round(way.time_s, 6), way.rate_bps, strict=True))
    assert abs(rates[1.0] - 3e6) < 0.05e6
    assert abs(rates[3.5] - 6e6) < 0.07e6
    assert np.count_nonzero(np.isfinite(way.rtt_s)) > 50


@pytest.mark.parametrize("end_s", [0.5, 4.0])
def test_a_millisecond_without_a_delivery_is_no_outage_however_few_there_are(
    tmp_path: Path, end_s: float
) -> None:
    # 24 Mbit/s but for a millisecond now and then: a row of 1 ms, which is part of the rate.
    times = [time for time in range(1, 501) if time % 100 != 50]
    (tmp_path / "x.up").write_text("".join(f"{time}\n{time}\n" for time in times))
    (tmp_path / "s.toml").write_text(
        f'duration = "{end_s} s"\n[links.l]\nfrom = "a"\nto = "b"\nrate = "24 Mbit/s"\ndelay = "10 ms"\n'
        'trace = { file = "x.up", format = "mahimahi" }\n[flows.f]\nfrom = "a"\nto = "b"\n'
    )
    run = bp.run(bp.Scenario.load(tmp_path / "s.toml")).run
    way = path_curves(run, ["f"], end_s)["f"]
    assert way.without == ()
    # Its rate has a panel: 99 of 100 milliseconds.
    assert len(way.rate_bps) > 0
    assert np.allclose(way.rate_bps, 0.99 * 24e6, rtol=0.02)


def test_a_short_outage_of_a_schedule_is_one(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(
        'duration = "2 s"\n[links.l]\nfrom = "a"\nto = "b"\nrate = "9 Mbit/s"\ndelay = "10 ms"\n'
        'schedule = [{ at = "1 s", outage = "50 ms" }]\n[flows.f]\nfrom = "a"\nto = "b"\n'
    )
    run = bp.run(bp.Scenario.load(tmp_path / "s.toml")).run
    assert path_curves(run, ["f"], 2.0)["f"].without == ((1.0, 1.05),)
