"""--own: a Python file whose classes a scenario may name on the command line."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from conftest import Bentpipe, files_in

MINE = """\
import bentpipe as bp
from helper import least


class Base(bp.Control):
    def on_loss(self, w, loss):
        w.cwnd = w.ssthresh = max(0.5 * loss.flight, least(w))
        return True


class Half(Base):
    name = "half"


class Gentle(bp.Control):
    name = "gentle"

    def on_loss(self, w, loss):
        w.cwnd = w.ssthresh = max(0.8 * loss.flight, 2 * w.smss)
        return True
"""

PARTS = """\
import bentpipe as bp


class Independent(bp.LossModel):
    name = "independent"

    def __init__(self, probability):
        self.probability = probability

    def lost(self, packet, random):
        return random.uniform() < self.probability


class Short(bp.Queue):
    name = "short"
    limit = 20


class Bulk(bp.Application):
    name = "bulk"
    ends = True

    def on_start(self, connection):
        connection.send(1_000_000)
        connection.close()
"""

COMMANDS = [
    ["run"],
    ["compare", "--variants", "sack,half"],
    ["sweep", "--vary", "tcp.mss=500 B", "--out", "found"],
]


@pytest.fixture
def mine(tmp_path: Path, lossy: Path) -> Path:
    folder = tmp_path / "controls"
    folder.mkdir()
    (folder / "helper.py").write_text("def least(w):\n    return 2 * w.smss\n")
    path = folder / "mine.py"
    path.write_text(MINE)
    lossy.write_text(lossy.read_text().replace("0.01", "0.001") + '[tcp]\nreceive_window = "1 MiB"\n')
    return path


def goodput(bentpipe: Bentpipe, *arguments: str | Path) -> float:
    result = bentpipe("run", "lossy.toml", *arguments, "--json")
    assert (result.returncode, result.stderr) == (0, "")
    number = json.loads(result.stdout)["flows"][0]["goodput_bps"]
    assert isinstance(number, float)
    return number


def test_run_takes_its_classes_by_name(bentpipe: Bentpipe, mine: Path) -> None:
    found = {
        name: goodput(bentpipe, "--own", mine, "--set", f"flows.download.control={name}")
        for name in ("standard", "half", "gentle")
    }
    assert found["standard"] == found["half"] != found["gentle"]


def test_compare_takes_them_as_variants_of_the_flows_recovery(bentpipe: Bentpipe, mine: Path) -> None:
    compared = ["compare", "lossy.toml", "--own", mine, "--variants", "newreno,half,gentle", "--json"]
    for options in ([], ["--flows", "down*"]):
        result = bentpipe(*compared, *options, "--runs", "2", "--set", "flows.download.recovery=newreno")
        assert (result.returncode, result.stderr) == (0, "")
        found = {one["variant"]: one for one in json.loads(result.stdout)["variants"]}
        assert found["newreno"]["values"] == found["half"]["values"] != found["gentle"]["values"]
    unknown = bentpipe("compare", "lossy.toml", "--own", mine, "--variants", "sack,gentel")
    assert unknown.returncode == 2
    assert unknown.stderr.endswith("half, gentle), found 'gentel'; did you mean 'gentle'?\n")


def test_sweep_takes_them_as_values(bentpipe: Bentpipe, mine: Path) -> None:
    vary = ["--vary", "flows.download.control=standard,half,gentle"]
    result = bentpipe("sweep", "lossy.toml", "--own", mine, *vary, "--out", "found", "--json")
    assert result.returncode == 0, result.stderr
    table = pq.read_table(mine.parents[1] / "found" / "rows.parquet", filters=[("kind", "=", "flow")])
    standard, half, gentle = table["goodput_bps"].to_pylist()
    assert standard == half != gentle
    without = bentpipe("sweep", "lossy.toml", *vary, "--out", "other")
    assert (without.returncode, without.stderr.count("\n")) == (2, 1)


def test_run_takes_losses_queues_and_applications(bentpipe: Bentpipe, lossy: Path) -> None:
    (lossy.parent / "parts.py").write_text(PARTS)
    text = lossy.read_text()
    queue = "[links.satellite]\nqueue = "
    lossy.write_text(text.replace("[links.satellite]\n", f'{queue}"20 packets"\n'))
    expected = goodput(bentpipe)
    loss = '{ model = "independent", probability = 0.01 }'
    text = text.replace("[links.satellite]\n", f'{queue}{{ scheme = "short" }}\n')
    text = text.replace('{ model = "packet", probability = 0.01 }', loss)
    lossy.write_text(text.replace('bytes = "1 MB"', 'app = "bulk"'))
    assert goodput(bentpipe, "--own", "parts.py") == expected
    without = bentpipe("run", "lossy.toml")
    assert (without.returncode, without.stdout, without.stderr.count("\n")) == (2, "", 1)


@pytest.mark.parametrize(
    ("key", "told"),
    [
        (
            "links.satellite.loss.probabilty",
            'expected one of the known keys (probability), found "probabilty"',
        ),
        ("links.satellite.queue.limt", '"limt" cannot stand here'),
    ],
)
def test_a_wrong_option_of_a_class_is_named_by_its_key(
    bentpipe: Bentpipe, lossy: Path, key: str, told: str
) -> None:
    (lossy.parent / "parts.py").write_text(PARTS)
    table, _, option = key.rpartition(".")
    usual = {"loss": '{ model = "independent", probability = 0.01', "queue": '{ scheme = "short"'}
    made = usual[table.rpartition(".")[2]]
    changes = ["--set", f"{table}={made}, {option} = 1 }}"]
    result = bentpipe("run", "lossy.toml", "--own", "parts.py", *changes)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.endswith(f"{key}: {told}\n")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (None, "mine.py: expected a Python file, found none that can be read (No such file or directory)"),
        ("class Half(\n", "mine.py:1: expected Python, found '(' was never closed"),
        ("import math\n\nmath.sqrt(-1)\n", "mine.py:3: ValueError: math domain error"),
        ("import nothing\n", "mine.py:1: ModuleNotFoundError: No module named 'nothing'"),
        ("x = 1\n", "mine.py: expected a class of your own with a name, found none"),
    ],
)
@pytest.mark.parametrize("command", COMMANDS)
def test_what_cannot_be_used_is_one_line_and_nothing_is_written(
    bentpipe: Bentpipe, lossy: Path, tmp_path: Path, text: str | None, told: str, command: list[str]
) -> None:
    if text is not None:
        (tmp_path / "mine.py").write_text(text)
    before = files_in(tmp_path)
    result = bentpipe(command[0], lossy.name, *command[1:], "--own", "mine.py")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == f"bentpipe: --own {told}\n"
    assert files_in(tmp_path) == before


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_its_name_of_before_is_answered_with_that_of_today(bentpipe: Bentpipe, command: list[str]) -> None:
    result = bentpipe(command[0], "preset:geo", *command[1:], "--controls", "mine.py")
    told = "No such option '--controls': --own FILE.py brings classes of your own."
    assert (result.returncode, result.stdout, result.stderr) == (2, "", f"bentpipe: {told}\n")


def test_no_output_takes_its_place(bentpipe: Bentpipe, mine: Path) -> None:
    result = bentpipe("run", "lossy.toml", "--own", mine, "--pcap", mine)
    assert result.returncode == 2
    assert mine.read_text() == MINE
