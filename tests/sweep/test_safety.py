"""What a sweep must not do: destroy what is not its own, trust what is damaged, label a run wrongly."""

import copy
import json
import pickle
import threading
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bentpipe as bp
from bentpipe.sweeps import store, work
from conftest import Bentpipe, files_in

pytestmark = pytest.mark.usefixtures("lossy")

VARIANT = "flows.download.variant"
VARY = {VARIANT: ["reno", "sack"]}
SWEEP = ["sweep", "lossy.toml", "--vary", f"{VARIANT}=reno,sack", "--set", "flows.download.bytes=20 kB"]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_sweep_into_the_folder_of_its_own_scenario_is_refused(
    bentpipe: Bentpipe, lossy: Path, tmp_path: Path
) -> None:
    (tmp_path / "n").mkdir()
    (tmp_path / "n" / "scenario.toml").write_bytes(lossy.read_bytes())
    (tmp_path / "m" / "parts").mkdir(parents=True)
    (tmp_path / "m" / "parts" / "thesis.txt").write_text("not to be lost")
    before = contents(tmp_path)
    for scenario, out in (("n/scenario.toml", "n"), ("lossy.toml", "m")):
        told = bentpipe("sweep", scenario, "--vary", f"{VARIANT}=reno,sack", "--out", out)
        assert (told.returncode, told.stderr.count("\n")) == (2, 1)
        assert f"--out {out}: expected a new folder or that of this sweep, found other files" in told.stderr
        assert contents(tmp_path) == before


def test_what_a_user_keeps_beside_the_parts_stays(bentpipe: Bentpipe, tmp_path: Path) -> None:
    assert bentpipe(*SWEEP, "--out", "o").returncode == 0
    (tmp_path / "o" / "parts").mkdir()
    (tmp_path / "o" / "parts" / "notes").mkdir()
    (tmp_path / "o" / "parts" / "notes.txt").write_text("mine")
    assert bentpipe(*SWEEP, "--runs", "2", "--out", "o").returncode == 0
    assert (tmp_path / "o" / "parts" / "notes.txt").read_text() == "mine"
    assert bp.Sweep.open(str(tmp_path / "o")).count() == 4


def test_a_refused_sweep_has_written_nothing(bentpipe: Bentpipe, tmp_path: Path) -> None:
    assert bentpipe(*SWEEP, "--out", "o").returncode == 0
    rows = tmp_path / "o" / "rows.parquet"
    pq.write_table(pa.table({"point": [1]}), rows)
    before = contents(tmp_path / "o")
    told = bentpipe(*SWEEP, "--runs", "3", "--out", "o")
    assert (told.returncode, told.stderr.count("\n")) == (2, 1)
    assert "o/rows.parquet: expected rows of a sweep, found a file that holds something else" in told.stderr
    assert contents(tmp_path / "o") == before
    shown = bentpipe("show", "o")
    assert (shown.returncode, shown.stderr.count("\n")) == (2, 1)


def test_a_sweep_killed_between_its_first_two_files_goes_on(bentpipe: Bentpipe, tmp_path: Path) -> None:
    assert bentpipe(*SWEEP, "--out", "o").returncode == 0
    for name in ("rows.parquet", "scenario.toml"):
        (tmp_path / "o" / name).unlink()
    assert bentpipe(*SWEEP, "--out", "o").returncode == 0
    assert files_in(tmp_path / "o") == ["rows.parquet", "scenario.toml", "sweep.json"]


@pytest.mark.parametrize("name", ["replication", "goodput_bps"])
def test_a_flipped_byte_is_found_and_does_not_go_into_the_new_file(
    bentpipe: Bentpipe, tmp_path: Path, name: str
) -> None:
    assert bentpipe(*SWEEP, "--out", "o").returncode == 0
    rows = tmp_path / "o" / "rows.parquet"
    damaged = bytearray(rows.read_bytes())
    # The last byte of the replications' page, and of a measured column's, which is read when all are there.
    group = pq.read_metadata(rows).row_group(0)
    names = [group.column(number).path_in_schema for number in range(group.num_columns)]
    column = group.column(names.index(name))
    place = (column.dictionary_page_offset or column.data_page_offset) + column.total_compressed_size - 1
    damaged[place] ^= 0xFF
    rows.write_bytes(bytes(damaged))
    told = bentpipe(*SWEEP, "--runs", "2", "--out", "o")
    assert told.returncode == 2
    assert "damaged" in told.stderr.splitlines()[-1]
    assert rows.read_bytes() == bytes(damaged)


def test_a_nested_sweep_json_is_no_sweep(bentpipe: Bentpipe, tmp_path: Path) -> None:
    assert bentpipe(*SWEEP, "--out", "o").returncode == 0
    (tmp_path / "o" / "sweep.json").write_text("[" * 100_000)
    told = bentpipe("show", "o")
    assert (told.returncode, told.stderr.count("\n")) == (2, 1)
    assert "expected what a sweep is, found something else" in told.stderr


def test_rows_of_another_engine_stay_until_all_are_there(
    lossy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = tmp_path / "found"
    for module in (store, work):
        monkeypatch.setattr(module, "who", lambda: ("0123456789abcdef", "0.0.1"))
    bp.sweep(lossy, VARY, runs=3, out=found, progress=False)
    old = (found / "rows.parquet").read_bytes()
    monkeypatch.undo()
    stop = threading.Event()
    stop.set()
    with pytest.raises(bp.Interrupted):
        bp.sweep(lossy, VARY, runs=3, out=found, progress=False, stop=stop)
    assert (found / "before" / "0123456789abcdef-rows.parquet").read_bytes() == old
    assert bp.sweep(lossy, VARY, runs=3, out=found, progress=False).count() == 6
    assert files_in(found) == ["rows.parquet", "scenario.toml", "sweep.json"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("flows.download.bytes=1 kB,2 kB", "flows.*.bytes=1 MB,2 MB"),
        ("flows.*.bytes=1 MB,2 MB", "flows.download.bytes=1 kB,2 kB"),
        (
            "links.satellite.loss.probability=0.1,0.2",
            "links.satellite.loss={model='packet'\\,probability=0.1}",
        ),
        ("flows.'download'.bytes=1 kB,2 kB", "flows.download.bytes=1 MB,2 MB"),
    ],
)
def test_keys_of_which_one_covers_the_other_are_refused(
    bentpipe: Bentpipe, tmp_path: Path, one: str, other: str
) -> None:
    told = bentpipe("sweep", "lossy.toml", "--vary", one, "--vary", other, "--out", "o")
    assert (told.returncode, told.stderr.count("\n")) == (2, 1)
    assert "of which one covers the other" in told.stderr
    assert not (tmp_path / "o").exists()


def test_an_opened_sweep_takes_a_text_and_can_be_copied(bentpipe: Bentpipe, tmp_path: Path) -> None:
    assert bentpipe(*SWEEP, "--out", "o").returncode == 0
    opened = bp.Sweep.open(str(tmp_path / "o"))
    assert pickle.loads(pickle.dumps(opened)).count() == copy.deepcopy(opened).count() == 2  # noqa: S301
    with pytest.raises(bp.InputError, match=r"^folder: expected a str or a Path"):
        bp.Sweep.open(3)  # type: ignore[arg-type]
    assert json.loads((tmp_path / "o" / "sweep.json").read_text())["points"] == 2
