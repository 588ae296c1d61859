"""A link's changes as a file, and back."""

from pathlib import Path

import pytest

from conftest import SCENARIOS, Bentpipe

CLOUD = """\
time_s,delay_s,rate_bps,loss
0,0.25,2048000,0
30,0.25,1024000,0
50,0.25,1024000,0.005
60,0.25,1024000,1
62,0.25,1024000,0.005
70,0.25,2048000,0
"""


def test_a_schedule_is_written_as_rows(bentpipe: Bentpipe) -> None:
    assert bentpipe("trace", SCENARIOS / "cloud.toml", "satellite").stdout == CLOUD
    written = bentpipe("trace", SCENARIOS / "cloud.toml", "satellite", "--out", "cloud.csv")
    assert (written.returncode, written.stdout, written.stderr) == (0, "", "Wrote cloud.csv\n")
    again = bentpipe("trace", "preset:geo", "satellite", "--set", "links.satellite.trace=cloud.csv")
    assert again.stdout == CLOUD


def test_deliveries_are_as_many_as_the_rate_allows(bentpipe: Bentpipe) -> None:
    found = bentpipe("trace", SCENARIOS / "cloud.toml", "satellite", "--format", "mahimahi")
    times = [int(line) for line in found.stdout.splitlines()]
    # 78 s at 2.048, 40 s at 1.024 Mbit/s, 2 s of nothing.
    bits = 80 * 2_048_000 + 38 * 1_024_000
    assert len(times) == bits // 12_000
    assert times == sorted(times)
    assert not any(60_000 < time <= 62_000 for time in times)


def test_a_result_has_its_trace_with_it(bentpipe: Bentpipe, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("time_s,rate_bps\n0,1e6\n5,2e6\n")
    setting = ("--set", "links.satellite.trace=a.csv")
    first = bentpipe("run", "preset:geo", *setting, "--out", "result")
    assert first.returncode == 0, first.stderr
    (tmp_path / "a.csv").unlink()
    again = bentpipe("trace", "result", "satellite")
    assert again.stdout == "time_s,delay_s,rate_bps,loss\n0,0.25,1000000,0\n5,0.25,2000000,0\n"


def test_what_is_read_is_not_written_over(bentpipe: Bentpipe, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("time_s,rate_bps\n0,1e6\n")
    setting = ("--set", "links.satellite.trace=a.csv")
    result = bentpipe("trace", "preset:geo", "satellite", *setting, "--out", "a.csv")
    assert result.returncode == 2
    assert "--out: expected a file that this command does not read, found a.csv" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("preset:geo", "moon"), "moon: expected a link, or its name with /reverse (terrestrial, satellite)"),
        (
            ("preset:geo", "satellite", "--format", "mahimahi"),
            "satellite: expected a duration of the scenario",
        ),
        (("preset:geo", "satellite", "--format", "pcap"), "'pcap' is not one of 'csv', 'mahimahi'"),
        (("none.toml", "satellite"), "none.toml: expected a scenario file"),
        (
            ("preset:geo", "satellite", "--set", 'links.satellite.loss={ model = "drop", packets = [1] }'),
            "satellite: expected losses with a mean, found a list of packets",
        ),
    ],
)
def test_a_mistake_is_one_line(bentpipe: Bentpipe, arguments: tuple[str, ...], expected: str) -> None:
    result = bentpipe("trace", *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert expected in result.stderr
    assert len(result.stderr.splitlines()) == 1
