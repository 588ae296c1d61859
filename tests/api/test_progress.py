"""How far a job is, as a notebook shows it."""

import builtins
import sys
from types import ModuleType
from typing import Any

import pytest

from bentpipe.runs import progress


class ZMQInteractiveShell:
    """What runs the cells of a notebook."""


class Shown:
    def __init__(self) -> None:
        self.texts: list[str] = []
        self.pages: list[str] = []

    def update(self, data: dict[str, str], *, raw: bool) -> None:
        assert raw
        self.texts.append(data["text/plain"])
        self.pages.append(data["text/html"])


@pytest.fixture
def cell(monkeypatch: pytest.MonkeyPatch) -> Shown:
    """The output of a cell of a notebook that runs us."""
    shown = Shown()
    module: Any = ModuleType("IPython.display")
    module.display = lambda *_, **__: shown
    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    monkeypatch.setattr(builtins, "get_ipython", ZMQInteractiveShell, raising=False)
    monkeypatch.setattr(progress, "_TERMINAL_AFTER_S", 0.0)
    monkeypatch.setattr(progress, "_NOTEBOOK_EVERY_S", 0.0)
    return shown


def test_a_notebook_shows_a_bar_that_changes_and_goes(
    cell: Shown, capsys: pytest.CaptureFixture[str]
) -> None:
    with progress.Reporter("<mine>") as reporter:
        reporter.update(0.25, "1 of 4 runs")
        reporter.update(0.5, "2 of 4 runs")
    assert cell.texts[0].startswith("<mine>: 25%, about ")
    assert cell.pages[0].startswith('<progress value="0.250"></progress> &lt;mine&gt;: 25%, about ')
    assert cell.pages[2:] == [""]
    assert cell.texts[1].endswith("left, 2 of 4 runs")
    assert cell.texts[2:] == [""]
    assert capsys.readouterr() == ("", "")


def test_a_job_without_a_title_shows_a_notebook_nothing(cell: Shown) -> None:
    with progress.Reporter(None) as reporter:
        reporter.update(0.5, "2 of 4 runs")
    assert cell.texts == []
