"""What a result says of where it came from, so that it can be had again from itself."""

import hashlib
import json
from typing import TYPE_CHECKING, Any, cast

from bentpipe import _core
from bentpipe.recorded import digest
from bentpipe.results import Run, Settings
from bentpipe.runs.statistics import replication_seed

if TYPE_CHECKING:
    from bentpipe.runs.runner import Plan

MAXIMUM_SEEDS = 1000
"""Seeds of replications that a result lists; the others follow from the first by `replication_seed`."""


def identity(scenario: _core.Scenario, plan: "Plan") -> str:
    """Give the name that all files of a run bear: one for the same scenario, seed, plan and version."""
    text = scenario.toml(scenario.seed if plan.seed is None else plan.seed)
    parts = json.dumps([_core.version(), text, plan.runs, plan.precision])
    return hashlib.blake2b(parts.encode(), digest_size=16).hexdigest()


def stated(run: Run, scenario: _core.Scenario, plan: "Plan") -> Run:
    """Give `run` with what it takes to have it again: version, settings, seeds, the scenario as a text."""
    text = scenario.toml(run["seed"])
    settings: Settings = {
        "set": [f"{key}={value}" for key, value in scenario.settings],
        "seed": plan.seed,
        "runs": plan.runs,
        "precision": plan.precision,
    }
    measured = dict(run)
    head: dict[str, Any] = {key: measured.pop(key) for key in ("scenario", "seed", "runs") if key in run}
    if "runs" in run:
        seeds = range(min(run["runs"], MAXIMUM_SEEDS))
        head["seeds"] = [replication_seed(run["seed"], number) for number in seeds]
    head |= {
        "identity": identity(scenario, plan),
        "bentpipe": _core.version(),
        "engine_version": _core.engine_version(),
        "scenario_file": scenario.file,
        "settings": settings,
    }
    tail = {"scenario_sha256": digest(text), "scenario_toml": text}
    return cast(Run, {**head, **measured, **tail})
