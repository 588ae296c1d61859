"""``bentpipe live --virtual`` without a kernel: which one is taken, and what is said when none can be."""

import subprocess
import sys
from pathlib import Path

import pytest
from stand_in import built

import virtual_kernel as recipe
from bentpipe.errors import InputError
from bentpipe.live.virtual import kernel
from conftest import Bentpipe

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a virtual kernel needs Linux")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the folder of kernels; the command line is told of the same."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return kernel.cache()


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    file = tmp_path / "net.toml"
    file.write_text('extends = "preset:geo"\n[flows.a]\nfrom = "server"\nto = "client"\nbytes = "1 MB"\n')
    return file


def test_without_a_kernel_one_line_says_how_to_get_one(bentpipe: Bentpipe, scenario: Path) -> None:
    result = bentpipe("live", "--virtual", "testbed", scenario)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr == (
        "bentpipe: live --virtual: no virtual kernel here: `make virtual-kernel` in bentpipe's source folder "
        "builds one\n"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("--virtual", "emulate", "preset:geo"),
            "live --virtual: expected testbed, interop, diff, found emulate",
        ),
        (("--kernel", "6.12", "testbed", "preset:geo"), "--kernel: expected --virtual beside it"),
        (("--kernel-seed", "3", "interop"), "--kernel-seed: expected --virtual beside it"),
        (("--time-limit", "9", "interop"), "--time-limit: expected --virtual beside it"),
    ],
)
def test_what_does_not_go_together(bentpipe: Bentpipe, arguments: tuple[str, ...], said: str) -> None:
    result = bentpipe("live", *arguments)
    assert (result.returncode, result.stderr) == (2, f"bentpipe: {said}\n")


def test_the_one_built_last_is_taken(cache: Path) -> None:
    for name in ("one", "two"):
        recipe.use(built(cache / name, "").folder)
    assert kernel.find().folder == cache / "two"


def test_one_can_be_named_by_its_folder_or_release(cache: Path, tmp_path: Path) -> None:
    old, new = built(cache / "old", "", "6.1.170"), built(cache / "new", "", "6.12.117")
    recipe.use(new.folder)
    assert kernel.find("6.1.").folder == old.folder
    assert kernel.find("6.12").controls == ("reno", "cubic")
    apart = built(tmp_path / "apart", "")
    assert kernel.find(str(apart.folder)).folder == apart.folder
    for name in ("6.", "6.18"):
        with pytest.raises(InputError, match=rf"--kernel: expected .* 6.12.117 in .*, found '{name}'"):
            kernel.find(name)


@pytest.mark.parametrize("name", kernel.FILES)
def test_a_file_that_was_changed_is_refused(cache: Path, name: str) -> None:
    folder = built(cache / "one", "").folder
    recipe.use(folder)
    with (folder / name).open("ab") as file:
        file.write(b"x")
    with pytest.raises(InputError, match=f"{name} is not the file that was built: `make virtual-kernel`"):
        kernel.find()


def test_a_folder_that_is_not_whole_is_refused(cache: Path) -> None:
    folder = built(cache / "one", "").folder
    recipe.use(folder)
    (folder / "init").unlink()
    with pytest.raises(InputError, match="holds no whole virtual kernel"):
        kernel.find()


@pytest.mark.parametrize(
    "command",
    [("live", "--virtual", "testbed"), ("run", "--set", "flows.a.variant=linux:reno")],
)
def test_a_keeper_of_another_version_is_one_line(
    bentpipe: Bentpipe, scenario: Path, cache: Path, command: tuple[str, ...]
) -> None:
    old = built(cache / "old", "")
    compiles = ["gcc", "-static", "-o", str(old.folder / "keeper"), "-x", "c", "-"]
    subprocess.run(compiles, input="int main(void) { return 1; }", text=True, check=True)
    recipe.record(old.folder, {"release": old.release, "controls": list(old.controls)})
    recipe.use(old.folder)
    result = bentpipe(*command, scenario)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.endswith(f"{old.folder / 'keeper'} is of another version: {kernel.MAKE}\n")
    assert result.stderr.count("\n") == 1


def test_json_says_whose_clock_it_was() -> None:
    from bentpipe.live.virtual.machine import Machine, stated

    assert stated("6.18", None) == {"kernel_release": "6.18", "clock": "real", "kernel_seed": None}
    virtual = Machine(kernel.Kernel(Path(), "6.12.117", ()), seed=3)
    assert stated("6.12.117", virtual)["clock"] == "virtual"
    assert stated("6.12.117", virtual)["kernel_seed"] == 3
