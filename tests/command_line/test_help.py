import re
import subprocess
import sys

import pytest

from conftest import Bentpipe

COMMANDS = [
    *("run", "list", "plot", "reproduce", "live", "sweep", "show", "orbit", "fade", "trace"),
    *("demo", "new", "explain", "doctor"),
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(bentpipe: Bentpipe, command: str) -> None:
    result = bentpipe(command, "--help")
    assert result.returncode == 0
    assert f"Usage: bentpipe {command}" in result.stdout
    assert result.stderr == ""


def test_without_a_command_there_are_six_to_begin_with(bentpipe: Bentpipe) -> None:
    result = bentpipe()
    assert (result.returncode, result.stderr) == (0, "")
    named = [line.split()[0] for line in result.stdout.splitlines() if re.match(r"  \w+  ", line)]
    assert named == ["demo", "new", "run", "compare", "plot", "explain"]
    assert "bentpipe --help lists all commands" in result.stdout


def test_the_help_names_all_commands(bentpipe: Bentpipe) -> None:
    result = bentpipe("--help")
    assert all(f"  {command} " in result.stdout for command in COMMANDS)
    # None of the summaries is cut.
    assert "..." not in result.stdout.partition("Commands:")[2]


def test_live_without_a_command_is_its_help(bentpipe: Bentpipe) -> None:
    result = bentpipe("live")
    assert (result.returncode, result.stdout, result.stderr) == (0, bentpipe("live", "--help").stdout, "")


def test_the_options_of_run_are_those_promised(bentpipe: Bentpipe) -> None:
    text = bentpipe("run", "--help").stdout
    for option in ("--set", "--seed", "--runs", "--precision", "--out", "--pcap", "--threads", "--json"):
        assert option in text


def without(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Call the command line where importing from a module fails."""
    blocker = f"import sys; sys.modules[{module!r}] = None; from bentpipe.cli import main; main(sys.argv[1:])"
    command = [sys.executable, "-c", blocker, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_help_comes_without_the_rust_module_and_its_absence_is_one_line() -> None:
    assert without("bentpipe._core", "--help").returncode == 0
    missing = without("bentpipe._core", "list", "presets")
    assert missing.returncode == 1
    assert missing.stderr == "bentpipe: the Rust module is not built: run `make setup` in the checkout\n"


@pytest.mark.parametrize("module", ["numpy", "pyarrow", "rich", "scipy"])
def test_a_run_as_json_waits_for_no_package_that_it_has_no_use_for(module: str) -> None:
    assert without(module, "run", "preset:geo", "--set", "duration=1 s", "--json").returncode == 0


@pytest.mark.parametrize("arguments", [("reproduce", "sack", "--json"), ("reproduce",), ("list", "papers")])
def test_without_the_papers_their_commands_say_how_to_have_them(arguments: tuple[str, ...]) -> None:
    missing = without("bentpipe_papers", *arguments)
    assert missing.returncode == 2
    assert missing.stdout == ""
    assert missing.stderr == (
        "bentpipe: the papers are a package of their own, which is not installed: "
        "pip install 'bentpipe[papers]'\n"
    )
    assert without("bentpipe_papers", "list", "presets").returncode == 0
