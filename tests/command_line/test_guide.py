"""What helps somebody who begins: new, explain, doctor."""

import json
from pathlib import Path

import pytest

from bentpipe.guide.keys import every_key
from conftest import Bentpipe


def test_new_writes_a_scenario_that_runs(bentpipe: Bentpipe, tmp_path: Path) -> None:
    made = bentpipe("new", "mine.toml", "--rate", "20 Mbit/s", "--variant", "bbr3", cwd=tmp_path)
    assert (made.returncode, made.stdout) == (0, "")
    assert made.stderr.startswith("Wrote mine.toml\n")
    flow = json.loads(bentpipe("run", "mine.toml", "--json", cwd=tmp_path).stdout)["flows"][0]
    assert (flow["variant"], flow["bytes_delivered"]) == ("bbr3", 10_000_000)
    assert 'rate = "20 Mbit/s"' in (tmp_path / "mine.toml").read_text(encoding="utf-8")


def test_new_asks_six_questions_and_asks_again_where_an_answer_is_none(
    bentpipe: Bentpipe, tmp_path: Path
) -> None:
    answers = "5 Mbit/s\n\nmuch\n0.01\n\n\nreno\n"
    made = bentpipe("new", "mine.toml", cwd=tmp_path, input=answers)
    assert made.returncode == 0
    assert "expected a share from 0 to 1, such as 1e-4, found 'much'" in made.stderr
    text = (tmp_path / "mine.toml").read_text(encoding="utf-8")
    for told in ('rate = "5 Mbit/s"', 'delay = "250 ms"', "probability = 0.01", 'variant = "reno"'):
        assert told in text


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["mine.txt"], "mine.txt: expected a file name that ends in .toml"),
        (["mine.toml", "--loss", "2"], "expected a share from 0 to 1, such as 1e-4, found '2'"),
        (["mine.toml", "--rate", "fast"], "--rate"),
        (["mine.toml"], "--rate: expected an answer or this option, found neither"),
        (["there.toml"], "there.toml: expected a new file, found one that is there"),
    ],
)
def test_new_refuses_and_writes_nothing(
    bentpipe: Bentpipe, tmp_path: Path, arguments: list[str], told: str
) -> None:
    (tmp_path / "there.toml").write_text("# mine\n", encoding="utf-8")
    refused = bentpipe("new", *arguments, cwd=tmp_path, input="")
    assert refused.returncode == 2
    assert told in refused.stderr
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["there.toml"]
    assert (tmp_path / "there.toml").read_text(encoding="utf-8") == "# mine\n"


def test_explain_says_meaning_bounds_and_default_of_a_key(bentpipe: Bentpipe) -> None:
    told = bentpipe("explain", "links.satellite.loss.probability").stdout
    assert told == (
        'links.NAME.loss.probability beside model = "packet"\n'
        "  Share of packets that are lost, 0 to 1.\n"
        "  value    number from 0 to 1\n"
        "  default  none: the key is required\n"
    )
    assert (
        'links.NAME.rate\n  Rate.\n  value    a rate such as "2.048 Mbit/s"\n'
        in bentpipe("explain", "links.a.rate").stdout
    )
    assert "default  0" in bentpipe("explain", "correctable_bits").stdout


def test_explain_offers_what_is_written_like_an_unknown_key(bentpipe: Bentpipe) -> None:
    refused = bentpipe("explain", "tcp.recieve_window")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("bentpipe: no key 'tcp.recieve_window': did you mean tcp.receive_window")


def test_explain_knows_every_key_by_its_path() -> None:
    keys = every_key()
    paths = {one.path for one in keys}
    assert {("seed",), ("tcp", "rto", "min"), ("links", "NAME", "reverse", "rate")} <= paths
    assert len(keys) > 500


def test_doctor_says_what_is_here_and_how_to_have_the_rest(bentpipe: Bentpipe, tmp_path: Path) -> None:
    found = {row["name"]: row for row in json.loads(bentpipe("doctor", "--json").stdout)}
    assert {"root", "TUN device", "clang-19", "BPF loader", "ns", "chromium", "virtual kernel"} <= set(found)
    assert all(row["install"] for row in found.values())
    # Where no program is on the path, none is said to be here.
    bare = bentpipe("doctor", env={"PATH": str(tmp_path)}).stdout
    (row,) = (line for line in bare.splitlines() if line.startswith("tshark"))
    assert row.split()[1] == "no"
    assert row.rstrip().endswith("sudo apt-get install tshark")
