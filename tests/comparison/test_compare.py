"""Comparisons, in Python and on the command line: order, gains, the link, what cannot be used."""

import csv
import io
import json
import re
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bentpipe as bp
from bentpipe.comparison.measure import Measure
from bentpipe.comparison.result import Comparison, Variant
from bentpipe.numbers.intervals import estimate, gain, judged
from bentpipe.runs.statistics import replication_seed
from conftest import ENDLESS, SCENARIOS, WEB_USERS, Bentpipe, files_in

pytestmark = pytest.mark.usefixtures("lossy")

NAMES = ["newreno", "cubic", "tahoe"]


def goodputs(scenario: bp.Scenario, variant: str, runs: int) -> list[float]:
    result = bp.replicate(scenario.with_({"flows.*.variant": variant}), runs)
    return [flow["goodput_bps"] for flow in result.replications("flows")]


def test_gains_are_differences_of_runs_with_the_same_seed(lossy: Path) -> None:
    scenario = bp.Scenario.load(lossy)
    found = bp.compare(scenario, NAMES, runs=8)
    values = {name: goodputs(scenario, name, 8) for name in NAMES}
    means = {name: sum(values[name]) / 8 for name in NAMES}
    assert [variant.name for variant in found.variants] == sorted(NAMES, key=lambda name: -means[name])
    assert (found.first, found["newreno"].gain) == ("newreno", None)
    for name in ("cubic", "tahoe"):
        assert list(found[name].values) == values[name]
        assert found[name].value == judged(values[name])
        more = found[name].gain
        assert more == gain(values[name], values["newreno"])
        assert more is not None
        assert more["mean"] == pytest.approx(means[name] / means["newreno"] - 1)
    assert found["cubic"].run["flows"][0]["goodput_bps"] == found["cubic"].value


def test_the_numbers_do_not_depend_on_the_threads(lossy: Path) -> None:
    one, three = (bp.compare(lossy, NAMES, runs=5, threads=threads, seed=3).csv() for threads in (1, 3))
    assert one == three
    assert bp.compare(lossy, NAMES, runs=5, seed=4).csv() != one


def test_precision_ends_at_the_first_look_that_is_sharp_enough(lossy: Path) -> None:
    found = bp.compare(lossy, ["newreno", "cubic"], precision=0.06)
    assert found.precise

    def widest(runs: int) -> float:
        newreno, cubic = (found[name].values[:runs] for name in ("newreno", "cubic"))
        # All three together in 95 % of the cases.
        known = [estimate(values, level=1 - 0.05 / 3) for values in (newreno, cubic)]
        ratio = gain(cubic, newreno, level=1 - 0.05 / 3)
        assert ratio is not None
        widths = [(number["ci95"] or 0.0) / number["mean"] for number in known]
        return max(*widths, (ratio["ci95"] or 0.0) / (1 + ratio["mean"]))

    assert found.runs > 30
    assert widest(found.runs) <= 0.06
    assert all(widest(runs) > 0.06 for runs in range(30, found.runs))
    short = bp.compare(lossy, ["newreno", "cubic"], precision=0.001, runs=11)
    assert (short.precise, short.runs) == (False, 11)


def test_a_full_link_is_what_the_link_could_carry(lossy: Path) -> None:
    clean = bp.Scenario.load(lossy).with_(
        {
            "links.satellite.loss.probability": 0,
            "flows.download.bytes": "40 MB",
            "tcp.receive_window": "1 MiB",
        }
    )
    found = bp.compare(clean, ["sack", "bbr3"], runs=1)
    for variant in found.variants:
        assert variant.of_link is not None
        assert 0.85 < variant.of_link["mean"] <= 1


@pytest.mark.parametrize("name", ["leo-handover", "rain", "two-flows", "relay", "multimedia"])
def test_nobody_is_above_what_the_link_could_carry(name: str) -> None:
    found = bp.compare(SCENARIOS / f"{name}.toml", ["sack", "cubic"], runs=2)
    for variant in found.variants:
        assert variant.of_link is not None
        assert 0.3 < variant.of_link["mean"] <= 1, name


def test_pages_are_compared_by_their_response_time() -> None:
    scenario = bp.Scenario.from_toml(WEB_USERS)
    pages = bp.compare(scenario, ["tahoe", "bbr1"], runs=2, flows=["web*"])
    assert pages.measure.metric == "response_s"
    assert len(pages.measure.flows) == 20
    assert pages.variants[0].value["mean"] < pages.variants[1].value["mean"]
    assert " brings a page in " in pages.sentence
    # The other flows keep what they have, and count for nothing.
    assert {flow["variant"] for flow in pages["bbr1"].run["flows"][:20]} == {"bbr1"}
    assert pages["bbr1"].run["flows"][20]["variant"] != "bbr1"
    both = bp.compare(scenario, ["tahoe", "bbr1"], runs=1)
    assert (both.measure.metric, both.measure.flows) == ("goodput_bps", ("download",))
    assert {flow["variant"] for flow in both["bbr1"].run["flows"]} == {"bbr1"}


def test_percentiles_of_transactions_are_compared_where_they_are_asked_for() -> None:
    scenario = bp.Scenario.load(SCENARIOS / "short-flows.toml")
    late = bp.compare(scenario, ["sack", "bbr1"], runs=2, metric="response_p95_s")
    assert late.measure.flows == ("queries", "short")
    assert " brings 95 % of transactions within " in late.sentence
    run = bp.run(scenario)
    waited = [row["response_s"] for row in run.transactions if row["response_s"] is not None]
    assert late["sack"].values[0] == pytest.approx(np.quantile(np.array(waited, dtype=float), 0.95))
    # It is of all transactions of all runs together.
    again = bp.run(scenario, seed=replication_seed(scenario.seed, 1))
    waited += [row["response_s"] for row in again.transactions if row["response_s"] is not None]
    assert late["sack"].value["mean"] == pytest.approx(np.quantile(np.array(waited, dtype=float), 0.95))
    assert np.mean(late["sack"].pairs) == pytest.approx(late["sack"].value["mean"])
    # Of a single flow it is the flow's own.
    short = bp.compare(scenario, ["sack", "bbr1"], runs=1, flows=["short"], metric="response_p99_s")
    assert short["sack"].values == pytest.approx([run.flows["short"]["response_p99_s"]])
    assert short.rows()[0]["response_p99_s"] == short.variants[0].value["mean"]
    # Nobody asked: bulk data beside them, and without it the mean.
    assert bp.compare(scenario, ["sack", "bbr1"], runs=1).measure.flows == ("download",)
    alone = bp.compare(scenario, ["sack", "bbr1"], runs=1, flows=["short"])
    assert (alone.measure.metric, alone.measure.waited_for) == ("response_s", "transfer")
    with pytest.raises(bp.InputError, match=r"^--metric: expected goodput_bps of flows"):
        bp.compare(SCENARIOS / "demo.toml", ["sack", "bbr1"], runs=1, metric="response_s")


def test_a_number_that_says_which_is_better_is_a_metric() -> None:
    scenario = bp.Scenario.load(SCENARIOS / "two-flows.toml")
    found = bp.compare(scenario, ["sack", "cubic"], runs=1, metric="first_byte_s")
    first = [flow["first_byte_s"] for flow in bp.run(scenario.with_({"flows.*.variant": "cubic"})).flows]
    assert found["cubic"].values == pytest.approx([np.mean(np.array(first, dtype=float))])
    assert " has a time to first byte of " in found.sentence


def test_several_flows_count_together_from_the_first_start_to_the_last_end() -> None:
    found = bp.compare(SCENARIOS / "two-flows.toml", ["sack", "cubic"], runs=1)
    assert found.measure.flows == ("first", "second")
    flows: list[Any] = list(bp.run(
        bp.Scenario.load(SCENARIOS / "two-flows.toml").with_({"flows.*.variant": "cubic"})
    ).flows)  # fmt: skip
    total = sum(flow["bytes_delivered"] for flow in flows)
    last = max(flow["start_s"] + flow["duration_s"] for flow in flows)
    assert found["cubic"].value["mean"] == pytest.approx(8 * total / last)


def test_the_sentence_says_how_much_and_how_sure(lossy: Path) -> None:
    scenario = bp.Scenario.load(lossy)
    more = bp.compare(scenario, ["tahoe", "cubic"], runs=10).sentence
    assert more.startswith("lossy: cubic carries ")
    assert " more than tahoe, and " in more
    assert more.endswith(
        " of what the link could carry. (10 runs of each with the same seeds, 95 % intervals.)"
    )
    less = bp.compare(scenario, ["cubic", "tahoe"], runs=10).sentence
    assert "; tahoe, the next, carries " in less
    assert " % less. (10 runs" in less
    same = bp.compare(scenario, ["newreno", "newreno-1999"], runs=2)
    (gain,) = (variant.gain for variant in same.variants if variant.gain)
    assert abs(gain["mean"]) < (gain["ci95"] or 0)
    assert re.search(r"; these runs do not tell it and newreno(-1999)? apart \(.* ± .* %\)\.", same.sentence)
    assert bp.compare(scenario, NAMES, runs=1).sentence.endswith(
        "This is a single run, which does not say how sure it is."
    )


def of_values(values: dict[str, list[float]], *, random: bool = True) -> Comparison:
    """Give a comparison that has these goodputs."""
    first = next(iter(values))
    run = bp.run(bp.Scenario.from_dict(SHORT)).run
    variants = [
        Variant(name, judged(found), gain(found, values[first]), None, run, tuple(found), tuple(found))
        for name, found in sorted(values.items(), key=lambda pair: -sum(pair[1]))
    ]
    runs = len(values[first])
    measure = Measure("goodput_bps", ("download",))
    return Comparison("made", 1, runs, measure, first, tuple(variants), True, (), random=random)


SHORT = {
    "extends": "preset:geo",
    "flows": {"download": {"from": "server", "to": "client", "bytes": "1 kB"}},
}


def test_less_than_is_printed_is_no_difference() -> None:
    noise = [0.0, 1.0, -1.0, 2.0, -2.0]
    first = [1e6 + 100 * one for one in noise]

    def told(times: float, more: list[float]) -> bool:
        return (
            len(of_values({"a": first, "b": [times * x + y for x, y in zip(first, more, strict=True)]}).best)
            == 1
        )

    assert told(1 - 2e-4, noise)
    assert not told(1 - 2e-4, [300 * one for one in noise])
    # "carries 0 % less" tells nobody anything.
    assert not told(1 - 4e-5, noise)


def test_many_flows_cost_what_each_of_them_does() -> None:
    class Name(str):
        __slots__ = ()
        looked_at = 0

        def __eq__(self, other: object) -> bool:
            Name.looked_at += 1
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    flow = {"start_s": 0.0, "duration_s": 1.0, "goodput_bps": 8.0, "bytes_delivered": 1, "timeouts": 0}
    names = [Name(f"f{number}") for number in range(500)]
    run: Any = {"flows": [{"name": Name(name), **flow} for name in names], "pages": [], "transactions": []}
    measure = Measure("goodput_bps", tuple(names))
    assert measure.value(run) == 4000.0
    one = Variant("sack", judged([1.0, 2.0]), None, None, run, (1.0, 2.0), (1.0, 2.0))
    assert one.total("timeouts", measure.names) == 0
    assert Name.looked_at <= 10 * len(names)


def test_the_best_of_many_equals_is_not_told_from_them() -> None:
    source = np.random.default_rng(1)
    wrong = 0
    for _ in range(100):
        values = {f"v{k}": list(source.normal(1e6, 1e5, 10)) for k in range(10)}
        found = of_values(values)
        wrong += " more than v0" in found.sentence
    # 5 % at most; without a correction it is 12 to 14 %.
    assert wrong <= 8


def test_the_best_is_held_against_the_next_and_not_only_against_the_first() -> None:
    noise = np.array([0.0, 1.0, -1.0, 2.0, -2.0, 1.5, -1.5, 0.5])
    good, near = 2e6 + 1e4 * noise, 1.999e6 - 1e4 * noise
    found = of_values({"first": list(1e6 + 1e3 * noise), "near": list(near), "good": list(good)})
    assert [variant.name for variant in found.best] == ["good", "near"]
    assert found.to_dict()["best"] == ["good", "near"]
    assert " more than first" in found.sentence
    assert "; these runs do not tell it and near apart (" in found.sentence
    clear = of_values(
        {"first": list(1e6 + 1e3 * noise), "near": list(0.9 * good + 1e3 * noise**2), "good": list(good)}
    )
    assert "; near, the next, carries 9.91 ± " in clear.sentence


def test_differences_without_any_spread_are_no_proof_where_something_is_random() -> None:
    found = of_values({"newreno": [92_710.0] * 10, "cubic": [92_700.0] * 10})
    assert "do not tell it and cubic apart" in found.sentence
    assert "| 92.71 kbit/s in all runs |" in found.markdown()
    assert "?" not in found.markdown()
    assert "in all runs" not in of_values({"newreno": [92_710.0], "cubic": [92_700.0]}).markdown()
    certain = of_values({"newreno": [92_710.0], "cubic": [92_700.0]}, random=False)
    assert certain.sentence.endswith("Nothing in it is random: one run is enough.")


def test_what_did_not_come_stands_beside_the_mean_of_what_came(tmp_path: Path) -> None:
    scenario = bp.Scenario.load(SCENARIOS / "short-flows.toml").with_({"duration": "31 s"})
    found = bp.compare(scenario, ["sack", "cubic"], runs=2, flows=["short"])
    run = bp.run(scenario.with_({"flows.short.variant": "sack"})).run
    begun = [row for row in run["transactions"] if row["flow"] == "short"]
    came = found["sack"].came
    assert came is not None
    assert 0 < came < 1
    assert len(begun) > sum(row["response_s"] is not None for row in begun)
    assert " came, so that it is at least that)" in found.sentence
    assert "| came |" in found.markdown().splitlines()[0]
    assert found.rows()[0]["came"] == found.variants[0].came
    found.report(tmp_path / "page.html")
    assert "came</" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_where_nothing_is_random_one_run_says_all(lossy: Path, bentpipe: Bentpipe) -> None:
    clean = bp.Scenario.load(lossy).with_({"links.satellite.loss.probability": 0})
    found = bp.compare(clean, ["newreno", "cubic"])
    assert (found.runs, found.random) == (1, False)
    told = bentpipe("run", lossy, "--set", "links.satellite.loss.probability=0", "--runs", "3")
    assert "3 replications, nothing is random: one run is enough" in told.stdout
    assert "?" not in told.stdout


def test_the_forms_of_the_table_say_the_same(bentpipe: Bentpipe, tmp_path: Path) -> None:
    command = ["compare", "lossy.toml", "--variants", "newreno, cubic,tahoe", "--runs", "3"]
    shown, markdown, written, told = (
        bentpipe(*command, *form) for form in ([], ["--markdown"], ["--csv"], ["--json"])
    )
    assert {result.returncode for result in (shown, markdown, written, told)} == {0}
    assert files_in(tmp_path) == ["lossy.toml"]
    found = json.loads(told.stdout)
    order = [variant["variant"] for variant in found["variants"]]
    assert [line.split()[0] for line in shown.stdout.splitlines()[2:5]] == order
    rows = list(csv.DictReader(io.StringIO(written.stdout)))
    assert [row["variant"] for row in rows] == order
    for row, variant in zip(rows, found["variants"], strict=True):
        assert float(row["goodput_bps"]) == variant["goodput_bps"]["mean"]
        assert float(row["goodput_bps_ci95"]) == variant["goodput_bps"]["ci95"]
        assert row["gain"] == ("" if variant["gain"] is None else str(variant["gain"]["mean"]))
    lines = markdown.stdout.splitlines()
    assert lines[1] == "| --- | --: | --: | --: | --: | --: |"
    assert [line.split(" | ")[0] for line in lines[2:5]] == [f"| {name}" for name in order]
    assert lines[-1] == found["sentence"] == shown.stdout.splitlines()[-1]


def test_a_mapping_names_variants_and_settings(lossy: Path) -> None:
    found = bp.compare(
        lossy,
        {"today": "cubic", "small": {"tcp.receive_window": "8 KiB", "flows.*.variant": "cubic"}},
        runs=2,
    )
    assert found.first == "today"
    assert [variant.name for variant in found.variants] == ["today", "small"]
    assert list(found["today"].values) == goodputs(bp.Scenario.load(lossy), "cubic", 2)
    with pytest.raises(bp.ScenarioError, match=r"^variants: b: links\.up"):
        bp.compare(lossy, {"a": "sack", "b": {"links.up.rate": "1 Mbit/s"}})


def test_what_a_control_of_ones_own_raises_ends_the_comparison(lossy: Path) -> None:
    class Broken(bp.Control):
        name = "broken"
        summary = "fails at the first loss"

        def on_loss(self, w: bp.Window, loss: bp.Loss) -> bool:
            raise ZeroDivisionError(f"at {w.cwnd > 0}, {loss.flight > 0}")

    with pytest.raises(ZeroDivisionError, match="at True, True"):
        bp.compare(lossy, {"sack": "sack", "broken": {"flows.*.control": Broken}}, progress=False)


def test_no_run_goes_on_behind_an_error_or_after_a_stop() -> None:
    stop = threading.Event()
    threading.Timer(0.3, stop.set).start()
    before = threading.active_count()
    with pytest.raises(bp.Interrupted):
        bp.compare(bp.Scenario.from_toml(ENDLESS), ["sack", "cubic"], stop=stop, progress=False)
    assert threading.active_count() < before
    pages = 'extends = "preset:geo"\nduration = "1 s"\n[flows.user]\nfrom = "server"\nto = "client"\n'
    pages += 'app = "http"\n'
    with pytest.raises(bp.RunError, match="no page of user came to its end") as raised:
        bp.compare(bp.Scenario.from_toml(pages), ["sack", "reno"], runs=1000, threads=2)
    assert threading.active_count() < before
    del raised


def test_data_frames_take_the_rows(lossy: Path) -> None:
    import pyarrow as pa

    found = bp.compare(lossy, NAMES, runs=3)
    table = pa.table(found)
    assert table.to_pylist() == found.rows()
    assert "<td>tahoe</td>" in found._repr_html_()


def test_flows_that_break_are_named_and_the_status_is_1(bentpipe: Bentpipe) -> None:
    result = bentpipe(
        "compare", "lossy.toml", "--variants", "reno,sack", "--runs", "2",
        "--set", "links.satellite.loss.probability=1",
    )  # fmt: skip
    assert result.returncode == 1
    assert result.stderr.splitlines()[0].startswith(
        "bentpipe: reno: download failed in 2 of 2 replications: the retransmission limit"
    )
    assert result.stdout.splitlines()[2].startswith(("reno", "sack"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--variants", "reno,cubik"], "--variants: expected a variant (tahoe, reno, newreno, sack, "),
        (["--variants", "reno,cubik"], "found 'cubik'; did you mean 'cubic'?"),
        (["--variants", "reno,"], "), found ''"),
        (["--variants", "reno"], "--variants: expected at least two, found reno"),
        (["--variants", "reno,sack,reno"], "--variants: expected each variant once, found 'reno' twice"),
        (["--variants", "reno,sack", "--flows", "up*"], "--flows: expected the name of a flow (download)"),
        (["--variants", "reno,sack", "--runs", "0"], "'--runs': expected a whole number from 1 to 1000000"),
        (["--variants", "reno,sack", "--precision", "2"], "'2' is no precision"),
        (["--variants", "reno,sack", "--csv", "--json"], "--json: expected one form of the table"),
        (["--variants", "reno,sack", "--set", "links.up.rate=1"], "links.up"),
        ([], "Missing option '--variants'"),
    ],
)
def test_what_cannot_be_used_is_one_line_and_nothing_is_written(
    bentpipe: Bentpipe, tmp_path: Path, arguments: list[str], said: str
) -> None:
    result = bentpipe("compare", "lossy.toml", *arguments)
    assert (result.returncode, result.stdout, files_in(tmp_path)) == (2, "", ["lossy.toml"])
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1 or "Usage" in result.stderr


def test_the_library_names_what_it_was_given(lossy: Path) -> None:
    with pytest.raises(bp.InputError, match=r"^variants: expected a variant \(tahoe, .*found 'renoo'; did"):
        bp.compare(lossy, ["sack", "renoo"])
    with pytest.raises(bp.InputError, match=r"^variants: expected several texts, found 'sack,reno'"):
        bp.compare(lossy, "sack,reno")
    udp = 'extends = "preset:geo"\nduration = "1 s"\n[flows.call]\nfrom = "server"\nto = "client"\n'
    udp += 'app = "cbr"\n'
    with pytest.raises(bp.InputError):
        bp.compare(bp.Scenario.from_toml(udp + 'rate = "64 kbit/s"\n'), ["sack", "reno"])


def test_intervals_by_the_bootstrap_are_of_the_same_differences(lossy: Path, bentpipe: Bentpipe) -> None:
    found = bp.compare(bp.Scenario.load(lossy), ["newreno", "cubic"], runs=6, interval="bootstrap")
    newreno, cubic = found["newreno"], found["cubic"]
    assert cubic.gain is not None
    assert cubic.gain == gain(cubic.values, newreno.values, "bootstrap")
    assert cubic.gain["low"] < cubic.gain["mean"] < cubic.gain["high"]
    assert newreno.value["low"] == bp.bootstrap(newreno.values)[0]
    asked = ["compare", str(lossy), "--variants", "newreno,cubic", "--runs", "6", "--json"]
    told = json.loads(bentpipe(*asked, "--interval", "bootstrap").stdout)
    assert [row["gain"] for row in told["variants"]] == [variant.gain for variant in found.variants]
    with pytest.raises(bp.InputError, match="interval: expected student-t or bootstrap, found 'normal'"):
        bp.compare(bp.Scenario.load(lossy), ["newreno", "cubic"], interval="normal")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("told.txt", "--report: expected a file name that ends in .html, found told.txt"),
        ("mine.html", "--report: "),
    ],
)
def test_a_report_is_a_page_and_replaces_no_scenario(
    lossy: Path, bentpipe: Bentpipe, tmp_path: Path, name: str, said: str
) -> None:
    (tmp_path / "mine.html").write_text(lossy.read_text())
    there = files_in(tmp_path)
    told = bentpipe("compare", "mine.html", "--variants", "newreno,cubic", "--report", name)
    assert (told.returncode, told.stdout) == (2, "")
    assert told.stderr.count("\n") == 1
    assert said in told.stderr
    assert files_in(tmp_path) == there
