"""What Python and data frames get of a result."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bentpipe as bp
import result_types
from bentpipe.numbers.declared import structure, tables
from bentpipe.runs import recording
from conftest import LOSSY, SCENARIOS

SCENARIO = bp.Scenario.from_toml(LOSSY)


def test_types_and_page_of_a_result_are_those_of_the_rust_side() -> None:
    for path, text in result_types.stubs().items():
        assert path.read_text(encoding="utf-8") == text, "run: make types"


def test_a_name_is_one_number_in_every_table_and_ends_with_its_unit() -> None:
    ends = {"_s": "s", "_bps": "bit/s", "_bytes": "B", "_packets": "packet"}
    known: dict[str, set[tuple[str, str, str]]] = {}
    for columns in (structure(), *tables().values(), structure("EngineResult")):
        for key, one in columns.items():
            known.setdefault(key, set()).add((one.kind, one.unit, one.runs))
            expected = next((unit for end, unit in ends.items() if key.endswith(end)), one.unit)
            assert (key, one.unit) == (key, expected)
            assert one.kind == "text" or one.heading
    assert [key for key, several in known.items() if len(several) > 1] == []


REPAIRED = {"retransmitted_frames", "parity_frames", "recovered_packets", "order_wait_max_s"}
"""What a row has of a link that repairs its losses, and no other."""

CHANGING = {"rate_mean_bps", "standstill"}
"""What a row has of a link that changes, and no other."""

SOME = REPAIRED | CHANGING | {"kernel_release"}
"""The last is of a flow whose hosts are a kernel."""


@pytest.mark.parametrize(
    "name",
    [
        "pages.toml",
        "short-flows.toml",
        "video.toml",
        "leo-handover.toml",
        "relay.toml",
        "two-flows.toml",
        "repaired.toml",
    ],
)
def test_a_run_has_the_columns_of_the_schema(name: str) -> None:
    result = bp.run(bp.Scenario.load(SCENARIOS / name), progress=False)
    for what, columns in tables().items():
        table = getattr(result, what)
        assert all(set(row) - SOME == set(columns) - SOME for row in table)
        repaired = [row["name"] for row in table if set(row) & REPAIRED]
        assert repaired == (
            ["satellite", "satellite/reverse"] if (what, name) == ("links", "repaired.toml") else []
        )
        arrow = pa.table(table)
        assert arrow.column_names == list(columns)
        assert arrow.num_rows == len(table) == len(result.run[what])  # type: ignore[literal-required]
        for key, column in columns.items():
            field = arrow.schema.field(key)
            assert pa.types.is_dictionary(field.type) == (column.kind == "text")
            about = field.metadata or {}
            assert (about.get(b"unit", b"").decode(), about[b"meaning"].decode()) == (
                column.unit,
                column.meaning,
            )


def test_a_row_is_found_by_its_name_and_a_wrong_one_names_those_that_are_there() -> None:
    result = bp.run(SCENARIO)
    assert result.flows["download"] is result.flows[0]
    with pytest.raises(KeyError, match="no row 'upload' in flows: there are download"):
        result.flows["upload"]


def test_estimates_are_three_columns_and_replications_are_rows() -> None:
    result = bp.replicate(SCENARIO, 4)
    arrow = result.flows.to_arrow().to_pylist()[0]
    goodput: Any = result.flows["download"]["goodput_bps"]
    assert (arrow["goodput_bps"], arrow["goodput_bps_ci95"]) == (goodput["mean"], goodput["ci95"])
    assert arrow["goodput_bps_n"] == 4
    each = result.replications().to_arrow()
    assert each["replication"].to_pylist() == [0, 1, 2, 3]
    assert each["seed"].to_pylist() == result.run["seeds"]
    assert np.mean(each["goodput_bps"].to_numpy()) == pytest.approx(goodput["mean"], rel=1e-12)
    again = bp.run(SCENARIO, seed=each["seed"][2].as_py())
    assert again.flows[0]["goodput_bps"] == each["goodput_bps"][2].as_py()


def test_replications_that_were_not_kept_are_not_there() -> None:
    with pytest.raises(bp.InputError, match=r"^replications: expected a result .* that kept them"):
        bp.replicate(SCENARIO, 2, keep=False).replications()
    wrong: Any = "flow"
    with pytest.raises(bp.InputError, match=r"^what: expected one of flows, links, .*found 'flow'"):
        bp.replicate(SCENARIO, 2).replications(wrong)


def test_series_go_to_arrow_and_numpy_without_a_copy() -> None:
    result = bp.run(SCENARIO, series=True)
    one, other = pa.table(result.series), pa.table(result.series)
    for name in ("time_s", "value"):
        addresses = {table[name].chunk(0).to_numpy().__array_interface__["data"][0] for table in (one, other)}
        assert len(addresses) == 1
        first = result.series.curves[0]
        assert getattr(first, name).__array_interface__["data"][0] == addresses.pop()
    assert all(pa.types.is_dictionary(one.schema.field(name).type) for name in ("subject", "kind", "unit"))


def test_the_columns_of_series_are_their_curves() -> None:
    result = bp.run(SCENARIO, series=True)
    rows = pa.table(result.series)
    assert rows.num_rows == sum(len(trace.time_s) for trace in result.series)
    for trace in result.series:
        assert np.all(np.diff(trace.time_s) >= 0)
        here = (pa.compute.field("subject") == trace.subject) & (pa.compute.field("kind") == trace.kind)
        found = rows.filter(here)
        assert np.array_equal(found["value"].to_numpy(), trace.value, equal_nan=True)
        assert set(found["unit"].to_pylist()) == {trace.unit}


def test_what_was_cut_or_read_is_a_table_too(tmp_path: Path) -> None:
    path = tmp_path / "series.parquet"
    bp.run(SCENARIO, series_file=path)
    whole = bp.run(SCENARIO, series=True).series
    read = bp.Traces.read(path)
    assert pa.table(read).sort_by("time_s").num_rows == pa.table(whole).num_rows
    cut = whole.between(1.0, 2.0)
    assert pa.table(cut).num_rows == sum(len(trace.time_s) for trace in cut)
    assert pa.table(bp.run(SCENARIO).series).num_rows == 0


def test_phases_have_names_in_memory_in_a_file_and_in_a_cut(tmp_path: Path) -> None:
    path = tmp_path / "series.parquet"
    paced = bp.Scenario.load("preset:geo", {"flows.*.variant": "bbr3", "duration": "20 s"})
    series = bp.run(paced, series=True).series
    phases = series.phases("download")
    assert phases[0].name == "startup"
    assert "probe_rtt" in {phase.name for phase in phases}
    # One begins where the other ends, and the last where the sender acted last.
    assert [phase.end_s for phase in phases[:-1]] == [phase.start_s for phase in phases[1:]]
    assert 19.0 < phases[-1].end_s <= 20.0
    bp.run(paced, series_file=path)
    assert bp.Traces.read(path).phases("download") == phases
    middle = series.between(8.0, 9.0).phases("download")
    assert middle == [phase for phase in phases if phase.end_s >= 8.0 and phase.start_s < 9.0]
    for kind in ("pacing_rate", "delivery_rate"):
        assert series.get("download", kind).unit == "bit/s"
    # Who has no phases has no points of them either.
    assert bp.run(SCENARIO, series=True).series.phases("download") == []
    with pytest.raises(bp.InputError, match="'nobody'"):
        series.phases("nobody")


def test_a_file_in_several_parts_has_every_point_in_its_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording.FileRecorder, "rows_at_a_time", 1 << 16)
    scenario = bp.Scenario.load(SCENARIOS / "two-flows.toml")
    bp.run(scenario, series_file=tmp_path / "series.parquet", progress=False)
    assert pq.read_metadata(tmp_path / "series.parquet").num_row_groups > 2
    read = bp.Traces.read(tmp_path / "series.parquet")
    whole = bp.run(scenario, series=True, progress=False).series
    assert len(read.curves) == len(whole.curves)
    for trace in whole:
        same = read.get(trace.subject, trace.kind)
        assert np.array_equal(same.time_s, trace.time_s)
        assert np.array_equal(same.value, trace.value, equal_nan=True)


def test_a_run_without_a_point_is_a_file_without_rows(tmp_path: Path) -> None:
    path = tmp_path / "series.parquet"
    bp.run(SCENARIO, series=[":buffer"], series_file=path)
    assert pq.read_metadata(path).num_rows == 0
    assert bp.Traces.read(path).curves == ()


def test_a_disk_that_fails_while_points_are_written_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(recording.FileRecorder, "_write", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*series\.parquet'"):
        bp.run(SCENARIO, series_file=tmp_path / "series.parquet")


def test_a_plot_gives_its_axes_and_leaves_the_style_of_others_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "agg")
    import matplotlib as mpl
    from matplotlib import pyplot

    before = dict(mpl.rcParams)
    result, other = bp.run(SCENARIO, series=True), bp.run(SCENARIO, seed=8, series=True)
    axes: Any = result.plot(other, start_s=1.0, end_s=3.0)
    assert axes.shape == (4, 2)
    assert [row[0].get_ylabel().split(" (")[0].split(",")[0] for row in axes][-1].startswith("queue")
    low, high = axes[0, 0].get_xlim()
    assert 0.5 < low <= 1.1
    assert 2.9 <= high < 3.5
    assert axes[0, 0].get_title(loc="left") != axes[0, 1].get_title(loc="left")
    assert dict(mpl.rcParams) == before
    pyplot.close(axes[0, 0].figure)
    with pytest.raises(bp.InputError, match=r"^series: expected results of .*series=True"):
        result.plot(bp.run(SCENARIO))


def test_results_say_what_they_are() -> None:
    result = bp.replicate(SCENARIO.with_({"title": "<i>"}), 3)
    assert "3 replications: download sack" in repr(result)
    page = result._repr_html_()
    assert "&lt;i&gt;" in page
    assert "<i>" not in page
    # The columns are those of the command line, with their units in the cells.
    assert "<th>goodput</th>" in page
    assert "Mbit/s" in page or "kbit/s" in page
    assert "goodput_bps" not in page
    assert "±" in page


def test_a_table_shows_what_is_there_with_units_and_a_row_is_an_attribute() -> None:
    result = bp.run(SCENARIO, series=True)
    assert result.flows.download is result.flows["download"]
    assert "download" in dir(result.flows)
    with pytest.raises(AttributeError, match=r"no row 'upload' in flows: there are download"):
        _ = result.flows.upload
    page = result.flows._repr_html_()
    assert "<th>goodput</th>" in page
    assert " s</td>" in page
    # Nothing is said of what no row has.
    assert "response" not in page
    curves = result.series._repr_html_()
    assert "<td>download</td><td>cwnd</td>" in curves
    assert " B</td>" in curves


def test_a_file_is_run_as_a_scenario_is(tmp_path: Path) -> None:
    file = tmp_path / "lossy.toml"
    file.write_text(SCENARIO.toml(), encoding="utf-8")
    assert bp.run(file).flows.download["goodput_bps"] == bp.run(SCENARIO).flows.download["goodput_bps"]
    assert bp.replicate(str(file), 2).run["runs"] == 2
    with pytest.raises(bp.ScenarioError, match=r"nowhere\.toml"):
        bp.run(tmp_path / "nowhere.toml")
    with pytest.raises(bp.InputError, match=r"^scenario: expected a scenario.* or its file, found"):
        bp.run(7)  # type: ignore[arg-type]


def test_a_scenario_without_a_title_is_called_by_its_flows() -> None:
    tables = SCENARIO.to_dict()
    assert bp.Scenario.from_dict(tables).headline == SCENARIO.title
    del tables["title"]
    assert bp.Scenario.from_dict(tables).headline == "flows download"


def test_importing_the_library_waits_for_neither_numpy_nor_pyarrow() -> None:
    program = "import sys, bentpipe; print(sorted({'numpy', 'pyarrow', 'scipy'} & set(sys.modules)))"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert told.stdout == "[]\n"
