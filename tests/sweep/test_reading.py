"""What a sweep found: as a table of rows, as means, as a picture; from the command line and in Python."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import bentpipe as bp
from bentpipe.show.words import key_words
from bentpipe.sweeps.picture import draw
from conftest import Bentpipe, files_in

LOSS = "links.satellite.loss.probability"
VARIANT = "flows.download.variant"
RATE = "links.satellite.rate"
WINDOW = "tcp.receive_window"


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> bp.Sweep:
    """Two variants, three rates and two windows, four times each; and a second flow."""
    folder = tmp_path_factory.mktemp("reading")
    (folder / "two.toml").write_text(
        'extends = "preset:geo"\ntitle = "two flows"\n'
        '[links.satellite]\nloss = { model = "packet", probability = 0.01 }\n'
        '[flows.download]\nfrom = "server"\nto = "client"\nbytes = "100 kB"\n'
        '[flows.upload]\nfrom = "client"\nto = "server"\nbytes = "20 kB"\n'
    )
    vary = {VARIANT: ["reno", "sack"], RATE: "1 Mbit/s,2 Mbit/s,10 Mbit/s", WINDOW: ["16 KiB", "64 KiB"]}
    return bp.sweep(folder / "two.toml", vary, runs=4, out=folder / "found", progress=False)


CHOSEN = {VARIANT: "sack", RATE: "2 Mbit/s", WINDOW: "64 KiB"}


def replicated(found: bp.Sweep, settings: dict[str, str]) -> bp.Result:
    scenario = bp.Scenario.load(found.folder / "scenario.toml", settings)
    return bp.replicate(scenario, 4, keep=False, progress=False)


def test_the_means_of_a_point_are_those_of_its_replications_by_themselves(found: bp.Sweep) -> None:
    expected = replicated(found, CHOSEN).flows
    groups = list(found.groups(["name"], ["goodput_bps", "timeouts"], CHOSEN))
    assert [(group.values[0], *group.numbers) for group in groups] == [
        (flow["name"], flow["goodput_bps"], flow["timeouts"]) for flow in expected
    ]


def test_rows_go_to_other_libraries_through_arrow(found: bp.Sweep) -> None:
    table = pa.table(found)
    assert table.equals(found.table())
    assert table["kind"].to_pylist().count("run") == 12 * 4
    assert pa.types.is_dictionary(table.schema.field(VARIANT).type)
    # A quantity is a text, and a number beside it.
    pairs = set(zip(table[RATE].to_pylist(), table[f"{RATE} (Mbit/s)"].to_pylist(), strict=True))
    assert pairs == {("1 Mbit/s", 1.0), ("2 Mbit/s", 2.0), ("10 Mbit/s", 10.0)}
    units = {field.name: (field.metadata or {})[b"unit"] for field in table.schema}
    assert (units["goodput_bps"], units["delivered_packets"], units["point"]) == (b"bit/s", b"packet", b"")
    assert found.table(["point", RATE]).column_names == ["point", RATE]


def test_show_has_the_means_and_json_has_all(bentpipe: Bentpipe, found: bp.Sweep) -> None:
    options = [text for key, value in CHOSEN.items() for text in ("--where", f"{key}={value}")]
    options += ["--y", "goodput_bps"]
    shown = bentpipe("show", found.folder, *options)
    assert shown.returncode == 0
    assert "two flows  (12 points, 4 runs each, seed 1, 95 % intervals; " in shown.stdout
    lines = shown.stdout.splitlines()[2:]
    assert all(line.endswith(" in all runs") for line in lines)
    assert [line.split()[:6] for line in lines] == [
        ["sack", "2", "Mbit/s", "64", "KiB", name] for name in ("download", "upload")
    ]
    (row, _) = json.loads(bentpipe("show", found.folder, *options, "--json").stdout)["rows"]
    assert row["settings"] == CHOSEN
    assert row["goodput_bps"] == replicated(found, CHOSEN).flows[0]["goodput_bps"]
    whole = json.loads(bentpipe("show", found.folder, "--json").stdout)
    assert (whole["points"], whole["runs"], whole["done"], len(whole["rows"])) == (12, 4, 48, 24)


def test_a_long_table_shows_its_first_rows_and_says_that_there_are_more(
    bentpipe: Bentpipe, found: bp.Sweep
) -> None:
    shown = bentpipe("show", found.folder).stdout.splitlines()
    assert len(shown) == 2 + 20 + 1
    assert shown[-1].startswith("… and more: --where KEY=VALUE chooses")


def test_a_picture_has_a_line_for_each_value_with_the_means_and_intervals(found: bp.Sweep) -> None:
    from matplotlib.figure import Figure

    axes = draw(
        found, Figure().add_subplot(), RATE, "goodput_bps", [VARIANT], {WINDOW: "64 KiB", "name": "download"}
    )
    assert (axes.get_xlabel(), axes.get_ylabel()) == (
        "rate of satellite (Mbit/s)",
        "goodput (kbit/s), not from 0",
    )
    handles: Any
    handles, labels = axes.get_legend_handles_labels()
    assert labels == ["reno", "sack"]
    line, _, (bars,) = handles[1]
    assert list(line.get_xdata()) == [1.0, 2.0, 10.0]
    goodput = replicated(found, CHOSEN).flows[0]["goodput_bps"]
    assert isinstance(goodput, dict)
    assert goodput["ci95"] is not None
    assert line.get_ydata()[1] == pytest.approx(goodput["mean"] / 1e3)
    low, high = bars.get_segments()[1]
    assert (high[1] - low[1]) / 2 == pytest.approx(goodput["ci95"] / 1e3)


def test_plot_writes_the_picture(bentpipe: Bentpipe, found: bp.Sweep, tmp_path: Path) -> None:
    options = [
        "--x",
        RATE,
        "--y",
        "goodput_bps",
        "--by",
        VARIANT,
        "--by",
        "name",
        "--where",
        f"{WINDOW}=16 KiB",
    ]
    result = bentpipe("plot", found.folder, *options, "--out", "goodput.svg")
    assert (result.returncode, result.stderr) == (0, "Wrote goodput.svg\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", "goodput.svg"]
    assert (tmp_path / "goodput.svg").read_text().lstrip().startswith("<?xml")


def test_more_lines_than_colours_become_panels_and_the_figure_says_what_it_shows(
    bentpipe: Bentpipe, found: bp.Sweep, tmp_path: Path
) -> None:
    by = ["--by", VARIANT, "--by", WINDOW, "--by", "name"]
    options = ["--x", RATE, "--y", "utilization", *by, "--out", "panels.svg"]
    assert bentpipe("plot", found.folder, *options).returncode == 0
    text = (tmp_path / "panels.svg").read_text(encoding="utf-8")
    for told in ("variant of download: reno", "variant of download: sack", "two flows"):
        assert text.count(f"<!-- {told} -->") == 1
    assert "<!-- rate of satellite (Mbit/s) -->" in text
    assert "<!-- utilization over links.satellite.rate; means of 4 runs, 95 % intervals -->" in text


def test_a_picture_has_filters_a_title_and_an_axis_as_they_are_asked_for(
    bentpipe: Bentpipe, found: bp.Sweep, tmp_path: Path
) -> None:
    where = ["--where", f"{WINDOW}=16 KiB", "--where", "name=download"]
    options = [
        "--x",
        RATE,
        "--y",
        "goodput_bps",
        "--by",
        VARIANT,
        *where,
        "--title",
        "Mine",
        "--xlabel",
        "link",
    ]
    assert bentpipe("plot", found.folder, *options, "--out", "mine.svg").returncode == 0
    text = (tmp_path / "mine.svg").read_text(encoding="utf-8")
    for told in ("Mine", "link", "variant of download"):
        assert f"<!-- {told} -->" in text
    assert "goodput (kbit/s)" in text
    assert "only tcp.receive_window=16 KiB" in text
    assert "name=download" in text
    assert "two flows" not in text
    assert bentpipe("plot", found.folder, *options, "--out", "mine.pdf").returncode == 0
    assert (tmp_path / "mine.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("links.satellite.loss.probability", "random loss on satellite"),
        ("links.*.rate", "rate of every link"),
        ("links.a.reverse.delay", "delay of a, way back"),
        ("tcp.receive_window", "receive window"),
        ("flows.*.variant", "variant"),
        ("flows.web.tcp.rto.min", "rto min of web"),
        ("seed", "seed"),
    ],
)
def test_an_axis_has_a_key_in_words(key: str, words: str) -> None:
    assert key_words(key) == words


def test_a_notebook_shows_the_table_of_the_command_line(found: bp.Sweep) -> None:
    page = found._repr_html_()
    assert "<th>goodput</th>" in page
    assert "kbit/s" in page
    assert "two flows: 12 points, 4 runs each" in page


def test_texts_stand_side_by_side(bentpipe: Bentpipe, found: bp.Sweep, tmp_path: Path) -> None:
    options = ["--x", VARIANT, "--y", "utilization", "--by", RATE]
    options += ["--where", f"{WINDOW}=16 KiB", "--where", "name=satellite", "--out", "texts.png"]
    assert bentpipe("plot", found.folder, *options).returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", "texts.png"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], "--x: expected a name, as in bentpipe plot"),
        (["--x", RATE], "--y: expected a name"),
        (["--x", "links.satellite.speed", "--y", "goodput_bps"], f"--x with a key that was varied ({RATE}, "),
        (["--x", RATE, "--y", "goodput"], "--y with a measured number (goodput_bps, "),
        (["--x", RATE, "--y", "goodput_bps"], f"--by {VARIANT} --by name --by {WINDOW}, or --where"),
        (["--x", RATE, "--y", "goodput_bps", "--by", RATE], "expected another key than --x"),
        (["--x", RATE, "--y", "goodput_bps", "--by", "colour"], "--by with a key that was varied, or name"),
        (
            ["--x", RATE, "--y", "jain", "--by", WINDOW, "--where", f"{VARIANT}=fast"],
            "--where flows.download.variant: expected",
        ),
        (["--x", RATE, "--y", "goodput_bps", "--from", "3"], "--from: expected runs to draw, found a sweep"),
    ],
)
def test_a_picture_that_cannot_be_drawn_is_one_line_and_nothing_is_written(
    bentpipe: Bentpipe, found: bp.Sweep, tmp_path: Path, options: list[str], told: str
) -> None:
    result = bentpipe("plot", found.folder, *options)
    assert (result.returncode, result.stderr.count("\n")) == (2, 1)
    assert told in result.stderr
    assert files_in(tmp_path) == []


def test_options_of_sweeps_need_a_sweep(bentpipe: Bentpipe, lossy: Path) -> None:
    result = bentpipe("plot", lossy, "--x", RATE, "--y", "goodput_bps")
    assert (result.returncode, result.stderr.count("\n")) == (2, 1)
    assert "expected the folder of a sweep" in result.stderr


def test_a_sample_is_drawn_point_by_point(lossy: Path, tmp_path: Path) -> None:
    from matplotlib.figure import Figure

    vary = {LOSS: "0.0001..0.1:log", VARIANT: ["reno", "sack"]}
    sample = bp.sweep(lossy, vary, sample=12, runs=2, out=tmp_path / "found", progress=False)
    axes = draw(sample, Figure().add_subplot(), LOSS, "goodput_bps", [VARIANT])
    handles: Any = axes.get_legend_handles_labels()[0]
    assert [len(handle[0].get_xdata()) for handle in handles] == [6, 6]
    assert {handle[0].get_linestyle() for handle in handles} == {"None"}
    assert axes.get_xscale() == "log"


@pytest.mark.parametrize(
    ("vary", "told"),
    [
        (VARIANT, "vary: expected keys with values"),
        ({VARIANT: 3}, "vary: expected keys with values"),
        ({3: ["reno"]}, "vary: expected names such as"),
        ({VARIANT: [None]}, "vary: flows.download.variant: expected texts, numbers"),
        ({VARIANT: []}, "--vary flows.download.variant: expected V1,V2"),
        ({}, "--vary: expected a key and values"),
    ],
)
def test_what_cannot_be_varied_raises_and_nothing_is_written(
    lossy: Path, tmp_path: Path, vary: object, told: str
) -> None:
    with pytest.raises(bp.InputError, match=f"^{told}"):
        bp.sweep(lossy, vary, out=tmp_path / "found")  # type: ignore[arg-type]
    assert files_in(tmp_path) == ["lossy.toml"]


def test_values_of_python_are_those_of_the_command_line(lossy: Path, tmp_path: Path) -> None:
    found = bp.sweep(
        lossy, {LOSS: (0.01, 0.1), "tcp.timestamps": [True, False]}, out=tmp_path / "a", progress=False
    )
    texts = bp.sweep(
        lossy, {LOSS: "0.01,0.1", "tcp.timestamps": "true,false"}, out=tmp_path / "b", progress=False
    )
    assert found.design == texts.design


def test_intervals_by_the_bootstrap_are_those_of_the_runs(found: bp.Sweep, bentpipe: Bentpipe) -> None:
    (group,) = found.groups(["name"], ["goodput_bps"], {**CHOSEN, "name": "download"}, interval="bootstrap")
    (number,) = group.numbers
    assert isinstance(number, dict)
    shown = bentpipe("show", str(found.folder), "--interval", "bootstrap", "--json").stdout
    rows = json.loads(shown)["rows"]
    wanted = [row for row in rows if row["name"] == "download" and row["settings"] == CHOSEN]
    assert [row["goodput_bps"] for row in wanted] == [dict(number)]
    assert number["low"] <= number["mean"] <= number["high"]
    plain = json.loads(bentpipe("show", str(found.folder), "--json").stdout)["rows"]
    assert all("low" not in (row["goodput_bps"] or {}) for row in plain)


def test_a_report_of_a_sweep_replaces_none_of_its_files(found: bp.Sweep, bentpipe: Bentpipe) -> None:
    told = bentpipe("show", str(found.folder), "--report", "told.csv")
    assert (told.returncode, told.stderr.count("\n")) == (2, 1)
    assert "--report: expected a file name that ends in .html, found told.csv" in told.stderr
    told = bentpipe("show", str(found.folder), "--y", "bandwidth", "--report", "told.html")
    assert told.returncode == 2
    assert "expected a measured number" in told.stderr


def test_a_report_has_the_rows_and_what_they_came_from(found: bp.Sweep, tmp_path: Path) -> None:
    found.report(tmp_path / "told.html", ["goodput_bps"], {"name": "download", VARIANT: "sack"})
    text = (tmp_path / "told.html").read_text(encoding="utf-8")
    assert text.count("<tr>") == 1 + 6
    assert "2 Mbit/s" in text
    assert "only name" in text
    assert "[flows.download]" in text
    assert "https://" not in text.replace("https://github.com/leeoniya/uPlot", "")


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> bp.Sweep:
    """Three users of pages at two probabilities of loss, five times each; some pages do not come."""
    folder = tmp_path_factory.mktemp("users")
    (folder / "users.toml").write_text(
        'extends = "preset:geo"\ntitle = "users"\nduration = "40 s"\n'
        '[links.satellite]\nloss = { model = "packet", probability = 0.01 }\n'
        '[flows."web{i}"]\nfrom = "server"\nto = "client"\napp = "http"\ncount = 3\npage_interval = "8 s"\n'
        '[flows.download]\nfrom = "server"\nto = "client"\nbytes = "1 MB"\n'
    )
    return bp.sweep(folder / "users.toml", {LOSS: ["0.01", "0.05"]}, runs=5, out=folder / "o", progress=False)


def test_pages_of_a_run_are_one_number_and_not_many(users: bp.Sweep) -> None:
    for group in users.groups(["point", "name"], ["response_s"]):
        (number,) = group.numbers
        assert isinstance(number, dict)
        assert number["n"] == 5
    # The mean of runs is what a comparison of the same flows has.
    scenario = bp.Scenario.load(users.folder / "scenario.toml", {LOSS: "0.05"})
    compared = bp.compare(scenario, {"a": {"seed": 1}, "b": {"seed": 1}}, runs=5, metric="response_s")
    (whole,) = users.groups(["point"], ["response_s"], {LOSS: "0.05"})
    assert isinstance(whole.numbers[0], dict)
    assert whole.numbers[0]["mean"] == pytest.approx(compared["a"].value["mean"])


def test_points_are_no_replications(users: bp.Sweep, found: bp.Sweep) -> None:
    (group,) = users.groups([], ["goodput_bps"], {"name": "download"})
    assert isinstance(group.numbers[0], dict)
    assert group.numbers[0]["n"] == 5
    rows = found.table().filter(pa.compute.field("name") == "download").to_pylist()
    of_reno = [row["goodput_bps"] for row in rows if row[VARIANT] == "reno"]
    (reno, _) = found.groups([VARIANT], ["goodput_bps"], {"name": "download"})
    assert isinstance(reno.numbers[0], dict)
    assert (reno.numbers[0]["n"], len(of_reno)) == (4, 24)
    assert reno.numbers[0]["mean"] == pytest.approx(sum(of_reno) / 24)


def test_a_percentile_is_that_of_all_runs_together(users: bp.Sweep) -> None:
    for place, group in enumerate(users.groups(["point"], ["response_p95_s", "response_s"])):
        rows = [row for row in users.table().to_pylist() if row["kind"] == "page" and row["point"] == place]
        waits = [row["response_s"] for row in rows if row["response_s"] is not None]
        late, number = group.numbers
        assert isinstance(late, dict)
        assert isinstance(number, dict)
        assert late["mean"] == pytest.approx(np.quantile(waits, 0.95))
        assert late["n"] == 5
        assert late["low"] < late["mean"] < late["high"]
        assert late["present"] == number.get("present", 1.0) == len(waits) / len(rows)


def test_a_start_is_that_of_the_flow_and_not_of_its_pages(users: bp.Sweep) -> None:
    (group, _) = users.groups(["point"], ["start_s"], {"name": "web1"})
    assert isinstance(group.numbers[0], dict)
    assert (group.numbers[0]["mean"], group.numbers[0]["n"]) == (0.0, 5)


def test_the_share_that_finished_stands_beside_the_mean_of_those(users: bp.Sweep, bentpipe: Bentpipe) -> None:
    shown = bentpipe("show", users.folder, "--y", "response_s").stdout
    assert " % " in shown
    assert " s of " in shown
    assert "of N %: share of the runs with the number" in shown
    groups = users.groups(["point"], ["response_s"], {"name": "web*"})
    rows = [row for row in users.table().to_pylist() if row["kind"] == "page" and row["point"] == 1]
    came = sum(row["response_s"] is not None for row in rows) / len(rows)
    (_, late) = groups
    assert isinstance(late.numbers[0], dict)
    assert late.numbers[0]["present"] == pytest.approx(came)


def test_copies_of_a_flow_are_a_row_and_a_pattern_chooses_them(users: bp.Sweep, bentpipe: Bentpipe) -> None:
    lines = bentpipe("show", users.folder, "--y", "goodput_bps").stdout.splitlines()
    assert sum("web" in line for line in lines) == 2
    chosen = bentpipe("show", users.folder, "--where", "name=web*", "--json").stdout
    assert {row["name"] for row in json.loads(chosen)["rows"]} == {"web0", "web1", "web2"}
    none = bentpipe("show", users.folder, "--where", "name=wab*")
    assert (none.returncode, none.stderr.count("\n")) == (2, 1)
    assert "--where name: expected a name or a pattern of some (" in none.stderr


def test_a_picture_breaks_where_every_run_failed_and_shows_zero_on_a_wide_axis(
    lossy: Path, tmp_path: Path
) -> None:
    import math

    from matplotlib.figure import Figure

    wide = bp.sweep(
        lossy,
        {LOSS: ["0", "0.0001", "0.001", "0.01", "1"]},
        runs=2,
        out=tmp_path / "wide",
        progress=False,
    )
    axes = draw(wide, Figure().add_subplot(), LOSS, "goodput_bps")
    assert axes.get_xscale() == "symlog"
    assert axes.get_title() == "lossy\nmeans of 2 runs, 95 % intervals"
    line, crosses = axes.lines[0], axes.lines[-1]
    assert math.isnan(list(line.get_ydata())[-1])  # type: ignore[arg-type]
    assert (list(crosses.get_xdata()), crosses.get_marker()) == ([1.0], "x")  # type: ignore[arg-type]
    single = bp.sweep(lossy, {LOSS: ["0.001", "0.01"]}, out=tmp_path / "one", progress=False)
    axes = draw(single, Figure().add_subplot(), LOSS, "goodput_bps")
    assert axes.get_title() == "lossy\nsingle runs"
    (container,) = axes.containers
    assert not container.has_yerr  # type: ignore[attr-defined]


@pytest.mark.parametrize(("losses", "told"), [("0", ", seed 1, "), ("0,0.1", "; at 1 of 2 points ")])
def test_a_sweep_says_where_nothing_is_random(
    bentpipe: Bentpipe, tmp_path: Path, losses: str, told: str
) -> None:
    link = 'links.satellite.loss={ model = "packet", probability = 0 }'
    options = [
        "--set",
        link,
        "--set",
        "flows.download.bytes=10 kB",
        "--vary",
        f"{LOSS}={losses}",
        "--runs",
        "3",
    ]
    swept = bentpipe("sweep", "preset:geo", *options, "--out", tmp_path / "out")
    assert swept.returncode == 0
    assert f"{told}nothing is random: one run is enough)" in " ".join(swept.stdout.split())
