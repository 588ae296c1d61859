"""What the native module makes of scenarios, as JSON for compare.test.mjs: text, results and time of each."""

import json
import sys
import time
from pathlib import Path

from bentpipe import _core

ROOT = Path(__file__).parent.parent.parent

# All kinds of links, gateways and applications, and every function of floating-point numbers.
CASES: list[tuple[str, dict[str, str]]] = [
    ("scenarios/demo.toml", {}),
    ("scenarios/first.toml", {}),
    ("scenarios/geo-lossy.toml", {}),
    ("scenarios/leo-handover.toml", {}),
    ("scenarios/multimedia.toml", {}),
    ("scenarios/pages.toml", {}),
    ("scenarios/short-flows.toml", {}),
    ("scenarios/video.toml", {}),
    ("scenarios/two-flows.toml", {}),
    ("tests/wasm/lossy.toml", {}),
    ("tests/wasm/lossy.toml", {"flows.download.variant": "afc", "links.satellite.loss.ber": "1e-5"}),
    ("papers/adalr/pages-congestion.toml", {}),
    ("papers/afc/point-to-point.toml", {}),
    ("papers/xfwa/groups.toml", {}),
    ("papers/xfwa/handover.toml", {}),
    ("papers/xfwa/web.toml", {}),
    ("bench/scenarios/dumbbell-1000.toml", {"duration": "1 s"}),
    ("bench/scenarios/geo.toml", {}),
]


def native(path: str, settings: dict[str, str]) -> dict[str, object]:
    scenario = _core.Scenario(str(ROOT / path), list(settings.items()))
    began = time.perf_counter()
    result = scenario.simulate().json()
    name = " ".join([path, *(f"{key}={value}" for key, value in settings.items())])
    return {"name": name, "text": scenario.toml(), "json": result, "seconds": time.perf_counter() - began}


if __name__ == "__main__":
    json.dump([native(path, settings) for path, settings in CASES], sys.stdout)
