"""The page that says which TCP a link wants: its numbers, its statements, and that these can be wrong."""

import re
import shlex
from pathlib import Path

import pytest

import which_tcp
from conftest import Bentpipe
from statements import DoesNotHoldError
from which_tcp import PAGE, PARTS, SCENARIOS, Found, Part

Compared = list[tuple[Part, Found]]


@pytest.fixture(scope="module")
def compared() -> Compared:
    return which_tcp.compared()


def test_the_page_says_what_comes_out_now(compared: Compared) -> None:
    assert which_tcp.written(compared) == PAGE.read_text(encoding="utf-8"), "make which-tcp writes it again"


def test_each_part_says_something(compared: Compared) -> None:
    statements = [len(list(part.statements(found))) for part, found in compared]
    assert statements == [2, 2, 2, 2, 4, 2, 3]


def holds(part: Part, found: Found) -> bool:
    try:
        return bool(list(part.statements(found)))
    except DoesNotHoldError:
        return False


def test_what_is_said_of_one_link_does_not_hold_for_another(compared: Compared) -> None:
    same_variants = [(part, found) for part, found in compared if part.variants == which_tcp.ALL]
    assert len(same_variants) == 5
    told = {
        (part.heading, other.heading)
        for part, _ in same_variants
        for other, found in same_variants
        if other.flows == part.flows and holds(part, found)
    }
    assert told == {(part.heading, part.heading) for part, _ in same_variants}


def test_a_statement_that_does_not_hold_writes_no_page(compared: Compared) -> None:
    clean = next(found for part, found in compared if part.heading == "GEO, clean")
    swapped = [(part, clean if part.heading == "GEO with errors" else found) for part, found in compared]
    with pytest.raises(DoesNotHoldError, match="times as much as the next best"):
        which_tcp.written(swapped)


def test_its_commands_run_where_its_files_are(bentpipe: Bentpipe, compared: Compared) -> None:
    page = PAGE.read_text(encoding="utf-8")
    commands = re.findall(r"^\$ (.*)$", page, re.MULTILINE)
    with_command = [(part, found) for part, found in compared if part.how()]
    assert len(commands) == len(with_command) == 5
    program, *arguments = shlex.split(commands[1])
    assert program == "bentpipe"
    result = bentpipe(*arguments, "--markdown", cwd=PAGE.parent)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == with_command[1][1].markdown()


def test_its_pictures_and_scenarios_are_there() -> None:
    shown = set(re.findall(r"\]\(which-tcp/([^)]+)\)", PAGE.read_text(encoding="utf-8")))
    assert shown == {part.picture for part in PARTS if part.picture} | {"geo.toml"}
    assert {path.name for path in Path(SCENARIOS).iterdir()} >= shown | {part.file for part in PARTS}
