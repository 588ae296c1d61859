"""Tell the playground what scenarios may say and where to start, as JSON."""

import json
import tomllib
from pathlib import Path

from bentpipe import _core
from bentpipe.comparison.measure import limit_names

SCENARIOS = Path(__file__).resolve().parent.parent / "scenarios"
FIRST = "geo-lossy"
"""The scenario that the page begins with."""


def scenarios() -> list[dict[str, str]]:
    """Give those that need no file but the presets; the page has no other."""
    found = []
    for path in sorted(SCENARIOS.glob("*.toml"), key=lambda path: (path.stem != FIRST, path.stem)):
        text = path.read_text("utf-8")
        scenario = tomllib.loads(text)
        if str(scenario.get("extends", "preset:")).startswith("preset:") and ".csv" not in text:
            found.append({"name": path.stem, "title": scenario.get("title", ""), "text": text})
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
        }
    )
)
