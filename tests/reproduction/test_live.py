"""``bentpipe reproduce --live``, with the simulator in the kernels' place: the transfers take minutes."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from bentpipe.live.kernel_run import Side
from bentpipe.live.testbed import Compared, in_simulator, with_the_kernels_tcp
from bentpipe.scenario import Scenario
from bentpipe_papers.afc import live
from bentpipe_papers.reproduction.finished import Cache
from bentpipe_papers.reproduction.reproduce import live_as_json, reproduce_live
from conftest import Bentpipe


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Scenario]:
    """Scenarios that the kernels were asked for."""
    scenarios: list[Scenario] = []

    def over_kernels(scenario: Scenario, variants: Any, **_: Any) -> Iterator[Compared]:
        assert not variants
        scenarios.append(scenario)
        side: Side = in_simulator(with_the_kernels_tcp(scenario), progress=False)
        yield Compared("as written", side, None)

    @contextmanager
    def held(names: Any, who: str) -> Iterator[None]:
        assert (list(names), who) == (["afc"], "reproduce --live")
        yield

    monkeypatch.setattr(live, "over_kernels", over_kernels)
    monkeypatch.setattr(live, "held", held)
    return scenarios


def test_each_row_has_the_kernels_beside_the_simulated(asked: list[Scenario]) -> None:
    found = reproduce_live("afc", Cache.at(None, off=True))
    items = {result.simulated.item.name: result for result in found}
    assert set(items) == set(live.ITEMS)
    # A transfer of each scheme for the table, and of each at both error rates for the figures.
    assert len(asked) == 2 + 4 * live.TRANSFERS
    for result in found:
        measured = {(row.case, row.metric) for row in result.simulated.rows if row.metric != "losses"}
        assert {(row.case, row.metric) for row in result.rows} == measured
    table = {row.case: row for row in items["table-2"].rows if row.metric == "throughput"}
    assert table["tcp, 20 MB"].published == pytest.approx(36_081.95)
    # What the profile of today makes of the same losses: AFC is ahead, as the document says.
    tcp, afc = (table[f"{name}, 20 MB"].computed for name in ("tcp", "afc"))
    assert isinstance(tcp, float)
    assert isinstance(afc, float)
    assert afc > 1.2 * tcp
    claims = {row.case: row.verdict for row in items["table-2"].rows if row.metric != "throughput"}
    assert claims["each stage from 1 MB on"] in ("match", "shape")


def test_json_has_both(asked: list[Scenario]) -> None:
    found = live_as_json(reproduce_live("afc/figure-4", Cache.at(None, off=True)), "6.18.1")
    assert len(asked) == 2 * live.TRANSFERS
    assert found["kernel_release"] == "6.18.1"
    (item,) = found["items"]
    assert item["item"] == "figure-4"
    for row in item["rows"]:
        assert row["live"]["metric"] == row["metric"]
        assert row["live"]["published"] == row["published"]


@pytest.mark.parametrize("what", ["", "sack", "afc/figure-6"])
def test_what_cannot_run_live_is_told(bentpipe: Bentpipe, what: str) -> None:
    result = bentpipe("reproduce", *([what] if what else []), "--live")
    assert result.returncode == 2
    assert "--live: expected afc, or of it table-2, figure-3" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_report_is_of_what_was_simulated(bentpipe: Bentpipe) -> None:
    result = bentpipe("reproduce", "afc", "--live", "--report", "page")
    assert result.returncode == 2
    assert "--live: expected no --report beside it" in result.stderr
