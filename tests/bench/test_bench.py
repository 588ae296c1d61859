import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "bench"))

from rooms import by_room, functions
from simulators import BENCHMARKS, Bentpipe, Ns2, Run
from timing import Round, Spread, Timed, ratio

BENCH = ROOT / "bench" / "run.py"


def checkout(folder: Path, *files: str) -> Path:
    """Make a folder that looks like a checkout of htsim so far."""
    for file in files:
        path = folder / "sim" / file
        path.parent.mkdir(exist_ok=True)
        path.touch()
    return folder


@pytest.mark.parametrize(
    ("files", "complaint"),
    [
        ((), "expected a checkout of Broadcom/csg-htsim, found no sim/tcp.h in it"),
        (("tcp.h", "eventlist.h"), "expected its library to be built, found no sim/libhtsim.a"),
    ],
)
def test_a_wrong_path_of_htsim_is_one_line(tmp_path: Path, files: tuple[str, ...], complaint: str) -> None:
    path = checkout(tmp_path, *files)
    done = subprocess.run([sys.executable, BENCH, "--htsim", path], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"bench: --htsim {path}: {complaint}\n"


def test_htsim_without_its_path_is_one_line() -> None:
    done = subprocess.run([sys.executable, BENCH, "--simulator", "htsim"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    expected = "expected --htsim PATH beside it, a checkout of Broadcom/csg-htsim"
    assert done.stderr == f"bench: --simulator htsim: {expected}\n"


def baseline() -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = json.loads((ROOT / "bench" / "baseline.json").read_text())
    return found


@pytest.mark.parametrize(("scenario", "most"), [("geo-cubic", 1.10), ("geo-linux", 1.65)])
def test_a_control_costs_no_more_than_it_may(scenario: str, most: float) -> None:
    counted = baseline()
    share = counted[scenario]["instructions_per_segment"] / counted["geo"]["instructions_per_segment"]
    assert share <= most, f"{scenario} costs {share - 1:+.1%} of geo"
    assert counted[scenario]["length"] == counted["geo"]["length"]


def test_what_is_compared_with_geo_has_its_links() -> None:
    def links(name: str) -> dict[str, object]:
        text = (ROOT / "bench" / "scenarios" / f"{name}.toml").read_text()
        found: dict[str, object] = tomllib.loads(text)["links"]
        return found

    assert links("geo-linux") == links("geo")


def test_every_instruction_of_a_profile_is_in_a_room() -> None:
    lines = [
        "fl=(1) /crates/sim/src/engine.rs",
        "fn=(1) bentpipe_sim::engine::Engine::run_until",
        "10 5",
        "fi=(2) /crates/path/src/link.rs",
        "+2 7",
        "fi=(3) library/core/src/cmp.rs",
        "+2 1",
        "fe=(1)",
        "cfn=(2) bentpipe_net::calendar::Calendar<T>::pop",
        "calls=3 20",
        "* 900",
        "11 1",
        "",
        "fn=(2)",
        "20 900",
        "fn=(3) main",
        "1 2",
    ]
    rooms = by_room(functions(lines))
    assert {room: count for room, count in rooms.items() if count} == {
        "calendars": 900,
        "links: queue and ring": 8,
        "loop": 6,
        "the rest": 2,
    }


def timed(name: str, times: int, core_s: list[float]) -> Timed:
    """A second of start in each process, and two processes in a round of a peer."""
    simulator = Bentpipe() if name == "bentpipe" else Ns2()
    processes = 1 if name == "bentpipe" else times
    rounds = [Round([Run({"data_segments": 1000}, core, core)] * processes) for core in core_s]
    return Timed(simulator, BENCHMARKS[0], times, 1, rounds)


def test_a_ratio_is_of_the_work_of_each_round() -> None:
    ours, theirs = timed("bentpipe", 10, [2, 3, 2]), timed("ns-2", 2, [3, 3, 5])
    assert ours.rates() == [10_000, 5_000, 10_000]
    assert theirs.rates() == [500, 500, 250]
    assert ratio(ours, theirs) == Spread(20, 10, 40)
    assert f"{ratio(ours, theirs):.1f}" == "20.0 (-50 to +100 %)"
    assert [command[-2:] for command in ours.processes()] == [["--repeat", "10"]]
    assert len(theirs.processes()) == 2
