import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest

from conftest import SCENARIOS, Bentpipe


def colours(picture: Path) -> set[tuple[int, ...]]:
    pixels = (matplotlib.image.imread(picture)[:, :, :3] * 255).round().astype(int)
    assert pixels.shape[0] > 600
    assert pixels.shape[1] > 600
    # Something is drawn, and most of the paper is still white.
    ink = np.any(pixels < 250, axis=2).mean()
    assert 0.01 < ink < 0.6
    return {tuple(int(part) for part in pixel) for pixel in np.unique(pixels.reshape(-1, 3), axis=0)}


def rgb(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5))


def test_a_lossy_run_is_drawn_with_retransmissions_windows_and_queues(
    bentpipe: Bentpipe, lossy: Path, tmp_path: Path
) -> None:
    from bentpipe.show.style import BLUE, ORANGE, RED

    result = bentpipe("plot", lossy)
    assert (result.returncode, result.stdout) == (0, "")
    assert {rgb(BLUE), rgb(ORANGE), rgb(RED)} <= colours(tmp_path / "plot.png")


def test_a_loss_free_run_has_no_retransmission_drawn(bentpipe: Bentpipe, tmp_path: Path) -> None:
    from bentpipe.show.style import RED

    bentpipe("plot", SCENARIOS / "first.toml", "--out", "clean.png")
    # The legend still shows what the mark would look like.
    picture = matplotlib.image.imread(tmp_path / "clean.png")[:, :, :3]
    red = np.all((picture * 255).round().astype(int) == rgb(RED), axis=2)
    assert red[:, picture.shape[1] // 4 :].sum() == 0


def test_a_result_folder_and_its_scenario_give_the_same_picture(
    bentpipe: Bentpipe, lossy: Path, tmp_path: Path
) -> None:
    bentpipe("run", lossy, "--out", "result")
    bentpipe("plot", "result", "--out", "a.png")
    bentpipe("plot", lossy, "--out", "b.png")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_svg_by_the_name_and_axes_with_units(bentpipe: Bentpipe, lossy: Path, tmp_path: Path) -> None:
    assert bentpipe("plot", lossy, "--out", "picture.svg").returncode == 0
    text = (tmp_path / "picture.svg").read_text()
    ElementTree.fromstring(text)  # noqa: S314
    for label in ("time (s)", "sequence number (MB)", "window (kB)", "RTT, RTO (s)", "queue (packets)"):
        assert f"<!-- {label} -->" in text


def test_a_title_and_an_axis_are_as_they_are_asked_for_in_a_pdf_too(
    bentpipe: Bentpipe, lossy: Path, tmp_path: Path
) -> None:
    assert bentpipe("plot", lossy, "--title", "Mine", "--xlabel", "moment", "--out", "a.svg").returncode == 0
    text = (tmp_path / "a.svg").read_text()
    assert "<!-- Mine -->" in text
    assert "<!-- moment -->" in text
    assert "time (s)" not in text
    assert bentpipe("plot", lossy, "--out", "a.pdf").returncode == 0
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")


def test_a_short_connection_has_no_window_after_its_last_acknowledgment(tmp_path: Path) -> None:
    import bentpipe as bp
    from bentpipe.plot.curves import Curves
    from bentpipe.plot.run import DrawnRun

    (tmp_path / "short.toml").write_text(
        'extends = "preset:geo"\nduration = "100 s"\n[flows.short]\nfrom = "server"\nto = "client"\n'
        'app = "short-flows"\nmean_interval = "1 s"\nbytes = "20 kB"\ntransfers = 3\n'
    )
    result = bp.run(tmp_path / "short.toml", series=True)
    curves = Curves(DrawnRun("short", result.run, result.series), 0.0, 100.0)
    last = {name: result.series.get(name, "acked").time_s[-1] for name in curves.connections("short")}
    assert len(last) == 3
    assert all(curves.held(name, "cwnd")[0][-1] == time for name, time in last.items())
    # What is left of a connection waits on.
    assert any(result.series.get(name, "cwnd").time_s[-1] > time for name, time in last.items())


def test_several_runs_stand_side_by_side(bentpipe: Bentpipe, lossy: Path, tmp_path: Path) -> None:
    for variant in ("reno", "sack"):
        bentpipe("run", lossy, "--set", f"flows.download.variant={variant}", "--out", variant)
    assert bentpipe("plot", "reno", "sack", "--out", "both.svg", "--from", "2", "--to", "8").returncode == 0
    text = (tmp_path / "both.svg").read_text()
    assert "<!-- reno -->" in text
    assert "<!-- sack -->" in text


@pytest.mark.parametrize("broken", ["result.json", "series.parquet"])
def test_a_broken_result_is_one_line(bentpipe: Bentpipe, lossy: Path, tmp_path: Path, broken: str) -> None:
    bentpipe("run", lossy, "--out", "result")
    (tmp_path / "result" / broken).write_text("nonsense")
    result = bentpipe("plot", "result")
    assert result.returncode == 2
    assert broken in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "plot.png").exists()


@pytest.mark.parametrize("name", ["result.json", "series.parquet"])
def test_a_file_of_a_result_is_not_taken_for_a_scenario(bentpipe: Bentpipe, lossy: Path, name: str) -> None:
    bentpipe("run", lossy, "--out", "result")
    result = bentpipe("plot", f"result/{name}")
    message = "expected the folder that it is in, or a scenario, found a file of a result"
    assert (result.returncode, result.stderr) == (2, f"bentpipe: result/{name}: {message}\n")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--set", "seed=3"), "--set: expected a scenario to change, found finished runs: result"),
        (("--seed", "3"), "--seed: expected a scenario to change, found finished runs: result"),
        (("--from", "10000"), "--from 10000: expected a time before the runs end, at "),
    ],
)
def test_what_would_change_or_show_nothing_is_refused(
    bentpipe: Bentpipe, lossy: Path, tmp_path: Path, options: tuple[str, str], expected: str
) -> None:
    bentpipe("run", lossy, "--out", "result")
    result = bentpipe("plot", "result", *options)
    assert (result.returncode, result.stderr.count("\n")) == (2, 1)
    assert result.stderr.startswith(f"bentpipe: {expected}")
    assert not (tmp_path / "plot.png").exists()
    # A scenario beside it can be changed.
    if options[0] != "--from":
        assert bentpipe("plot", "result", lossy, *options).returncode == 0


@pytest.mark.parametrize("flows", ["both", "stream"])
def test_a_stream_over_udp_is_drawn_without_a_window(bentpipe: Bentpipe, tmp_path: Path, flows: str) -> None:
    text = (SCENARIOS / "multimedia.toml").read_text().replace("300 s", "10 s")
    before, download, stream = text.split("[flows.")
    path = tmp_path / "streams.toml"
    path.write_text("[flows.".join([before, stream] if flows == "stream" else [before, download, stream]))
    assert bentpipe("run", path, "--out", "result").returncode == 0
    for source, picture in ((path, "a.svg"), ("result", "b.svg")):
        result = bentpipe("plot", source, "--out", picture)
        assert (result.returncode, result.stderr) == (0, f"Wrote {picture}\n")
    drawn = (tmp_path / "a.svg").read_text()
    assert drawn == (tmp_path / "b.svg").read_text()
    assert ("<!-- video (UDP) -->" in drawn) == (flows == "both")
    assert ("<!-- datagram sent -->" in drawn) == (flows == "stream")
    assert ("<!-- segment resent -->" in drawn) == (flows == "both")
    assert ("<!-- cwnd (kB) -->" in drawn) == (flows == "both")


def test_files_of_two_runs_in_one_folder_are_refused(bentpipe: Bentpipe, lossy: Path, tmp_path: Path) -> None:
    bentpipe("run", lossy, "--out", "one", "--plot")
    bentpipe("run", lossy, "--out", "two", "--seed", "8")
    (tmp_path / "two" / "series.parquet").replace(tmp_path / "one" / "series.parquet")
    result = bentpipe("plot", "one")
    complaint = "one: expected files of one run, found result.json and series.parquet of two"
    assert (result.returncode, result.stderr) == (2, f"bentpipe: {complaint}\n")
    identity = json.loads((tmp_path / "one" / "result.json").read_text())["identity"]
    assert identity.encode() in (tmp_path / "one" / "plot.png").read_bytes()
