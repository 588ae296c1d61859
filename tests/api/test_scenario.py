"""A scenario held in Python: made from text or a dictionary, changed, looked at."""

import pickle
import tomllib
from typing import Any

import numpy as np
import pytest

import bentpipe as bp
from bentpipe import checks
from conftest import LOSSY, SCENARIOS

SCENARIO = bp.Scenario.from_toml(LOSSY + 'variant = "sack"\n')


@pytest.mark.parametrize("name", ["demo.toml", "leo-handover.toml", "multimedia.toml", "cloud.toml"])
def test_a_dictionary_is_the_same_scenario(name: str) -> None:
    scenario = bp.Scenario.load(SCENARIOS / name)
    again = bp.Scenario.from_dict(scenario.to_dict())
    assert again == scenario
    assert hash(again) == hash(scenario)
    assert again.with_({"seed": 99}) != scenario


def test_tables_are_attributes_and_items() -> None:
    assert SCENARIO.links.satellite.rate == SCENARIO.links["satellite"]["rate"]
    assert SCENARIO.flows.download.variant == "sack"
    assert set(SCENARIO.links.satellite) == set(SCENARIO.to_dict()["links"]["satellite"])
    assert "links" in dir(SCENARIO)
    assert "satellite" in dir(SCENARIO.links)


def test_an_attribute_that_is_not_there_names_those_that_are() -> None:
    with pytest.raises(AttributeError, match=r"the scenario has no 'lnks': there are .*links"):
        _ = SCENARIO.lnks
    with pytest.raises(AttributeError, match=r"the scenario\.links has no 'x': there are .*satellite"):
        _ = SCENARIO.links.x


def test_a_scenario_does_not_change() -> None:
    with pytest.raises(AttributeError, match="seed: a scenario does not change; with_ gives another"):
        SCENARIO.seed = 3  # type: ignore[misc]
    other = SCENARIO.with_({"seed": 3})
    assert (SCENARIO.seed, other.seed) == (7, 3)


def test_with_takes_dotted_keys_mappings_and_numbers_of_numpy() -> None:
    loss = {"model": "packet", "probability": np.float64(0.25)}
    settings = {"flows.*.variant": "reno", "links": {"satellite": {"loss": loss}}, "seed": np.int64(5)}
    changed = SCENARIO.with_(settings).with_({"tcp.delayed_ack": False})
    assert changed.flows.download.variant == "reno"
    assert changed.links.satellite.loss == {"model": "packet", "probability": 0.25}
    assert changed.links.satellite.rate == SCENARIO.links.satellite.rate
    assert (changed.seed, changed.tcp.delayed_ack) == (5, False)
    assert changed.settings[0] == ("flows.*.variant", "reno")


def test_a_changed_scenario_still_knows_the_files_that_it_was_read_from() -> None:
    scenario = bp.Scenario.load(SCENARIOS / "demo.toml")
    assert scenario.with_({"seed": 2}).files == scenario.files == [SCENARIOS / "demo.toml"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"links.nope.rate": "1 Mbit/s"},
            "settings: links.nope.rate: expected one of the links (terrestrial, ",
        ),
        ({"links": {"satellite": {"rate": 3}}}, "settings: links.satellite.rate: expected a rate such as"),
        (
            {"links": {"satellite": {"rate": None}}},
            "settings: links.satellite.rate: expected a str, a number",
        ),
        ({"links": {3: {}}}, "settings: links: expected names, found 3"),
    ],
)
def test_a_setting_that_cannot_be_is_one_line_that_names_its_key(settings: Any, message: str) -> None:
    with pytest.raises(bp.InputError) as caught:
        SCENARIO.with_(settings)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_errors_of_a_text_have_its_line_and_those_of_a_dictionary_none() -> None:
    with pytest.raises(bp.ScenarioError, match=r"^text:2: links\.a\.rate: expected a rate"):
        bp.Scenario.from_toml("[links.a]\nrate = 3\n")
    with pytest.raises(bp.ScenarioError, match=r"^dictionary: links\.a\.rate: expected a rate"):
        bp.Scenario.from_dict({"links": {"a": {"rate": 3}}})


def test_an_error_has_its_parts_and_keeps_them_in_a_pickle() -> None:
    with pytest.raises(bp.ScenarioError) as caught:
        bp.Scenario.from_toml(
            "extends = 'preset:geo'\n[flows.f]\nfrom = 'server'\nto = 'client'\n"
            "bytes = '1 MB'\nvariant = 'bbr'\n"
        )
    error = caught.value
    assert (error.file, error.line, error.key) == ("text", 6, "flows.f.variant")
    assert error.message == 'expected a variant, found "bbr"'
    assert error.hint == 'here it is control = "bbr1" or "bbr3"'
    assert str(error) == f"text:6: flows.f.variant: {error.message}; {error.hint}"
    again = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert (str(again), again.key) == (str(error), error.key)


def test_a_conflict_says_what_conflicts() -> None:
    geo = bp.Scenario.load("preset:geo")
    with pytest.raises(bp.ScenarioError) as caught:
        geo.with_({"flows.download": {"recovery": "rack", "app": "cbr", "rate": "1 Mbit/s"}})
    assert caught.value.key == "flows.download.recovery"
    assert caught.value.message.startswith('needs app = "ftp" or ')


@pytest.mark.parametrize("wrong", [None, 7, b"title = 1", "\udc80"])
def test_what_is_no_text_and_no_dictionary_is_said_to_be_none(wrong: Any) -> None:
    with pytest.raises(bp.InputError, match=r"^text: expected "):
        bp.Scenario.from_toml(wrong)
    with pytest.raises(bp.InputError, match=r"^tables: expected a mapping, found "):
        bp.Scenario.from_dict(wrong)


def test_texts_with_quotes_and_control_characters_come_through() -> None:
    title = 'a "b" \\ \t \x7f é \u2028 𝄞'
    assert tomllib.loads(f"title = {checks.toml('title', title)}") == {"title": title}


def test_a_scenario_says_what_it_is() -> None:
    assert "lossy" in repr(SCENARIO)
    assert f"satellite ({SCENARIO.links.satellite.rate}" in repr(SCENARIO)
    many = bp.Scenario.load("preset:geo", {"flows": {f"f{i}": FLOW for i in range(9)}})
    assert "f3 (" in repr(many)
    assert "and 5 more" in repr(many)
    named = SCENARIO.with_({"title": "<b>&"})
    assert "&lt;b&gt;&amp;" in named._repr_html_()
    assert "<b>&" not in named._repr_html_()


FLOW = {"from": "server", "to": "client", "bytes": "1 MB", "variant": "reno"}
