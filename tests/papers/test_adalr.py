"""The reproduction of the adalr documents: complete, and with the verdicts that its page reports."""

from collections import Counter
from pathlib import Path

import pytest

from bentpipe import papers
from bentpipe.papers import adalr
from bentpipe.reproduction import Cache, Row, reproduce

PAPER = papers.read(papers.folder() / "adalr")


def rows_of(item: str) -> dict[tuple[str, str], Row]:
    (result,) = reproduce(f"adalr/{item}", Cache(None))
    return {(row.case, row.metric): row for row in result.rows}


def test_published_rows_are_unlike_and_say_where_they_stand() -> None:
    names = Counter((row.item, row.case, row.metric) for row in PAPER.published)
    assert names.most_common(1)[0][1] == 1
    assert all(row.where and row.comment for row in PAPER.published)


def test_every_published_row_has_an_item() -> None:
    assert {row.item for row in PAPER.published} <= {item.name for item in adalr.ITEMS}


@pytest.mark.parametrize(
    "percent", ["23", "28", "53", "63", "66", "13", "37", "16", "61", "27", "76", "43", "47"]
)
def test_percentages_of_the_text_are_claims(percent: str) -> None:
    assert any(row.published == percent and row.unit == "%" for row in PAPER.published if row.kind == "claim")


@pytest.mark.parametrize("item", ["table-1", "table-2", "table-3", "table-4", "table-10"])
def test_all_of_the_item_matches(item: str) -> None:
    assert {row.verdict for row in rows_of(item).values()} == {"match"}


def test_table_1_is_within_half_a_percent() -> None:
    deviations = [row.deviation for row in rows_of("table-1").values() if row.deviation is not None]
    assert len(deviations) == 12
    assert max(map(abs, deviations)) < 0.005


def test_table_6_matches_and_only_the_swapped_percentages_differ() -> None:
    differing = {name for name, row in rows_of("table-6").items() if row.verdict != "match"}
    slides = "shorter than standard TCP, slides"
    assert differing == {("gain, enabled", slides), ("gain, disabled", slides)}


def test_table_11_cannot_be_had_from_its_network() -> None:
    assert {row.verdict for row in rows_of("table-11").values()} == {"differs"}


def test_pictures_of_the_cheap_items(tmp_path: Path) -> None:
    for item in ("table-1", "table-9"):
        (result,) = reproduce(f"adalr/{item}", Cache(None), report=tmp_path / item)
        assert result.picture
        assert (tmp_path / item / result.picture).stat().st_size > 10_000


def test_table_5_matches_once_the_handshake_is_not_counted() -> None:
    times = {name: row for name, row in rows_of("table-5").items() if name[1] == "page response time"}
    assert {row.verdict for row in times.values()} == {"match"}


def test_pages_with_congestion_say_that_their_cross_traffic_is_inferred() -> None:
    rows = rows_of("table-6b")
    assert len(rows) == 20
    assert all("cross traffic is inferred" in row.note for row in rows.values())
