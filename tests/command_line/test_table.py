"""The tables that `run` prints for people."""

import json
from pathlib import Path

import pytest

from conftest import Bentpipe

WEB = """\
extends = "preset:geo"
title = "20 web users and a download"
duration = "60 s"
[flows."web{i}"]
from = "server"
to = "client"
app = "http"
count = 20
[flows.download]
from = "server"
to = "client"
bytes = "2 MB"
"""


@pytest.fixture
def web(tmp_path: Path) -> Path:
    path = tmp_path / "web.toml"
    path.write_text(WEB)
    return path


def test_a_flow_says_which_group_it_belongs_to(bentpipe: Bentpipe, web: Path) -> None:
    for options in ((), ("--runs", "2")):
        flows = json.loads(bentpipe("run", web, "--json", *options).stdout)["flows"]
        assert [(flow["name"], flow["group"]) for flow in flows] == [
            *((f"web{i}", "web{i}") for i in range(20)),
            ("download", None),
        ]
