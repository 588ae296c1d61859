import json
import re
from io import StringIO
from itertools import takewhile
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from rich.console import Console

import reference_pages
from bentpipe.results import parse
from bentpipe.show.table import print_run
from conftest import ROOT, SCENARIOS, Bentpipe, without_engine

FLOW_KEYS = {
    "name",
    "variant",
    "bytes_delivered",
    "start_s",
    "finish_s",
    "duration_s",
    "goodput_bps",
    "throughput_bps",
    "retransmitted_segments",
    "timeouts",
    "ecn_reductions",
    "rtt_mean_s",
    "rtt_p50_s",
    "rtt_p95_s",
    "rtt_p99_s",
    "loss_cause_random",
    "loss_cause_random_cut",
    "loss_cause_congestion",
    "loss_cause_congestion_kept",
    "loss_cause_cuts",
    "loss_cause_needless_cuts",
}
LINK_KEYS = {
    "name",
    "utilization",
    "delivered_packets",
    "dropped_packets",
    "early_dropped_packets",
    "marked_packets",
    "corrupted_packets",
    "queue_mean_packets",
    "queue_max_packets",
    "queueing_delay_mean_s",
}


def test_the_json_of_a_run_has_the_promised_keys_and_adds_up(bentpipe: Bentpipe, lossy: Path) -> None:
    result = bentpipe("run", lossy, "--json")
    assert (result.returncode, result.stderr) == (0, "")
    run = json.loads(result.stdout)
    assert {
        "scenario",
        "seed",
        "duration_s",
        "flows",
        "links",
        "gateways",
        "handovers",
        "pages",
        "jain",
        "engine",
    } <= set(run)
    assert set(run["engine"]) == {"events", "data_segments", "wall_s"}
    (flow,) = run["flows"]
    assert set(flow) >= FLOW_KEYS
    assert flow["bytes_delivered"] == 1_000_000
    assert flow["goodput_bps"] == pytest.approx(8e6 / flow["duration_s"], rel=1e-9)
    assert flow["throughput_bps"] > flow["goodput_bps"]
    assert flow["retransmitted_segments"] > 0
    assert all(set(link) >= LINK_KEYS for link in run["links"])
    assert [link["name"] for link in run["links"]] == [
        "terrestrial",
        "terrestrial/reverse",
        "satellite",
        "satellite/reverse",
    ]
    # Each loss was repaired, and each loss was on the satellite.
    assert flow["retransmitted_segments"] >= run["links"][2]["corrupted_packets"] > 0


def test_every_key_of_a_result_and_every_series_is_explained(bentpipe: Bentpipe, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "reference" / "results.md").read_text() + reference_pages.pages()[
        "result-reference.md"
    ]
    scenarios = (
        "leo-handover.toml",
        "pages.toml",
        "short-flows.toml",
        "demo.toml",
        "relay.toml",
        "video.toml",
        "repaired.toml",
    )
    for name in scenarios:
        assert bentpipe("run", SCENARIOS / name, "--runs", "2", "--out", name).returncode == 0
        run = json.loads((tmp_path / name / "result.json").read_text())
        tables = ("flows", "links", "gateways", "handovers", "relays", "pages", "videos", "calls")
        rows = [row for table in tables for row in run[table]]
        keys = {key for table in (run, run["engine"], run["jain"], *rows) for key in table}
        kinds = set(pq.read_table(tmp_path / name / "series.parquet")["kind"].to_pylist())
        assert [key for key in keys | kinds if f"`{key}`" not in page and f'"{key}"' not in page] == []


def test_a_link_that_repairs_its_losses_says_how(bentpipe: Bentpipe, lossy: Path) -> None:
    shown = bentpipe("run", SCENARIOS / "repaired.toml")
    header, *rows = [line for line in shown.stdout.splitlines() if line.startswith(("link", "satellite"))]
    assert "  recovered  repair frames  order wait, most" in header
    assert rows[0].count("packets") == 6
    assert rows[0].count(" frames") == rows[1].count(" frames") == 1
    run = json.loads(bentpipe("run", SCENARIOS / "repaired.toml", "--json").stdout)
    ground, _, down, up = run["links"]
    assert (down["retransmitted_frames"], up["parity_frames"]) == (0, 0)
    assert down["parity_frames"] > down["recovered_packets"] > 50
    assert up["retransmitted_frames"] >= up["recovered_packets"] > 50
    assert up["order_wait_max_s"] >= 0.5 > down["order_wait_max_s"] > 0
    # Who repairs nothing says nothing of it.
    assert "recovered_packets" not in ground
    assert "recovered" not in bentpipe("run", lossy).stdout


def test_a_saturated_link_behind_a_trace_of_deliveries_is_busy(bentpipe: Bentpipe, tmp_path: Path) -> None:
    scenario = tmp_path / "deliveries.toml"
    scenario.write_text("""
duration = "20 s"
[flows.download]
from = "server"
to = "client"

[links.access]
from = "server"
to = "client"
rate = "50 Mbit/s"
delay = "20 ms"
queue = "200 packets"
trace = { format = "mahimahi", text = "1\\n3\\n3\\n5\\n8\\n" }
""")
    (down, up) = json.loads(bentpipe("run", scenario, "--json").stdout)["links"]
    assert (down["rate_mean_bps"], down["standstill"]) == (7.5e6, 0.5)
    assert down["utilization"] < 0.5
    assert "rate_mean_bps" not in up
    header, row, back, _ = bentpipe("run", scenario).stdout.splitlines()[-4:]
    columns = [re.split(r"  +", line) for line in (header, row, back)]
    found = dict(zip(*columns[:2], strict=True))
    assert (found["could carry"], found["stood still"]) == ("7.5 Mbit/s", "50 %")
    assert float(found["busy"].removesuffix(" %")) > 98
    assert dict(zip(columns[0], columns[2], strict=True))["could carry"] == "–"


def test_a_relay_has_a_row_of_its_buffer_and_a_series(bentpipe: Bentpipe, tmp_path: Path) -> None:
    result = bentpipe("run", SCENARIOS / "relay.toml", "--out", "out")
    header, row = result.stdout.splitlines()[-3:-1]
    assert header.endswith("buffer, mean  buffer, most  undelivered")
    (relay,) = json.loads((tmp_path / "out" / "result.json").read_text())["relays"]
    assert relay["buffer_bytes"] == relay["buffer_max_bytes"] == 128 * 1024
    assert 0 < relay["buffer_mean_bytes"] < relay["buffer_max_bytes"]
    assert row.split()[:3] == ["ground", "relay", "space"]
    assert row.split()[-4:] == ["131.1", "kB", "0", "B"]
    held = bentpipe("run", SCENARIOS / "relay.toml", "--out", "held", "--series", "ground:buffer")
    assert held.returncode == 0
    buffer = pq.read_table(tmp_path / "held" / "series.parquet").to_pydict()
    assert set(buffer["kind"]) == {"buffer"}
    assert max(buffer["value"]) == 128 * 1024


def test_the_table_shows_units(bentpipe: Bentpipe, lossy: Path) -> None:
    result = bentpipe("run", lossy)
    assert result.returncode == 0
    for unit in ("kbit/s", "MB", " s ", "packets", "%"):
        assert unit in result.stdout


def test_a_narrow_terminal_cuts_no_name_and_no_number(bentpipe: Bentpipe, lossy: Path) -> None:
    run = parse(bentpipe("run", lossy, "--runs", "2", "--json").stdout)
    narrow, wide = StringIO(), StringIO()
    print_run(run, Console(width=40, file=narrow))
    print_run(run, Console(width=400, file=wide))
    assert narrow.getvalue().split() == wide.getvalue().split()


def test_each_connection_that_breaks_is_named_and_is_not_called_open(
    bentpipe: Bentpipe, tmp_path: Path
) -> None:
    text = """\
extends = "preset:geo"
duration = "20000 s"
[links.satellite]
loss = { model = "packet", probability = 1 }
[flows.broken]
from = "server"
to = "client"
bytes = "1 MB"
count = 2
[flows.fine]
from = "server"
to = "gateway"
"""
    (tmp_path / "dead.toml").write_text(text)
    shown = bentpipe("run", "dead.toml").stdout.splitlines()
    rows = {line.split()[0]: line for line in shown if line.startswith(("broken", "fine"))}
    assert [", failed" in rows[name] for name in ("broken0", "broken1", "fine")] == [True, True, False]
    assert ", open" in rows["fine"]
    reason = "the retransmission limit was reached without an answer"
    assert [line.strip() for line in shown if reason in line] == [f"broken{i}: {reason}" for i in (0, 1)]


def test_losses_by_cause_are_shown_when_there_are_any(bentpipe: Bentpipe, lossy: Path) -> None:
    (flow,) = json.loads(bentpipe("run", lossy, "--json").stdout)["flows"]
    assert flow["loss_cause_random"] >= flow["loss_cause_random_cut"] > 0
    assert flow["loss_cause_congestion"] == flow["loss_cause_congestion_kept"] == 0
    (row,) = loss_cause_rows(bentpipe("run", lossy).stdout)
    share = flow["loss_cause_random_cut"] / flow["loss_cause_random"]
    assert f" {flow['loss_cause_random']} segments " in row
    assert f" {100 * share:.4g} %" in row
    assert row.endswith(f" {flow['loss_cause_needless_cuts']} of {flow['loss_cause_cuts']}")
    whole = bentpipe("run", lossy, "--set", 'links.satellite.loss={ model = "none" }').stdout
    assert "download" in whole
    assert "losses by cause" not in whole


def loss_cause_rows(output: str) -> list[str]:
    lines = [line.rstrip() for line in output.splitlines()]
    first = next(number for number, line in enumerate(lines) if line.startswith("losses by cause")) + 1
    return list(takewhile(lambda line: line.startswith("download"), lines[first:]))


def test_replications_combine_the_losses_by_cause(bentpipe: Bentpipe, lossy: Path) -> None:
    options = ("--runs", "4", "--set", 'links.satellite.queue="10 packets"')
    (flow,) = json.loads(bentpipe("run", lossy, *options, "--json").stdout)["flows"]
    for column in (key for key in flow if key.startswith("loss_cause_")):
        assert set(flow[column]) >= {"mean", "ci95", "n"}
        assert flow[column]["n"] == 4
    (row,) = loss_cause_rows(bentpipe("run", lossy, *options).stdout)
    assert " ± " in row
    assert " %" in row


def test_the_same_seed_gives_the_same_bytes(bentpipe: Bentpipe, lossy: Path) -> None:
    first, second = (bentpipe("run", lossy, "--json").stdout for _ in range(2))
    assert without_engine(first) == without_engine(second)
    other = bentpipe("run", lossy, "--json", "--seed", "8").stdout
    assert json.loads(other)["seed"] == 8
    assert json.loads(other)["flows"][0]["duration_s"] != json.loads(first)["flows"][0]["duration_s"]


@pytest.mark.parametrize(
    "options", [["--runs", "7"], ["--precision", "20%"], ["--precision", "20%", "--runs", "12"]]
)
def test_threads_change_no_byte(bentpipe: Bentpipe, lossy: Path, options: list[str]) -> None:
    one, two, many = (
        bentpipe("run", lossy, *options, "--json", "--threads", n).stdout for n in ("1", "2", "5")
    )
    assert without_engine(one) == without_engine(two) == without_engine(many)


def test_replications_give_means_with_intervals(bentpipe: Bentpipe, lossy: Path) -> None:
    run = json.loads(bentpipe("run", lossy, "--runs", "6", "--json").stdout)
    assert (run["runs"], run["seed"]) == (6, 7)
    goodput = run["flows"][0]["goodput_bps"]
    assert set(goodput) == {"mean", "ci95", "n", "doubt"}
    assert (goodput["doubt"], run["random"]) == ("few", True)
    assert goodput["n"] == 6
    assert 0 < goodput["ci95"] < goodput["mean"]
    assert run["flows"][0]["bytes_delivered"] == {"mean": 1e6, "ci95": 0.0, "n": 6}
    assert run["links"][2]["corrupted_packets"]["mean"] > 0


def test_the_first_replication_is_the_plain_run(bentpipe: Bentpipe, lossy: Path) -> None:
    plain = json.loads(bentpipe("run", lossy, "--json").stdout)["flows"][0]["goodput_bps"]
    one = json.loads(bentpipe("run", lossy, "--runs", "1", "--json").stdout)["flows"][0]["goodput_bps"]
    assert one == {"mean": plain, "ci95": None, "n": 1}


def test_precision_is_reached_or_said_not_to_be(bentpipe: Bentpipe, lossy: Path) -> None:
    reached = bentpipe("run", lossy, "--precision", "10%", "--json")
    goodput = json.loads(reached.stdout)["flows"][0]["goodput_bps"]
    assert reached.stderr == ""
    assert goodput["ci95"] <= 0.1 * goodput["mean"]
    missed = bentpipe("run", lossy, "--precision", "0.01%", "--runs", "12", "--json")
    assert missed.returncode == 0
    assert missed.stderr == "bentpipe: the precision was not reached in 12 replications\n"
    assert json.loads(missed.stdout)["runs"] == 12


def test_variants_meet_the_same_losses_in_the_same_replication(bentpipe: Bentpipe, lossy: Path) -> None:
    first_losses = []
    for variant in ("tahoe", "sack"):
        bentpipe("run", lossy, "--set", f"flows.download.variant={variant}", "--out", variant)
        table = pq.read_table(lossy.parent / variant / "series.parquet").to_pylist()
        first_losses.append(next(row["value"] for row in table if row["kind"] == "damaged"))
    assert first_losses[0] == first_losses[1] > 0


def test_a_setting_changes_the_run(bentpipe: Bentpipe, lossy: Path) -> None:
    result = bentpipe(
        "run", lossy, "--set", "flows.download.bytes=100 kB", "--set", "tcp.mss=500 B", "--json"
    )
    run = json.loads(result.stdout)
    assert run["flows"][0]["bytes_delivered"] == 100_000
    assert run["engine"]["data_segments"] >= 200


def test_out_holds_result_series_and_picture(bentpipe: Bentpipe, lossy: Path, tmp_path: Path) -> None:
    result = bentpipe("run", lossy, "--out", "new/folder", "--plot", "--json")
    folder = tmp_path / "new" / "folder"
    assert sorted(path.name for path in folder.iterdir()) == ["plot.png", "result.json", "series.parquet"]
    assert (folder / "result.json").read_text() == result.stdout
    flow = json.loads(result.stdout)["flows"][0]
    table = pq.read_table(folder / "series.parquet")
    assert table.column_names == ["subject", "kind", "unit", "time_s", "value"]
    rows = table.to_pylist()
    resent = [row for row in rows if (row["subject"], row["kind"]) == ("download", "resent")]
    assert len(resent) == flow["retransmitted_segments"]
    acked = [row["value"] for row in rows if row["kind"] == "acked"]
    assert acked == sorted(acked)
    assert acked[-1] >= flow["bytes_delivered"]
    assert {row["unit"] for row in rows if row["kind"] == "cwnd"} == {"B"}


@pytest.mark.parametrize("path", sorted(SCENARIOS.glob("*.toml")), ids=lambda path: path.stem)
def test_every_example_runs(bentpipe: Bentpipe, path: Path) -> None:
    result = bentpipe("run", path, "--json")
    assert result.returncode == 0, result.stderr
    assert all(flow["bytes_delivered"] > 0 for flow in json.loads(result.stdout)["flows"])


@pytest.mark.parametrize(
    "what",
    [
        *("variants", "recoveries", "controls", "starts", "applications", "losses", "queues", "presets"),
        "profiles",
    ],
)
def test_list_names_things_that_are_there(bentpipe: Bentpipe, what: str) -> None:
    result = bentpipe("list", what, "--json")
    assert (result.returncode, result.stderr) == (0, "")
    entries = json.loads(result.stdout)
    assert entries
    assert all(entry["name"] and entry["summary"] for entry in entries)
    table = bentpipe("list", what).stdout
    assert all(entry["name"] in table for entry in entries)


@pytest.mark.parametrize("what", ["variants", "recoveries", "controls", "starts"])
def test_every_scheme_of_tcp_names_its_source(bentpipe: Bentpipe, what: str) -> None:
    source = re.compile(r"\(.*(RFC \d{3,}|draft-[a-z-]+|(19|20)\d\d|et al\.|Linux).*\)")
    entries = json.loads(bentpipe("list", what, "--json").stdout)
    assert [entry["name"] for entry in entries if not source.search(entry["summary"])] == []


def test_the_papers_are_those_with_a_folder(bentpipe: Bentpipe) -> None:
    names = [entry["name"] for entry in json.loads(bentpipe("list", "papers", "--json").stdout)]
    assert names == sorted(path.parent.name for path in (SCENARIOS.parent / "papers").glob("*/paper.toml"))
    gateways = json.loads(bentpipe("list", "gateways", "--json").stdout)
    assert [gateway["name"] for gateway in gateways] == ["xfwa", "ewa", "wintrac", "xcp", "snoop", "spoof"]


def test_a_variant_has_its_control_recovery_and_slow_start_in_columns(bentpipe: Bentpipe) -> None:
    header, *lines = bentpipe("list", "variants").stdout.splitlines()
    assert header.split()[:5] == ["name", "control", "recovery", "slow", "start"]
    rows = {line.split()[0]: line.split()[1:4] for line in lines if not line.startswith(" ")}
    assert rows["cubic"] == ["cubic", "rack", "hystart"]
    assert rows["newreno"] == ["standard", "newreno", "standard"]
    assert rows["adalr+afc"] == ["adalr+afc", "sack", "standard"]
    for place, kind in enumerate(("controls", "recoveries", "starts")):
        known = {entry["name"] for entry in json.loads(bentpipe("list", kind, "--json").stdout)}
        assert {row[place] for row in rows.values()} <= known


def test_every_listed_variant_and_preset_runs(bentpipe: Bentpipe, lossy: Path) -> None:
    for entry in json.loads(bentpipe("list", "variants", "--json").stdout):
        result = bentpipe("run", lossy, "--set", f"flows.download.variant={entry['name']}", "--json")
        assert json.loads(result.stdout)["flows"][0]["variant"] == entry["name"]
    for entry in json.loads(bentpipe("list", "presets", "--json").stdout):
        alone = bentpipe("run", f"preset:{entry['name']}", "--set", "flows.*.variant=bbr3", "--json")
        (flow,) = json.loads(alone.stdout)["flows"]
        assert (flow["variant"], flow["bytes_delivered"]) == ("bbr3", 10_000_000)


def test_pages_have_response_times_in_json_and_table(bentpipe: Bentpipe) -> None:
    shortened = ("run", SCENARIOS / "pages.toml", "--set", "duration=100 s")
    run = json.loads(bentpipe(*shortened, "--json").stdout)
    assert [(page["flow"], page["page"]) for page in run["pages"]] == [("pages", n) for n in (1, 2, 3, 4)]
    assert [page["start_s"] for page in run["pages"]] == [0.0, 30.0, 60.0, 90.0]
    # Two round trips of 0.58 s for the handshake and the main object's first byte, and then some.
    assert all(1.16 < page["response_s"] < 10.0 for page in run["pages"])
    assert run["flows"][0]["bytes_delivered"] == 4 * (10_710 + 15 * 7758)
    lossy = ("--set", 'links.satellite.loss={ model = "packet", probability = 0.01 }')
    combined = json.loads(bentpipe(*shortened, *lossy, "--runs", "3", "--json").stdout)
    assert {page["response_s"]["n"] for page in combined["pages"]} <= {1, 2, 3}
    assert combined["pages"][0]["response_s"]["ci95"] > 0
    table = bentpipe(*shortened).stdout
    assert "response, first page" in table
    assert "4 of 4" in table


def test_each_connection_of_a_flow_has_its_series(bentpipe: Bentpipe, tmp_path: Path) -> None:
    several = ("--set", "flows.pages.connections=2", "--set", "duration=10 s")
    result = bentpipe("run", SCENARIOS / "pages.toml", *several, "--out", tmp_path / "out")
    assert result.returncode == 0, result.stderr
    table = pq.read_table(next((tmp_path / "out").rglob("*.parquet")))
    assert {"pages/1", "pages/2"} <= set(table.column("subject").to_pylist())


def test_a_stream_over_udp_has_its_losses_in_json_table_and_series(
    bentpipe: Bentpipe, tmp_path: Path
) -> None:
    lossy = ("--set", 'links.satellite.loss={ model = "packet", probability = 0.02 }')
    shortened = ("run", SCENARIOS / "multimedia.toml", "--set", "duration=30 s", *lossy)
    run = json.loads(bentpipe(*shortened, "--json", "--out", tmp_path / "out").stdout)
    download, video = run["flows"]
    assert (video["variant"], video["rtt_mean_s"], video["retransmitted_segments"]) == ("udp", None, 0)
    assert (download["datagrams_sent"], download["datagrams_lost"]) == (0, 0)
    assert run["jain"] == 1.0
    assert 20 < video["datagrams_lost"] < video["datagrams_sent"] / 20
    rows = pq.read_table(tmp_path / "out" / "series.parquet").to_pylist()
    kinds = {row["kind"] for row in rows if row["subject"] == "video"}
    assert {"sent", "damaged"} <= kinds <= {"sent", "damaged", "dropped"}
    sent = [row["value"] for row in rows if (row["subject"], row["kind"]) == ("video", "sent")]
    assert len(sent) == video["datagrams_sent"]
    assert sent == sorted(sent)
    table = bentpipe(*shortened).stdout
    assert "datagrams sent" in table
    assert "fairness" not in table
    # It goes on when the run ends. Losses by cause are of TCP, so they have no row for it.
    assert [", open " in line for line in table.splitlines() if line.startswith("video ")] == [True, False]
    combined = json.loads(bentpipe(*shortened, "--runs", "3", "--json").stdout)
    assert combined["flows"][1]["datagrams_lost"]["ci95"] > 0
