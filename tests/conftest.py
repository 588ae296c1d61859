"""The command line as a person calls it."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

from bentpipe_papers.reproduction.finished import Cache
from bentpipe_papers.reproduction.reproduce import Row, reproduce

PROGRAM = Path(sys.executable).with_name("bentpipe")
ROOT = Path(__file__).parent.parent
SCENARIOS = ROOT / "scenarios"

LOSSY = """\
extends = "preset:geo"
title = "lossy"
seed = 7
[links.satellite]
loss = { model = "packet", probability = 0.01 }
[flows.download]
from = "server"
to = "client"
bytes = "1 MB"
"""

ENDLESS = """\
extends = "preset:geo"
title = "endless"
duration = "1000000 s"
[flows.download]
from = "server"
to = "client"
"""

WEB_USERS = """\
extends = "preset:geo"
title = "20 web users and a download"
duration = "50 s"
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

WHOLE_MACHINE = {"guest", "live", "virtual"}
"""Folders whose tests make or count namespaces, links and processes: no two at once."""

Result = subprocess.CompletedProcess[str]
Bentpipe = Callable[..., Result]
Rows = Mapping[tuple[str, str], Row]
RowsOf = Callable[[str], Rows]


_OF_A_PAPER = re.compile(r"(?:test_|\[)(adalr|afc|sack|xfwa)\b")


def scope_of(nodeid: str) -> str:
    """Say which tests one worker runs in turn: of a file, of a paper, or what looks at the whole machine."""
    file = Path(nodeid.partition("::")[0])
    # Of a paper, one test runs what the others take.
    if file.parent.name == "papers" and (paper := _OF_A_PAPER.search(nodeid)):
        return paper[1]
    return "whole machine" if file.parent.name in WHOLE_MACHINE else str(file)


class _Scopes(LoadScopeScheduling):  # type: ignore[misc]
    def _split_scope(self, nodeid: str) -> str:
        return scope_of(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    return _Scopes(config, log)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Take one more than there are cores: the one with the whole machine's tests waits most of the time."""
    return min(4, len(os.sched_getaffinity(0)) + 1)


@pytest.fixture
def bentpipe(tmp_path: Path) -> Bentpipe:
    """Call the command line in an empty folder; the result has returncode, stdout and stderr."""

    def call(*arguments: str | Path, **options: Any) -> Result:
        environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
        settings: dict[str, Any] = {"cwd": tmp_path, "env": environment, "timeout": 120, **options}
        if "stdout" not in settings:
            settings["stdout"] = subprocess.PIPE
        command = [str(PROGRAM), *map(str, arguments)]
        return subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False, **settings)

    return call


@pytest.fixture(scope="session")
def finished_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder where the tests of papers keep finished runs: what one has run, no other runs again."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    folder = folder / "finished-runs"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def rows_of(finished_runs: Path) -> RowsOf:
    """Reproduce ``PAPER/ITEM`` when it is first asked for; its rows by case and metric."""

    @cache
    def rows(item: str) -> Rows:
        (result,) = reproduce(item, Cache(finished_runs))
        return {(row.case, row.metric): row for row in result.rows}

    return rows


@pytest.fixture(scope="module")
def nothing_left_behind() -> Iterator[None]:
    """Compare links, namespaces and processes before and after the tests of a module."""
    from machine import traces_of_a_run

    # What these tests start inherits this, and keeps it when it loses its parent. A namespace without a name
    # lives no longer than its processes.
    name, mark = "BENTPIPE_TESTS", f"module-{os.getpid()}-{time.monotonic_ns()}"
    os.environ[name] = mark
    before = traces_of_a_run(mark)
    yield
    after = traces_of_a_run(mark)
    del os.environ[name]
    assert {what: after[what] - before[what] for what in after} == {what: set() for what in after}


@pytest.fixture
def lossy(tmp_path: Path) -> Path:
    """A short download with one packet in a hundred lost."""
    path = tmp_path / "lossy.toml"
    path.write_text(LOSSY)
    return path


@pytest.fixture
def web_users(tmp_path: Path) -> Path:
    """Twenty web users beside a download."""
    path = tmp_path / "web.toml"
    path.write_text(WEB_USERS)
    return path


def tshark_fields(capture: Path, *fields: str, display_filter: str = "tcp") -> list[list[str]]:
    """Give these fields of each packet that tshark shows of a capture."""
    command = ["tshark", "-r", str(capture), "-Y", display_filter, "-T", "fields"]
    for field in fields:
        command += ["-e", field]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [line.split("\t") for line in shown.splitlines()]


def without_engine(text: str) -> str:
    """Take out of a run's JSON what the simulator spent, and leave every other byte."""
    run = json.loads(text)
    del run["engine"]
    return json.dumps(run, indent=2)


def files_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*"))
