import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from conftest import ROOT

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


@pytest.mark.parametrize(("scenario", "most"), [("geo-cubic", 1.10), ("geo-linux", 1.41)])
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
