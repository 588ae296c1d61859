"""Bad input: one clear line, status 2, nothing written."""

import resource
from pathlib import Path

import pytest

from conftest import LOSSY, Bentpipe, files_in

NETWORK = """\
[links.satellite]
from = "server"
to = "client"
rate = "2 Mbit/s"
delay = "250 ms"
"""
FLOW = """\
[flows.download]
from = "server"
to = "client"
bytes = "1 MB"
"""

BAD = {
    "unknown key": (NETWORK + "speed = 3\n" + FLOW, ["bad.toml:6", "speed"]),
    "wrong unit": (NETWORK.replace("2 Mbit/s", "2 furlongs") + FLOW, ["bad.toml:4", "rate", "furlongs"]),
    "no unit": (NETWORK.replace('"250 ms"', '"250"') + FLOW, ["bad.toml:5", "delay"]),
    "negative rate": (NETWORK.replace("2 Mbit/s", "-2 Mbit/s") + FLOW, ["bad.toml:4", "rate"]),
    "loss of 1.5": (
        NETWORK + 'loss = { model = "packet", probability = 1.5 }\n' + FLOW,
        ["bad.toml:6", "probability", "1.5"],
    ),
    "dangling host": (NETWORK + FLOW.replace('"client"', '"moon"'), ["bad.toml:8", "moon"]),
    "two links of one name": (NETWORK + NETWORK + FLOW, ["bad.toml:6", "satellite"]),
    "no route": (
        NETWORK
        + NETWORK.replace("links.satellite", "links.other").replace("server", "a").replace("client", "b")
        + FLOW.replace('"client"', '"b"'),
        ["bad.toml", "download", "server", "b"],
    ),
    "unknown variant": (NETWORK + FLOW + 'variant = "fast"\n', ["bad.toml:10", "variant", "sack"]),
    "no flow": (NETWORK, ["bad.toml", "flow"]),
    "empty file": ("", ["bad.toml"]),
    "not TOML": ("links = [\n", ["bad.toml"]),
    "nested arrays": ("a = " + "[" * 100_000, ["bad.toml"]),
    "nested keys": ("[" + "a." * 100_000 + "a]\n", ["bad.toml"]),
}


def refused(result_stderr: str, returncode: int) -> None:
    assert returncode == 2
    assert result_stderr.startswith("bentpipe: ")
    assert result_stderr.count("\n") == 1
    assert len(result_stderr) < 1600


@pytest.mark.parametrize("name", BAD)
def test_a_bad_scenario_is_one_line_with_file_and_key(bentpipe: Bentpipe, tmp_path: Path, name: str) -> None:
    text, mentioned = BAD[name]
    (tmp_path / "bad.toml").write_text(text)
    result = bentpipe("run", "bad.toml", "--out", "out", "--pcap", "packets.pcapng", "--json")
    refused(result.stderr, result.returncode)
    assert result.stdout == ""
    for word in mentioned:
        assert word in result.stderr
    assert files_in(tmp_path) == ["bad.toml"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("program", b"\x7fELF\x02\x01\x01\0\0\xff\xfe" * 100),
        ("zeros", b"\0" * 4096),
        ("latin", b'title = "\xe9"\n'),
    ],
)
def test_a_binary_file_is_refused(bentpipe: Bentpipe, tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    result = bentpipe("run", name)
    refused(result.stderr, result.returncode)
    assert name in result.stderr


def test_ten_gigabytes_are_refused_without_reading_them(bentpipe: Bentpipe, tmp_path: Path) -> None:
    with (tmp_path / "huge.toml").open("wb") as file:
        file.truncate(10 * 2**30)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (4 * 2**30, 4 * 2**30))

    result = bentpipe("run", "huge.toml", preexec_fn=limit)
    refused(result.stderr, result.returncode)
    assert "huge.toml" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["run"],
        ["run", "nowhere.toml"],
        ["run", "preset:nothing"],
        ["run", "lossy.toml", "--set", "no-equals-sign"],
        ["run", "lossy.toml", "--set", "links.satellite.rate=fast"],
        ["run", "lossy.toml", "--set", "links.cable.rate=1 Mbit/s"],
        ["run", "lossy.toml", "--seed", "-1"],
        ["run", "lossy.toml", "--runs", "0"],
        ["run", "lossy.toml", "--threads", "0"],
        ["run", "lossy.toml", "--precision", "0%"],
        ["run", "lossy.toml", "--precision", "two"],
        ["run", "lossy.toml", "--out", "lossy.toml"],
        ["run", "lossy.toml", "--pcap", "empty"],
        ["run", "empty"],
        ["run", "lossy.toml", "--nonsense"],
        ["list"],
        ["list", "nonsense"],
        ["plot"],
        ["plot", "nowhere"],
        ["plot", "lossy.toml", "--out", "picture.bmp"],
        ["plot", "lossy.toml", "--out", "empty"],
        ["plot", "lossy.toml", "--from", "3", "--to", "2"],
        ["plot", "lossy.toml", "--to", "0"],
        ["plot", "lossy.toml", "--from", "nan"],
        ["plot", "lossy.toml", "--to", "inf"],
        ["plot", "lossy.toml", "--to", "2 s"],
        ["plot", "empty"],
        ["reproduce", "no-such-paper"],
        ["nonsense"],
        ["run", ""],
        ["run", "lossy.toml", "--out", ""],
        ["run", "lossy.toml", "--pcap", ""],
        ["plot", "lossy.toml", "--out", ""],
    ],
    ids=" ".join,
)
def test_a_wrong_call_is_one_line(bentpipe: Bentpipe, tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "lossy.toml").write_text(LOSSY)
    (tmp_path / "empty").mkdir()
    result = bentpipe(*arguments)
    refused(result.stderr, result.returncode)
    assert result.stdout == ""
    assert files_in(tmp_path) == ["empty", "lossy.toml"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--seed", "abc"], "'--seed': expected a whole number from 0 to 9007199254740991, found 'abc'"),
        (
            ["--seed", str(2**53)],
            "expected a whole number from 0 to 9007199254740991, found '9007199254740992'",
        ),
        (["--runs", "0"], "'--runs': expected a whole number"),
        (["--threads", "2.5"], "'--threads': expected a whole number from 1 to 1024, found '2.5'"),
        (["--csv"], "--json prints JSON, --out DIR writes result.json and series.parquet"),
        (["--out", "r.csv"], "'--out': expected a folder, found the name of a file, 'r.csv'"),
        (["--set", "links.satellite.loss.probability=1e-400"], "expected a number of at least 5e-324, or 0"),
        (["--set", "flows.*.variant=bic"], 'found "bic"'),
    ],
    ids=str,
)
def test_a_wrong_option_says_what_is_expected(
    bentpipe: Bentpipe, tmp_path: Path, arguments: list[str], said: str
) -> None:
    (tmp_path / "lossy.toml").write_text(LOSSY)
    result = bentpipe("run", "lossy.toml", *arguments)
    refused(result.stderr, result.returncode)
    assert said in result.stderr
    assert files_in(tmp_path) == ["lossy.toml"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["run", ""],
            "SCENARIO: expected a file, preset:NAME or the folder of a result, found an",
        ),
    ],
    ids=str,
)
def test_what_is_not_there_is_told_with_what_there_is(
    bentpipe: Bentpipe, arguments: list[str], said: str
) -> None:
    result = bentpipe(*arguments)
    refused(result.stderr, result.returncode)
    assert said in result.stderr
