"""What limits each variant: shares of time, in tables, sentences and a picture."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

import bentpipe as bp
from bentpipe.comparison.measure import limit_names
from conftest import LOSSY, Bentpipe, files_in

FLOW = '[flows.download]\nfrom = "server"\nto = "client"\nbytes = "1 MB"\n'


def explained(**settings: object) -> bp.Comparison:
    """Compare two variants over GEO without errors, with these settings on top."""
    text = f'extends = "preset:geo"\ntitle = "test"\n{FLOW}'
    scenario = bp.Scenario.from_toml(text).with_({key.replace("__", "."): it for key, it in settings.items()})
    return bp.compare(scenario, ["newreno", "cubic"], runs=2, explain=True, progress=False)


def share(found: bp.Comparison, name: str, limit: str) -> float:
    limits = found[name].limits
    assert limits is not None
    assert list(limits) == list(limit_names())
    assert sum(number["mean"] for number in limits.values()) == pytest.approx(1)
    return limits[limit]["mean"]


def test_a_small_window_a_large_one_and_errors_have_other_limits() -> None:
    small = explained(flows__download__bytes="10 MB", tcp__receive_window="64 KiB")
    large = explained(
        flows__download__bytes="20 MB", tcp__receive_window="256 KiB", links__satellite__queue="1000 packets"
    )
    errors = explained(
        flows__download__bytes="2 MB",
        tcp__receive_window="1 MiB",
        links__satellite__loss={"model": "packet", "probability": 0.01},
    )
    for name in ("newreno", "cubic"):
        assert share(small, name, "receive_window") > 0.9
        assert share(large, name, "link") > 0.9
        assert share(errors, name, "loss_response") > 0.5
    assert "newreno is limited most by: receive window (9" in small.explanation
    assert "cubic is limited most by: full link (9" in large.explanation
    assert "newreno is limited most by: loss response (" in errors.explanation


def test_nothing_else_changes_and_threads_do_not_matter(lossy: Path) -> None:
    plain = bp.compare(lossy, ["newreno", "cubic"], runs=3)
    one, three = (
        bp.compare(lossy, ["newreno", "cubic"], runs=3, explain=True, threads=threads) for threads in (1, 3)
    )
    assert one.csv() == three.csv()
    assert (plain.explained, plain.explanation, one.explained) == (False, "", True)
    known = one.to_dict()
    for variant in known["variants"]:
        del variant["limits"]
    for found in (known, comparison := plain.to_dict()):
        for variant in found["variants"]:
            del variant["run"]["engine"]
    assert known == comparison
    with pytest.raises(bp.InputError, match=r"^plot: expected a comparison with explain=True"):
        plain.plot(lossy.with_name("limits.png"))


def test_every_form_of_the_table_has_the_shares(bentpipe: Bentpipe, lossy: Path, tmp_path: Path) -> None:
    def compare(*options: str) -> str:
        result = bentpipe("compare", lossy, "--variants", "newreno,cubic", "--runs", "2", *options)
        # A slow machine is told how far it is.
        told = [line for line in result.stderr.splitlines() if not line.startswith("comparing lossy: ")]
        wrote = [f"Wrote {options[1]}"] if options[:1] == ("--plot",) else []
        assert (result.returncode, told) == (0, wrote)
        return result.stdout

    found = json.loads(compare("--explain", "--json"))["variants"]
    for row, variant in zip(csv.DictReader(io.StringIO(compare("--explain", "--csv"))), found, strict=True):
        assert row["variant"] == variant["variant"]
        for limit in limit_names():
            assert float(row[f"limit_{limit}"]) == variant["limits"][limit]["mean"]
    table = compare("--explain").splitlines()
    assert any(line.startswith("limited by  ") and "loss response" in line for line in table)
    assert "is limited most by: loss response (" in table[-1]
    assert "| limited by |" in compare("--explain", "--markdown")
    assert "limited" not in compare() + compare("--markdown")
    assert "limit" not in compare("--csv") + compare("--json")
    for name, start in (("limits.png", b"\x89PNG"), ("limits.svg", b"<?xml")):
        assert "limited most by" in compare("--plot", name)
        assert (tmp_path / name).read_bytes().startswith(start)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("limits.gif", "limits.gif: expected a file name that ends in .png, .svg or .pdf"),
        ("lossy.svg", "--plot: expected a file that this command does not read"),
    ],
)
def test_a_picture_that_cannot_be_written_is_refused_before_any_run(
    bentpipe: Bentpipe, tmp_path: Path, name: str, said: str
) -> None:
    (tmp_path / "lossy.svg").write_text(LOSSY)
    arguments = ["--variants", "newreno,cubic", "--runs", "1000000", "--plot", name]
    result = bentpipe("compare", "lossy.svg", *arguments)
    assert (result.returncode, result.stdout, files_in(tmp_path)) == (2, "", ["lossy.svg"])
    assert said in result.stderr


def test_silence_that_ends_in_a_timeout_is_the_timers() -> None:
    # HyBla's start overflows the queue, and ACKs of what came go on for half a second after the last segment.
    scenario = bp.Scenario.from_dict(
        {
            "links": {
                "satellite": {
                    "from": "server",
                    "to": "client",
                    "rate": "10 Mbit/s",
                    "delay": "260 ms",
                    "queue": "433 packets",
                    "loss": {"model": "packet", "probability": 1e-3},
                }
            },
            "tcp": {"profile": "rfc", "receive_window": "4 MiB"},
            "flows": {
                "f": {
                    "from": "server",
                    "to": "client",
                    "bytes": "10 MB",
                    "variant": "hybla",
                }
            },
        }
    )
    run = json.loads(scenario.simulate(limits=True).json())
    (flow,) = run["flows"]
    series = {curve.kind: curve.time_s for curve in bp.run(scenario, series=True).series.curves}
    spoke = np.sort(np.concatenate([series["sent"], series["resent"]]))
    silent = sum(gap for gap in np.diff(spoke) if gap > 10)
    assert flow["timeouts"] > 0
    assert silent > 0.5 * flow["duration_s"]
    (limits,) = run["recording"]["limits"]
    assert limits["timeouts_s"] >= silent
    assert sum(value for key, value in limits.items() if key != "flow") == pytest.approx(
        flow["duration_s"], rel=0.01
    )
