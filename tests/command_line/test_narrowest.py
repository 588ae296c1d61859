"""`run` says in one line when its narrowest link is not the one that a reader of the scenario expects."""

from pathlib import Path

import pytest

from conftest import ROOT, Bentpipe

TRAP = """\
[links.terrestrial]
from = "server"
to = "gateway"
rate = "10 Mbit/s"
delay = "10 ms"
{queue}
[links.satellite]
from = "gateway"
to = "client"
rate = "60 Mbit/s"
delay = "250 ms"
queue = "500 packets"
reverse = {{ rate = "3 Mbit/s" }}
[tcp]
receive_window = "8 MiB"
[flows.get]
from = "server"
to = "client"
bytes = "20 MB"
variant = "cubic"
"""


def said(bentpipe: Bentpipe, folder: Path, text: str, *more: str) -> str:
    (folder / "s.toml").write_text(text)
    run = bentpipe("run", "s.toml", *more, cwd=folder)
    assert run.returncode == 0, run.stderr
    return run.stderr


def test_a_bottleneck_beside_the_satellite_is_named(bentpipe: Bentpipe, tmp_path: Path) -> None:
    line = said(bentpipe, tmp_path, TRAP.format(queue=""))
    assert line.startswith("bentpipe: terrestrial (10 Mbit/s, 7"), line
    assert "limits this run, not satellite (60 Mbit/s); its queue has no bound and grew to 1," in line
    assert line.count("\n") == 1
    line = said(bentpipe, tmp_path, TRAP.format(queue='queue = "50 packets"'), "--runs", "2")
    assert "limits this run, not satellite (60 Mbit/s)\n" in line


def test_an_endless_queue_that_grew_is_named(bentpipe: Bentpipe, tmp_path: Path) -> None:
    text = TRAP.format(queue="").replace("10 Mbit/s", "1 Gbit/s").replace("60 Mbit/s", "5 Mbit/s")
    line = said(bentpipe, tmp_path, text.replace('queue = "500 packets"', ""))
    assert line.startswith("bentpipe: the queue before satellite has no bound and grew to "), line
    assert line.endswith('of waiting; queue = "100 packets" would bound it\n')
    assert said(bentpipe, tmp_path, text) == ""


@pytest.mark.parametrize("name", ["geo", "adalr-geo", "sack-geo", "sack-terrestrial", "leo-t1", "leo-groups"])
def test_no_preset_surprises(bentpipe: Bentpipe, name: str) -> None:
    run = bentpipe("run", f"preset:{name}")
    assert (run.returncode, run.stderr) == (0, "")


def test_the_terrestrial_link_of_geo_limits_no_satellite(bentpipe: Bentpipe, tmp_path: Path) -> None:
    text = (
        (ROOT / "docs" / "tutorials" / "tutorial.md")
        .read_text(encoding="utf-8")
        .split("```toml\n")[1]
        .split("```")[0]
    )
    assert 'rate = "10 Mbit/s"' in text
    for rate in ("60 Mbit/s", "1 Gbit/s"):
        assert said(bentpipe, tmp_path, text.replace("10 Mbit/s", rate)) == ""
