"""scenarios/starlink-like.csv: what its program writes, with the numbers of its page."""

import csv
from itertools import groupby, pairwise
from statistics import mean

import starlink_like

LINES = starlink_like.FILE.read_text(encoding="utf-8").splitlines()
ROWS = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(LINES[1:])]


def test_the_file_is_what_the_program_writes() -> None:
    assert LINES[2:] == starlink_like.rows()


def test_every_15_s_there_is_another_rate_and_behind_it_losses() -> None:
    changes = [two["time_s"] for one, two in pairwise(ROWS) if one["rate_bps"] != two["rate_bps"]]
    assert changes == [15.0 * slot for slot in range(1, 9)]
    lost = [row["time_s"] % 15 for row in ROWS[:-1] if row["loss"]]
    assert max(lost) < 0.25
    assert abs(mean(row["loss"] for row in ROWS[:-1]) - 0.01) < 1e-9


def test_round_trips_and_jitter_are_those_of_the_measurements() -> None:
    slots = [list(rows) for _, rows in groupby(ROWS[:-1], key=lambda row: row["time_s"] // 15)]
    rtts = sorted(mean(row["delay_s"] for row in slot) + 0.020 for slot in slots)
    assert len(rtts) == 8
    assert 0.030 <= rtts[0] < 0.045
    assert 0.055 < rtts[-1] <= 0.080
    jitter = mean(abs(two["delay_s"] - one["delay_s"]) for slot in slots for one, two in pairwise(slot))
    assert 0.0060 < jitter < 0.0072
