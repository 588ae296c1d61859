"""Transactions and short flows from end to end: results, the table, replications, sweeps, comparisons."""

import json
from pathlib import Path

import numpy as np
import pytest

import bentpipe as bp
from conftest import SCENARIOS, Bentpipe

SMALL = SCENARIOS / "short-flows.toml"
RECORDED = """\
extends = "preset:geo"
title = "a trace"
[flows.recorded]
from = "server"
to = "client"
app = "trace"
trace = "transfers.csv"
"""

SHORTER = ("--set", "duration=60 s")


def test_percentiles_are_those_of_the_listed_transactions(bentpipe: Bentpipe) -> None:
    run = json.loads(bentpipe("run", SMALL, *SHORTER, "--json").stdout)
    assert run["pages"] == []
    for flow in run["flows"][:2]:
        rows = [row for row in run["transactions"] if row["flow"] == flow["name"]]
        assert [row["transaction"] for row in rows] == list(range(1, len(rows) + 1))
        came = [row["response_s"] for row in rows if row["response_s"] is not None]
        assert len(came) > 20
        assert (
            sum(row["size_bytes"] for row in rows if row["response_s"] is not None) <= flow["bytes_delivered"]
        )
        for share in (50, 95, 99):
            assert flow[f"response_p{share}_s"] == pytest.approx(np.quantile(came, share / 100))
    assert run["flows"][2]["response_p50_s"] is None


def test_the_table_shows_how_long_users_waited(bentpipe: Bentpipe) -> None:
    alone, replicated = (bentpipe("run", SMALL, *SHORTER, *more).stdout for more in ((), ("--runs", "3")))
    header = next(line for line in alone.splitlines() if "transactions" in line)
    assert header.split()[-3:] == ["p50", "p95", "p99"]
    rows = [line for line in replicated.splitlines() if line.startswith("short") and " of " in line]
    assert rows
    # A mean has ± its interval, a percentile of all runs together the ends of it.
    assert rows[0].count("±") == 1
    assert rows[0].count("–") == 3


def test_replications_give_means_with_intervals() -> None:
    scenario = bp.Scenario.load(SMALL).with_({"duration": "60 s"})
    result = bp.replicate(scenario, runs=4)
    short = result.flows["short"]
    runs = [bp.run(scenario.with_({"seed": seed})) for seed in result.run["seeds"]]
    shown = [row for run in runs for row in run.transactions if row["flow"] == "short"]
    values = [row["response_s"] for row in shown if isinstance(row["response_s"], float)]
    estimate = short["response_p95_s"]
    assert isinstance(estimate, dict)
    assert estimate["n"] == 4
    assert estimate["low"] < estimate["mean"] < estimate["high"]
    assert estimate["mean"] == pytest.approx(np.quantile(values, 0.95))
    first = result.transactions[0]
    assert isinstance(first["response_s"], dict)
    assert isinstance(first["size_bytes"], dict)
    assert {"transaction", "response_s_ci95", "size_bytes"} <= set(
        result.transactions.to_arrow().column_names
    )


def test_a_sweep_has_the_percentiles_as_columns(bentpipe: Bentpipe, tmp_path: Path) -> None:
    rates = "links.satellite.rate=2 Mbit/s,10 Mbit/s"
    done = bentpipe("sweep", SMALL, "--vary", rates, "--runs", "2", "--out", tmp_path / "s")
    assert done.returncode == 0, done.stderr
    table = bp.Sweep.open(tmp_path / "s").table().to_pylist()
    flows = [row for row in table if row["kind"] == "flow" and row["name"] == "short"]
    assert len(flows) == 4
    assert all(row["response_p99_s"] >= row["response_p50_s"] > 0 for row in flows)
    listed = [row for row in table if row["kind"] == "transaction"]
    assert {row["name"] for row in listed} == {"queries", "short"}
    assert listed[0]["transaction"] == 1


def test_a_trace_from_csv_travels_with_the_result(bentpipe: Bentpipe, tmp_path: Path) -> None:
    rows = tmp_path / "transfers.csv"
    rows.write_text("start_s,bytes\n0.0,12000\n1.25,3000\n1.4,480000\n")
    (tmp_path / "s.toml").write_text(RECORDED)
    done = bentpipe("run", "s.toml", "--out", "made")
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "made" / "result.json").read_text())
    assert [row["size_bytes"] for row in found["transactions"]] == [12_000, 3_000, 480_000]
    assert [row["start_s"] for row in found["transactions"]] == [0.0, 1.25, 1.4]
    # An input is not written over.
    refused = bentpipe("run", "s.toml", "--pcap", "transfers.csv")
    assert refused.returncode == 2
    assert rows.read_text().startswith("start_s")
    # The file is gone, and the result is made again.
    rows.unlink()
    again = json.loads(bentpipe("run", "made", "--json").stdout)
    assert again["transactions"] == found["transactions"]


def test_a_mistake_in_a_trace_is_told_with_its_line(bentpipe: Bentpipe, tmp_path: Path) -> None:
    (tmp_path / "transfers.csv").write_text("start_s,bytes\n0.0,12000\n1.25,many\n")
    (tmp_path / "s.toml").write_text(RECORDED)
    done = bentpipe("run", "s.toml")
    assert done.returncode == 2
    assert "transfers.csv:3: flows.recorded.trace[1].bytes: expected a size" in done.stderr
