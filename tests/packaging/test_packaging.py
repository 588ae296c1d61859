"""There is one version, workflows call what exists, and a source distribution holds what a build reads."""

import os
import re
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

import bentpipe
from bentpipe import _core
from conftest import ROOT

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def cargo() -> dict[str, Any]:
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    return dict(manifest["workspace"]["package"])


def test_there_is_one_version() -> None:
    assert bentpipe.__version__ == _core.version() == cargo()["version"]
    for manifest in ROOT.glob("crates/*/Cargo.toml"):
        package = tomllib.loads(manifest.read_text(encoding="utf-8"))["package"]
        assert package["version"] == {"workspace": True}, manifest
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "version" in project["dynamic"]
    papers = tomllib.loads((ROOT / "papers/pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert papers["version"] == cargo()["version"]
    assert papers["dependencies"] == [f"bentpipe=={cargo()['version']}"]


def test_the_changelog_begins_with_what_is_not_released_or_with_this_version() -> None:
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    first = re.search(r"^## (\S+)", changes, re.MULTILINE)
    assert first is not None
    assert first[1] in {"Unreleased", cargo()["version"]}


def targets() -> set[str]:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_calls_what_exists(workflow: Path) -> None:
    jobs = yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"]
    steps = [step for job in jobs.values() for step in job["steps"]]
    commands = "\n".join(step.get("run", "") for step in steps)
    called = re.findall(r"(?:^|&& )make ([a-z-]+)", commands, re.MULTILINE)
    assert set(called) <= targets()
    assert all((ROOT / script).is_file() for script in re.findall(r"\bscripts/[\w-]+", commands))
    assert all(need in jobs for job in jobs.values() for need in job.get("needs", []))
    # What comes from elsewhere has a version of its own.
    assert all(re.search(r"@(v\d|release/v\d)", step["uses"]) for step in steps if "uses" in step)


def test_tests_wheels_and_documentation_have_a_workflow_each() -> None:
    called = {
        name.stem: re.findall(r"make ([a-z-]+)", name.read_text(encoding="utf-8")) for name in WORKFLOWS
    }
    assert "test" in called["test"]
    assert "wheel" in called["wheels"]
    assert "docs" in called["docs"]


def test_the_source_distribution_holds_what_the_crates_read(tmp_path: Path) -> None:
    maturin = Path(sys.executable).with_name("maturin")
    environment = {**os.environ, "CARGO_NET_OFFLINE": "true"}
    command = [str(maturin), "sdist", "--out", str(tmp_path)]
    made = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as files:
        held = {name.partition("/")[2] for name in files.getnames()}
    read = re.compile(r'include_str!\("([^"]+)"\)')
    for source in ROOT.glob("crates/*/src/**/*.rs"):
        for name in read.findall(source.read_text(encoding="utf-8")):
            path = os.path.relpath((source.parent / name).resolve(), ROOT)
            assert path in held, f"{source} reads {path}"
    presets = {f"scenarios/presets/{path.name}" for path in (ROOT / "scenarios/presets").glob("*.toml")}
    assert presets
    assert presets | {"python/bentpipe/templates/report.html.j2", "LICENSE-MIT"} <= held
    others = ("target/", ".venv/", "papers/", "python/bentpipe_papers")
    assert not [name for name in held if name.endswith(".so") or name.startswith(others)]
