"""The tables that `run` prints for people."""

import io
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from bentpipe.show.layout import new_table, print_whole
from conftest import WEB_USERS, Bentpipe


def test_a_flow_says_which_group_it_belongs_to(bentpipe: Bentpipe, web_users: Path) -> None:
    for options in ((), ("--runs", "2")):
        flows = json.loads(bentpipe("run", web_users, "--json", *options).stdout)["flows"]
        assert [(flow["name"], flow["group"]) for flow in flows] == [
            *((f"web{i}", "web{i}") for i in range(20)),
            ("download", None),
        ]


def rows_of(text: str, first: str) -> dict[str, list[str]]:
    """Read the table whose header line begins with `first`: the cells of each row by its name."""
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith(first):
            break
    rows = {}
    for line in lines:
        cells = [cell.strip() for cell in line.split("  ") if cell.strip()]
        # The next table begins with its header.
        if line.startswith((" ", "losses", "flow ", "link ")) or len(cells) < 2:
            break
        rows[cells[0]] = cells[1:]
    return rows


def test_a_narrow_terminal_cuts_no_number_from_its_unit() -> None:
    cells = ["29.43 ± 2.5 s", "562.9 ± 53 kbit/s", "4.05 (3.2–5.1?)", "531.9 ± 0.85 ms", "0.005 ± 0.0005 %"]
    table = new_table("flow", *(f"number {place}" for place in range(len(cells))))
    table.add_row("download", *cells)
    table.add_row("upload", *cells)

    def printed(width: int, *, terminal: bool) -> list[str]:
        text = io.StringIO()
        print_whole(table, Console(file=text, width=width, force_terminal=terminal, no_color=True))
        return [re.sub("\x1b[^m]*m", "", line).rstrip() for line in text.getvalue().splitlines()]

    narrow = printed(60, terminal=True)
    assert max(map(len, narrow)) <= 60
    assert len(narrow) == 6
    assert [line.split()[0] for line in narrow] == ["flow", "download", "upload"] * 2
    assert all(any(cell in line for line in narrow) for cell in cells)
    assert len(printed(160, terminal=True)) == 3
    # A file has no width, and a program that reads it wants a row a line.
    assert len(printed(60, terminal=False)) == 3


def test_copies_have_one_row_with_sum_mean_and_spread_beside_the_download(
    bentpipe: Bentpipe, web_users: Path
) -> None:
    shown = bentpipe("run", web_users).stdout
    run = json.loads(bentpipe("run", web_users, "--json").stdout)
    flows, pages = run["flows"], run["pages"]
    users, (download,) = flows[:20], flows[20:]
    rows = rows_of(shown, "flow ")
    assert list(rows) == ["web{i} (20 flows)", "download"]
    variant, delivered, time, _, throughput, *_ = rows["web{i} (20 flows)"]
    assert variant == "sack"
    total = sum(flow["bytes_delivered"] for flow in users) / 1e6
    assert delivered == f"{total:.4g} MB"
    assert time == "50 s, 20 open"
    rates = [flow["throughput_bps"] / 1e3 for flow in users]
    assert throughput == f"{sum(rates) / 20:.4g} ({min(rates):.4g}–{max(rates):.4g}) kbit/s"
    assert rows["download"][3] == f"{download['goodput_bps'] / 1e3:.4g} kbit/s"
    assert "mean (least–most)" in shown
    # So have their pages, all of them that came.
    answered = sum(page["response_s"] is not None for page in pages)
    assert any(
        line.startswith("web{i} (20 flows)") and f" {answered} of {len(pages)} " in line
        for line in shown.splitlines()
    )


def test_chosen_flows_have_rows_of_their_own(bentpipe: Bentpipe, web_users: Path, tmp_path: Path) -> None:
    rows = rows_of(bentpipe("run", web_users, "--flows", "web1?", "--flows", "web3").stdout, "flow ")
    assert list(rows) == [*("web3", *(f"web1{i}" for i in range(10))), "web{i} (20 flows)", "download"]
    result = bentpipe("run", web_users, "--flows", "wbe*", "--out", "result")
    message = "--flows: expected the name of a flow (web{i}, download) or a pattern, found 'wbe*'"
    assert (result.returncode, result.stdout, result.stderr) == (2, "", f"bentpipe: {message}\n")
    assert not (tmp_path / "result").exists()


def test_more_flows_than_rows_are_shown_by_what_they_carried(bentpipe: Bentpipe, tmp_path: Path) -> None:
    flows = "".join(
        f'[flows.f{i}]\nfrom = "server"\nto = "client"\nbytes = "{i + 1} kB"\n' for i in range(30)
    )
    (tmp_path / "many.toml").write_text(f'extends = "preset:geo"\n{flows}')
    rows = rows_of(bentpipe("run", "many.toml").stdout, "flow ")
    assert list(rows) == [*(f"f{i}" for i in range(29, 9, -1)), "… and 10 more (see --json)"]
    # 1 to 10 kB.
    assert rows["… and 10 more (see --json)"] == ["55 kB"]


def test_one_of_a_thing_is_not_called_many(bentpipe: Bentpipe, tmp_path: Path) -> None:
    text = """\
extends = "preset:geo"
[links.satellite]
loss = { model = "drop", packets = [20], at_least = "100 B" }
[flows.download]
from = "server"
to = "client"
bytes = "100 kB"
"""
    (tmp_path / "one.toml").write_text(text)
    run = json.loads(bentpipe("run", "one.toml", "--json").stdout)
    assert (run["flows"][0]["loss_cause_random"], run["links"][2]["corrupted_packets"]) == (1, 1)
    shown = bentpipe("run", "one.toml").stdout
    assert "  1 segment " in shown
    assert "  1 packet " in shown
    assert " 1 segments" not in shown
    assert " 1 packets" not in shown
    assert "1 replication," in bentpipe("run", "one.toml", "--runs", "1").stdout


JAPANESE = WEB_USERS.replace("20 web users and a download", "衛星 – ü 😀").replace(
    "flows.download", 'flows."転送"'
)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_any_encoding_of_the_output_will_do(bentpipe: Bentpipe, tmp_path: Path, encoding: str) -> None:
    (tmp_path / "title.toml").write_text(JAPANESE, encoding="utf-8")
    settings: dict[str, Any] = {
        "env": {**os.environ, "PYTHONIOENCODING": encoding, "XDG_CACHE_HOME": str(tmp_path)},
        "encoding": encoding,
    }
    commands: tuple[tuple[str, str], ...] = (
        ("run", "title.toml"),
        ("list", "variants"),
        ("plot", "title.toml"),
    )
    for command in commands:
        result = bentpipe(*command, **settings)
        assert result.returncode == 0
        assert result.stderr == ("Wrote plot.png\n" if command[0] == "plot" else "")
    result = bentpipe("run", "title.toml", "--json", **settings)
    run = json.loads(result.stdout)
    assert (run["scenario"], run["flows"][20]["name"]) == ("衛星 – ü 😀", "転送")
    shown = bentpipe("run", "title.toml", **settings).stdout
    assert "?" not in shown
    expected = {"ascii": r"\u885b\u661f - \xfc", "latin-1": r"\u885b\u661f - ü", "utf-8": "衛星 – ü 😀"}
    assert shown.startswith(expected[encoding])
    result = bentpipe("run", "衛星.toml", **settings)
    assert (result.returncode, result.stderr.count("\n")) == (2, 1)
