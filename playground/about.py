"""Tell the playground what scenarios may say and where to start, as JSON."""

import json
import tomllib
from itertools import takewhile
from pathlib import Path

from bentpipe import _core
from bentpipe.comparison.measure import limit_names
from bentpipe.orbit.world import land

ROOT = Path(__file__).resolve().parent.parent
SCENARIOS = ROOT / "scenarios"
FIRST = "geo-lossy"
"""The scenario that the page begins with."""


def alone(path: Path) -> str:
    """Give a scenario's text, written out where other files belong to it: the page has only the presets."""
    text = path.read_text("utf-8")
    if str(tomllib.loads(text).get("extends", "preset:")).startswith("preset:") and ".csv" not in text:
        return text
    about = takewhile(lambda line: line.startswith("#"), text.splitlines(keepends=True))
    return "".join(about) + _core.Scenario(str(path), []).toml()


def scenarios() -> list[dict[str, str]]:
    """Give all of `scenarios/`, the first one first, then those that reproduce papers."""
    examples = sorted(SCENARIOS.glob("*.toml"), key=lambda path: (path.stem != FIRST, path.stem))
    documents = [path for path in sorted(ROOT.glob("papers/*/*.toml")) if path.stem != "paper"]
    found = []
    for path in examples + documents:
        text = alone(path)
        # What has no flows is there to be extended.
        if "flows" in (scenario := tomllib.loads(text)):
            of_paper = f"{path.parent.name}/" if path in documents else ""
            found.append({"name": of_paper + path.stem, "title": scenario.get("title", ""), "text": text})
    return found


print(
    json.dumps(
        {
            "presets": {
                path.stem: path.read_text("utf-8") for path in (SCENARIOS / "presets").glob("*.toml")
            },
            "scenarios": scenarios(),
            "variants": [name for name, _ in _core.schemes("variants")],
            "limits": limit_names(),
            "schema": json.loads(_core.schema()),
            "land": [ring.ravel().tolist() for ring in land()],
        }
    )
)
