"""What README, tutorial, how-to and gallery say of a run is what comes out of it."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bentpipe as bp
from bentpipe.runs.statistics import replication_seed
from bentpipe.show.remarks import remarks
from conftest import ROOT, Bentpipe


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(name: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page(name), re.MULTILINE | re.DOTALL)


def run(text: str, **settings: Any) -> bp.Result:
    result = bp.run(
        bp.Scenario.from_toml(text).with_({key.replace("__", "."): v for key, v in settings.items()})
    )
    assert not any("limits this run" in line or "no bound" in line for line in remarks(result.run))
    return result


def goodput(result: bp.Result, flow: str = "download") -> float:
    found: Any = result.flows[flow]["goodput_bps"]
    return float(found)


def satellite_of(result: bp.Result) -> Any:
    return result.links["satellite"]


def busiest(result: bp.Result) -> str:
    links: Any = result.run["links"]
    return str(max(links, key=lambda link: link["utilization"])["name"])


def test_the_table_of_the_readme_is_what_comes_out(bentpipe: Bentpipe, tmp_path: Path) -> None:
    (text,) = blocks("README.md", "toml")
    (tmp_path / "mine.toml").write_text(text)
    told = [line.rstrip() for line in bentpipe("run", "mine.toml", cwd=tmp_path).stdout.splitlines()]
    shown = next(block for block in blocks("README.md", "console") if "run mine.toml\n" in block)
    lines = [line.rstrip() for line in shown.splitlines()[1:] if line != "…"]
    assert len(lines) == 7
    assert [line for line in lines if line not in told] == [], "the README shows other numbers"


def test_the_start_of_the_readme_overshoots_once_and_a_quarter_of_the_link_is_used() -> None:
    (text,) = blocks("README.md", "toml")
    result = run(text)
    flow, satellite = result.flows["download"], satellite_of(result)
    assert "overshoots the queue of 100 packets once, three packets are damaged" in " ".join(
        page("README.md").split()
    )
    assert (busiest(result), satellite["queue_max_packets"], satellite["corrupted_packets"]) == (
        "satellite",
        100,
        3,
    )
    assert satellite["dropped_packets"] > 0
    assert flow["loss_cause_cuts"] == 4
    assert 0.22 < satellite["utilization"] < 0.28


def test_in_the_tutorial_link_and_queue_fill_and_many_packets_are_lost() -> None:
    (text,) = (block for block in blocks("docs/tutorials/tutorial.md", "toml") if "My link" in block)
    assert "until it holds more than link and queue can, and many packets are lost at once" in " ".join(
        page("docs/tutorials/tutorial.md").split()
    )
    result = run(text)
    satellite = satellite_of(result)
    assert busiest(result) == "satellite"
    assert satellite["queue_max_packets"] == 450
    assert satellite["dropped_packets"] > 100
    small = run(text, links__satellite__queue="5 packets")
    assert goodput(small) < 0.6 * goodput(result)


def gallery() -> bp.Scenario:
    (cell,) = (
        cell
        for cell in blocks("docs/tutorials/gallery.md", "{code-cell} python")
        if "from_dict" in cell and "geo" in cell
    )
    names: dict[str, Any] = {}
    exec("\n".join(line for line in cell.splitlines() if "import" not in line), {"bp": bp}, names)  # noqa: S102
    scenario = names["geo"]
    assert isinstance(scenario, bp.Scenario)
    return scenario


@pytest.mark.parametrize(("variant", "overshoots"), [("sack", True), ("cubic", False)])
def test_one_start_of_the_gallery_overshoots_and_the_other_does_not(variant: str, overshoots: bool) -> None:
    assert "## A start that overshoots, and one that does not" in page("docs/tutorials/gallery.md")
    start = bp.run(gallery().with_({"flows.*.variant": variant, "duration": "12 s"}))
    drops = satellite_of(start)["dropped_packets"]
    assert drops > 100 if overshoots else drops == 0


def test_a_newcomer_gets_next_to_nothing_while_the_first_holds_the_queue() -> None:
    assert "gets next to nothing while the first holds the queue" in page("docs/tutorials/gallery.md")
    flow = {"from": "server", "to": "client", "bytes": "40 MB", "variant": "cubic"}
    flows = {"download": flow, "second": {**flow, "start": "15 s"}}
    at_30_s = bp.run(gallery().with_({"flows": flows, "duration": "30 s"}))
    assert satellite_of(at_30_s)["queue_max_packets"] == 450
    both: Any = at_30_s.flows
    assert both["second"]["bytes_delivered"] < 0.05 * both["download"]["bytes_delivered"]


@cache
def of_queue(packets: int, *, errors: bool) -> bp.Result:
    settings: dict[str, Any] = {
        "links.satellite.queue": f"{packets} packets",
        "flows.download.variant": "cubic",
    }
    if not errors:
        settings["links.satellite.loss.probability"] = 0
    return bp.run(bp.Scenario.from_toml(blocks("docs/how-to/how-to.md", "toml")[0]).with_(settings))


def test_choosing_a_buffer_teaches_what_it_says() -> None:
    queues = (100, 225, 450, 900, 1800)
    assert f"{','.join(f'{queue} packets' for queue in queues)}'" in page("docs/how-to/how-to.md")
    clean = [of_queue(queue, errors=False) for queue in queues]
    waits = [satellite_of(result)["queueing_delay_mean_s"] for result in clean]
    assert waits == sorted(waits)
    assert all(satellite_of(result)["dropped_packets"] > 0 for result in clean)
    rates = [goodput(result) for result in clean]
    assert rates[1] > 0.95 * max(rates) > rates[0]
    assert rates[4] < 1.02 * rates[1]
    assert waits[4] > 5 * waits[1]
    assert goodput(of_queue(225, errors=True)) == goodput(of_queue(1800, errors=True)) < 0.6 * rates[1]


def test_deciding_on_a_proxy_teaches_what_it_says(tmp_path: Path) -> None:
    for name, text in zip(("link", "split", "whole"), blocks("docs/how-to/how-to.md", "toml"), strict=True):
        (tmp_path / f"{name}.toml").write_text(text)

    def of(name: str, variant: str) -> float:
        flow = "space" if name == "split" else "download"
        scenario = bp.Scenario.load(tmp_path / f"{name}.toml").with_({f"flows.{flow}.variant": variant})
        return goodput(bp.run(scenario), flow)

    before, proxied = of("whole", "cubic"), of("split", "bbr3")
    assert 0.4 < before / proxied < 0.6
    assert 1.0 < of("split", "cubic") / before < 1.1
    assert of("whole", "bbr3") > 0.9 * proxied


def test_common_random_numbers_help_where_both_answer_losses_alike() -> None:
    text = " ".join(page("docs/reference/statistics.md").split())
    assert "the difference is known better than either" in text
    assert "Those of CUBIC and BBRv3 do not, because losses hardly touch BBRv3." in text
    scenario = bp.Scenario.from_dict(
        {
            "extends": "preset:geo",
            "links": {"satellite": {"loss": {"model": "packet", "probability": 0.002}}},
            "tcp": {"receive_window": "1 MiB"},
            "flows": {"f": {"from": "server", "to": "client", "bytes": "5 MB"}},
        }
    )

    def goodputs(variant: str) -> np.ndarray:
        one = scenario.with_({"flows.f.variant": variant})
        runs = (json.loads(one.simulate(seed=replication_seed(1, run)).json()) for run in range(30))
        return np.array([run["flows"][0]["goodput_bps"] for run in runs])

    tahoe, newreno, cubic, bbr3 = map(goodputs, ("tahoe", "newreno", "cubic", "bbr3"))
    assert (newreno - tahoe).std() < 0.6 * min(newreno.std(), tahoe.std())
    assert np.corrcoef(newreno, tahoe)[0, 1] > 0.8
    assert (cubic - bbr3).std() > 0.9 * cubic.std() > 5 * bbr3.std()
    assert np.corrcoef(cubic, bbr3)[0, 1] < 0.5
