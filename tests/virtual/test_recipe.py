"""``make virtual-kernel`` without a compiler: what names a build, and what is said to be missing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import virtual_kernel as recipe
from bentpipe.errors import BentpipeError, InputError
from bentpipe.live.virtual import kernel
from conftest import ROOT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a virtual kernel needs Linux")

FILES = ("Makefile", "arch/um/Kconfig", "net/ipv4/tcp.c", "drivers/gpu/Kconfig")
NOT_READ = ("drivers/gpu/drm/a.c", "arch/arm/kernel/a.S", ".git/HEAD", "Documentation/devicetree/a.yaml")

_ENTROPY = """
import ctypes
buffer = ctypes.create_string_buffer(16)
for _ in range(2):
    ctypes.CDLL(None).getrandom(buffer, 16, 0)
    print(buffer.raw.hex())
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "linux-9.9"
    for name in (*FILES, *NOT_READ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    return folder


def test_a_build_reads_what_an_um_kernel_is_made_of(tree: Path, tmp_path: Path) -> None:
    assert set(recipe.files_of(tree)) == set(FILES)
    archive = tmp_path / "linux.tar.xz"
    subprocess.run(["tar", "cJf", archive, "-C", tmp_path, tree.name], check=True)
    (tmp_path / "to").mkdir()
    recipe.unpack(archive, tmp_path / "to", tmp_path / "log")
    found = {
        str(path.relative_to(tmp_path / "to")) for path in (tmp_path / "to").rglob("*") if path.is_file()
    }
    assert found == set(FILES)


def test_a_build_is_named_by_source_configuration_and_patches(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [recipe.digest_of(tree)]
    (tree / NOT_READ[0]).write_text("another driver")
    assert recipe.digest_of(tree) == names[0]
    (tree / "net/ipv4/tcp.c").write_text("another TCP")
    names.append(recipe.digest_of(tree))
    for file in ("CONFIG", "PATCH", "RINGS"):
        changed = tmp_path / file
        changed.write_bytes(getattr(recipe, file).read_bytes() + b"\n")
        monkeypatch.setattr(recipe, file, changed)
        names.append(recipe.digest_of(tree))
    assert len(set(names)) == 5


def test_a_source_that_is_none_is_one_line(tree: Path, tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match="SOURCE: expected a source tree of Linux or a tar file of one, found no"
    ):
        recipe.require(tmp_path / "nowhere")
    with pytest.raises(InputError, match="SOURCE: expected a source tree of Linux, found none in"):
        recipe.require(tree / "net")
    (tree / ".config").write_text("")
    with pytest.raises(InputError, match=r"was built in: expected a clean tree \(make mrproper\)"):
        recipe.require(tree)


def test_programs_that_are_missing_are_named_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recipe, "DEFAULT", tmp_path / "linux-source.tar.xz")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError) as raised:
        recipe.require(recipe.DEFAULT)
    assert str(raised.value) == (
        f"missing: {', '.join(recipe.NEEDED)}, {recipe.DEFAULT} (scripts/debian-packages virtual-kernel)"
    )


def test_a_step_that_fails_tells_its_first_cause_and_keeps_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    kernel.cache().mkdir(parents=True)
    command: list[str | Path] = ["sh", "-c", "echo one; echo 'a.c:3: error: no such thing'; echo two; exit 1"]
    with pytest.raises(BentpipeError) as raised:
        recipe.step("compiling", command, tmp_path / "log")
    kept = kernel.cache() / "build.log"
    assert str(raised.value) == f"compiling failed: a.c:3: error: no such thing (all of it: {kept})"
    assert kept.read_text().endswith("two\n")


def test_the_command_says_it_in_one_line(tmp_path: Path) -> None:
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "virtual_kernel", "--source", str(tmp_path / "nowhere")]
    result = subprocess.run(
        command, cwd=ROOT / "scripts", env=environment, capture_output=True, text=True, check=False
    )
    assert result.returncode != 0
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("make virtual-kernel: ")
    assert list(tmp_path.iterdir()) == []


def test_the_programs_of_a_kernel_compile(tmp_path: Path) -> None:
    recipe.compile_programs(tmp_path, tmp_path / "log")
    assert {path.name for path in tmp_path.iterdir()} == {"init", "endpoint", "keeper", "entropy.so", "log"}
    first, again, other = (
        subprocess.run(
            [sys.executable, "-c", _ENTROPY],
            env={"LD_PRELOAD": str(tmp_path / "entropy.so"), "SEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "1", "2")
    )
    assert first == again != other


def test_what_is_the_kernels_has_its_licence() -> None:
    folder = ROOT / "virtual-kernel" / "linux"
    assert "GNU GENERAL PUBLIC LICENSE\n                       Version 2" in (folder / "COPYING").read_text()
    assert all("GPL-2.0" in patch.read_text() for patch in (recipe.PATCH, recipe.RINGS))
