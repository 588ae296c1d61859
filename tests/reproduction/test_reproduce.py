"""The framework, on a paper made up for the test."""

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

from bentpipe.errors import BentpipeError, InputError
from bentpipe.runs import runner
from bentpipe.runs.progress import Reporter
from bentpipe.runs.result import Result
from bentpipe_papers.reproduction import context, papers
from bentpipe_papers.reproduction.finished import Cache
from bentpipe_papers.reproduction.grid import Grid
from bentpipe_papers.reproduction.readings import Reading
from bentpipe_papers.reproduction.reproduce import (
    Context,
    Item,
    Reproduced,
    Row,
    as_json,
    reproduce,
    verdict_counts,
)
from bentpipe_papers.reproduction.verdicts import VERDICTS
from conftest import LOSSY, Bentpipe

ABOUT = 'title = "Two windows"\ncitation = "A. Uthor, 2001"\n'
HEADER = "item,case,metric,unit,published,kind,input,where,comment\n"
PUBLISHED = (
    HEADER
    + "table-1,8,goodput,kbit/s,999,printed,,section 2,\n"
    + "table-1,32,goodput,kbit/s,2000,printed,,section 2,\n"
    + 'table-1,windows,goodput,,32 >> 8,claim,,section 3,"""much more"""\n'
    + "text-rtt,link,rtt,ms,540,printed,,section 1,\n"
    + "text-rtt,slides,rtt,ms,600,printed,duplicate,section 1,\n"
    + "text-rtt,replications,runs,,3,printed,echo,section 1,\n"
    + "text-rtt,wrong,runs,,4,printed,arithmetic,section 1,\n"
)
NOTES = (
    "item,case,metric,cause,note\n"
    + "table-1,windows,*,,holds\n"
    + "table-1,*,goodput,open,invented\n"
    + "text-rtt,wrong,*,contradiction,there are {runs}\n"
)
WINDOWS = ("8", "32")


def table(context: Context) -> list[Row]:
    settings = [{"tcp.receive_window": f"{window} segments"} for window in WINDOWS]
    runs = context.runs("link.toml", settings, runs=3)
    goodput = {window: run["flows"][0]["goodput_bps"] for window, run in zip(WINDOWS, runs, strict=True)}
    kbps = {}
    for window, number in goodput.items():
        assert isinstance(number, dict)
        assert number["ci95"] is not None
        kbps[window] = {"mean": number["mean"] / 1e3, "ci95": number["ci95"] / 1e3, "n": number["n"]}
    return [
        *(context.number(window, "goodput", kbps[window]) for window in WINDOWS),  # type: ignore[arg-type]
        context.claim("windows", "goodput", goodput, unit="bit/s"),
    ]


def rtt(context: Context) -> list[Row]:
    found = context.run("link.toml")["flows"][0]["rtt_mean_s"]
    assert isinstance(found, float)
    replications = context.replicate("link.toml", [{}, {"tcp.receive_window": "8 segments"}], runs=3)
    assert [len(runs) for runs in replications] == [3, 3]
    assert [run["seed"] for run in replications[0]] == [run["seed"] for run in replications[1]]
    context.fact("runs", "three")
    return [
        context.number("link", "rtt", found * 1e3),
        context.number("slides", "rtt", found * 1e3),
        context.number("replications", "runs", 3.0),
        context.number("wrong", "runs", 3.0),
    ]


def picture(context: Context, path: Path) -> None:
    from bentpipe.plot import draw_runs

    draw_runs([context.trace("link.toml", title="link")], path)


def own(context: Context) -> Grid:
    run = context.run("link.toml", runs=2)
    return Grid("Ours", ("link", "goodput (bit/s)"), (("lossy", run["flows"][0]["goodput_bps"]),))


ITEMS = (
    Item("table-1", "Goodput by window", table, picture),
    Item("text-rtt", "Round trip", rtt, measure=own),
)


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "papers" / "toy"
    folder.mkdir(parents=True)
    (folder / "paper.toml").write_text(ABOUT)
    (folder / "published.csv").write_text(PUBLISHED)
    (folder / "notes.csv").write_text(NOTES)
    (folder / "link.toml").write_text(LOSSY)
    monkeypatch.setattr(papers, "folder", lambda: tmp_path / "papers")

    class Module:
        ITEMS = ITEMS
        WITHOUT = Reading.of_settings(
            "without", "", lambda settings: {**settings, "tcp.receive_window": "8 segments"}
        )

    monkeypatch.setattr(papers.Paper, "module", lambda _: Module)
    return folder


def by_name(results: list[Reproduced]) -> dict[str, list[Row]]:
    return {result.item.name: result.rows for result in results}


@pytest.mark.usefixtures("paper")
def test_rows_stand_beside_what_was_published() -> None:
    rows = by_name(reproduce("toy", Cache(None)))
    eight, thirty_two, claim = rows["table-1"]
    assert (eight.case, eight.unit, eight.published) == ("8", "kbit/s", 999.0)
    assert isinstance(eight.computed, float)
    assert eight.deviation == pytest.approx(eight.computed / 999 - 1)
    # Both numbers are invented, but the larger one is the larger one here too.
    assert (eight.verdict, thirty_two.verdict) == ("shape", "shape")
    assert (claim.verdict, claim.published, claim.deviation) == ("match", "32 >> 8", None)
    assert isinstance(claim.computed, str)
    assert claim.computed.endswith("bit/s")
    assert [row.verdict for row in rows["text-rtt"]] == [
        "match (also without)",
        "input",
        "input",
        "contradiction",
    ]
    counts = verdict_counts(reproduce("", Cache(None)))
    assert counts == {
        "toy": {
            "input": 2,
            "match": 1,
            "match (also without)": 1,
            "shape": 2,
            "contradiction": 1,
            "differs": 0,
        }
    }


@pytest.mark.usefixtures("paper")
def test_what_is_measured_stands_beside_the_same_without_the_scheme() -> None:
    rows = by_name(reproduce("toy", Cache(None)))
    eight, thirty_two, claim = rows["table-1"]
    assert eight.without is not None
    assert eight.without.computed == eight.computed
    assert eight.without_text() == "the same"
    assert thirty_two.without is not None
    assert thirty_two.without.computed == eight.computed
    assert claim.without is not None
    assert claim.without.verdict == "differs"
    link, *inputs = rows["text-rtt"]
    assert link.without is not None
    assert (link.verdict, link.without.verdict) == ("match (also without)", "match")
    assert [row.without for row in inputs] == [None] * 3


@pytest.mark.usefixtures("paper")
def test_notes_come_from_their_file_and_only_what_differs_has_a_cause() -> None:
    rows = by_name(reproduce("toy", Cache(None)))
    assert [(row.note, row.cause) for row in rows["table-1"]] == [("invented", None)] * 2 + [("holds", None)]
    wrong = rows["text-rtt"][-1]
    assert (wrong.cause, wrong.note) == ("contradiction", "there are three")
    assert wrong.explanation() == "The document contradicts itself: there are three"


def test_a_note_that_asks_for_what_nobody_found_is_an_error(paper: Path) -> None:
    (paper / "notes.csv").write_text(NOTES.replace("{runs}", "{walks}"))
    with pytest.raises(BentpipeError, match=r"toy/text-rtt: notes.csv: .*walks"):
        reproduce("toy/text-rtt", Cache(None))


def test_a_note_with_an_unknown_cause_is_an_error(paper: Path) -> None:
    (paper / "notes.csv").write_text(NOTES.replace("open", "weather"))
    with pytest.raises(BentpipeError, match=r"notes.csv: cause 'weather' is none of"):
        papers.all_papers()


def test_one_note_of_several_rows_is_printed_once(bentpipe: Bentpipe) -> None:
    found = " ".join(bentpipe("reproduce", "adalr/table-6").stdout.split())
    metric = "shorter than standard TCP, slides"
    assert found.count("The document contradicts itself") == 1
    assert f"gain, enabled, {metric}; gain, disabled, {metric}: The document contradicts itself" in found


def test_the_counts_are_printed_for_each_paper(bentpipe: Bentpipe) -> None:
    lines = bentpipe("reproduce", "adalr/table-2").stdout.splitlines()
    # Each verdict has a column, two of them of several words.
    assert lines[-3].split() == ["paper", "rows", *" ".join(VERDICTS).split()]
    name, total, *counts = lines[-2].split()
    assert name == "adalr"
    assert int(total) == sum(map(int, counts)) > 0
    assert lines[-1] == (
        "adalr: 0 statements: 0 hold, 0 hold also without the scheme, 0 cannot be told, 0 do not"
    )


@pytest.mark.usefixtures("paper")
def test_the_json_has_the_promised_keys() -> None:
    found = as_json(reproduce("toy/text-rtt", Cache(None)))
    assert found["readings"] == {"toy": []}
    assert found["statements"] == {
        "toy": {"holds": 0, "holds also without": 1, "cannot be told": 0, "does not hold": 0}
    }
    (item,) = found["items"]
    assert (item["paper"], item["item"]) == ("toy", "text-rtt")
    keys = [
        "case",
        "metric",
        "unit",
        "published",
        "computed",
        "ci95",
        "deviation",
        "verdict",
        "note",
        "where",
        "comment",
        "cause",
        "without",
    ]
    assert list(item["rows"][0]) == keys
    grid = json.loads(json.dumps(found, allow_nan=False))["items"][0]["grid"]
    assert grid["columns"] == ["link", "goodput (bit/s)"]
    ((name, goodput),) = grid["rows"]
    assert (name, goodput["n"]) == ("lossy", 2)


def test_finished_runs_are_not_run_again(
    paper: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = Cache(tmp_path / "cache")
    first = by_name(reproduce("toy", cache))
    # Without the scheme nothing is run that was not run beside it.
    assert len(list((tmp_path / "cache").iterdir())) == 9
    executed: list[str] = []
    real = runner.execute

    def counting(*arguments: object, **options: object) -> Result:
        executed.append("run")
        return real(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(runner, "execute", counting)
    assert by_name(reproduce("toy", cache)) == first
    assert executed == []
    # A run whose file was torn is run again, the others are not.
    next((tmp_path / "cache").iterdir()).write_text('{"scenario": ')
    assert by_name(reproduce("toy", cache)) == first
    assert executed == ["run"]
    # Another scenario file is another run.
    (paper / "link.toml").write_text(LOSSY.replace("0.01", "0.02"))
    assert by_name(reproduce("toy", cache)) != first
    assert len(executed) == 10


@pytest.mark.usefixtures("paper")
@pytest.mark.parametrize(
    "damage", ["{}", "[]", "null", "", "[" * 100_000, "lacks", "number", "other", "list"]
)
def test_a_cached_run_that_is_not_whole_is_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    cache = Cache(tmp_path / "cache")
    first = by_name(reproduce("toy/text-rtt", cache))
    whole = {path: path.read_bytes() for path in (tmp_path / "cache").iterdir()}
    for path, content in whole.items():
        kept = json.loads(content)
        match damage:
            case "lacks":
                del kept["run"]["flows"][0]["rtt_mean_s"]
            case "number":
                kept["run"]["duration_s"] = 1.0
            case "other":
                kept["what"]["seed"] = 99
            case "list":
                kept["run"]["flows"] = {}
        path.write_text(json.dumps(kept) if damage.isalpha() and damage != "null" else damage)
    executed: list[str] = []
    real = runner.execute

    def counting(*arguments: object, **options: object) -> Result:
        executed.append("run")
        return real(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(runner, "execute", counting)
    assert by_name(reproduce("toy/text-rtt", cache)) == first
    assert len(executed) == len(whole) == 7
    assert by_name(reproduce("toy/text-rtt", cache)) == first
    assert len(executed) == 7


def test_a_cache_that_cannot_be_written_is_one_line(bentpipe: Bentpipe, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in ("file/below", "/proc/none"):
        result = bentpipe("reproduce", "sack", "--cache", folder)
        assert result.returncode == 2
        (line,) = result.stderr.splitlines()
        assert line.startswith(f"bentpipe: --cache {folder}: expected a folder that can be written to")


@pytest.mark.usefixtures("paper")
def test_progress_names_the_stages_of_an_item(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[tuple[str | None, str]] = []

    class Loud(Reporter):
        def due(self) -> bool:
            return True

        def update(self, _: float | None, detail: str) -> None:
            if self._title:
                said.append((self._title, detail))

    monkeypatch.setattr(context, "Reporter", Loud)
    for _ in range(2):
        reproduce("toy/text-rtt", Cache(tmp_path / "cache"))
    stages = [f"toy/text-rtt, stage {stage} (link.toml)" for stage in (1, 2, 3, 4, 5)]
    assert list(dict.fromkeys(title for title, _ in said)) == stages
    assert (stages[0], "1 of 1 runs") in said
    assert said[-1] == (stages[-1], "6 of 6 runs, 6 of them from before")


class Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.pictures: list[str] = []
        self.text = ""
        self.outside: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        named = dict(attributes)
        if tag == "img":
            self.pictures.append(named.get("src") or "")
        outside = named.get("src") or named.get("href") or ""
        if tag in ("img", "link", "script") and outside and not outside.startswith("data:"):
            self.outside.append(outside)

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.usefixtures("paper")
def test_the_report_is_a_page_with_its_pictures_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "report"
    results = reproduce("toy", Cache(None), report=folder)
    assert sorted(path.name for path in folder.iterdir()) == ["index.html", "result.json"]
    page = Page()
    text = (folder / "index.html").read_text()
    page.feed(text)
    # The scatter of all numbers, those of table 1 beside ours, and the picture of the item.
    assert text.count("<svg") + len(page.pictures) == 3
    assert page.outside == []
    for words in (
        "Two windows",
        "3 statements: 2 hold, 1 hold also without the scheme, 0 cannot be told, 0 do not.",
        "A. Uthor, 2001",
        "Goodput by window",
        "32 >> 8",
        "999 kbit/s",
        "invented",
        "shape",
    ):
        assert words in page.text
    assert json.loads((folder / "result.json").read_text()) == as_json(results)


def test_a_published_row_that_nobody_answers_is_an_error(paper: Path) -> None:
    with (paper / "published.csv").open("a") as file:
        file.write("text-rtt,link,delay,ms,1,printed,,section 1,\n")
    with pytest.raises(BentpipeError, match=r"toy/text-rtt: .*'link', 'delay'"):
        reproduce("toy", Cache(None))


@pytest.mark.parametrize(
    "row",
    [
        "text-rtt,link,rtt,ms,fast,printed,,x,\n",
        "text-rtt,link,rtt,ms,540,guessed,,x,\n",
        "text-rtt,link,rtt,ms,540,printed,invented,x,\n",
        "text-rtt,link\n",
    ],
)
def test_a_broken_published_file_is_an_error(paper: Path, row: str) -> None:
    (paper / "published.csv").write_text(HEADER + row)
    with pytest.raises(BentpipeError, match="toy"):
        papers.all_papers()


@pytest.mark.parametrize("name", ["index.html", "result.json"])
def test_a_report_replaces_no_file_of_a_paper_and_no_finished_run(
    paper: Path, tmp_path: Path, name: str
) -> None:
    reproduce("toy", Cache(tmp_path / "cache"))
    finished = next((tmp_path / "cache").glob("*.json"))
    for read in (paper / "published.csv", finished):
        before = read.read_bytes()
        (tmp_path / "report").mkdir(exist_ok=True)
        (tmp_path / "report" / name).unlink(missing_ok=True)
        (tmp_path / "report" / name).symlink_to(read)
        with pytest.raises(InputError, match=f"--report: .* found .*{name}"):
            reproduce("toy", Cache(tmp_path / "cache"), report=tmp_path / "report")
        assert read.read_bytes() == before
