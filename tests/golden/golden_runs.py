"""What every scenario in scenarios/ and bench/ gives at its seed.

As a program it records what runs.json lacks; with ``--anew``, everything, and says what moved.

A change that moves a number says in its commit which, and why.
"""

import hashlib
import json
import math
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from conftest import PROGRAM, ROOT, SCENARIOS

RECORDED = Path(__file__).with_name("runs.json")
FILES = sorted([*SCENARIOS.glob("*.toml"), *(ROOT / "bench" / "scenarios").glob("*.toml")])
SECTIONS = ("flows", "links", "gateways", "handovers", "pages")
KEYED = (*SECTIONS, "relays")

Keys = dict[str, list[str]]
Summary = dict[str, Any]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def run_of(path: Path) -> tuple[dict[str, Any], str | None]:
    """Run a scenario; its JSON, and the digest of its capture (the benchmarks' would take gigabytes)."""
    with TemporaryDirectory() as folder:
        capture = Path(folder) / "packets.pcapng" if path.parent == SCENARIOS else None
        command = [str(PROGRAM), "run", str(path), "--json"]
        command += ["--pcap", str(capture)] if capture else []
        printed = subprocess.run(command, capture_output=True, check=True).stdout
        return json.loads(printed), _digest(capture.read_bytes()) if capture else None


def summary(run: dict[str, Any], capture: str | None, keys: Keys) -> Summary:
    """Give the digest of all numbers under `keys`, and to read, their sums over rows where not 0."""
    counted = {part: [{key: row.get(key) for key in keys[part]} for row in run[part]] for part in SECTIONS}
    if run["relays"]:
        counted["relays"] = [{key: row.get(key) for key in keys["relays"]} for row in run["relays"]]
    if run["videos"]:
        counted["videos"] = run["videos"]
    if run["transactions"]:
        counted["transactions"] = run["transactions"]
    numbers = _digest(json.dumps([run["duration_s"], counted]).encode())
    sums = {
        f"{part}.{key}": total
        for part, rows in counted.items()
        for key in keys.get(part) or (rows[0] if rows else ())
        if (total := math.fsum(row[key] for row in rows if isinstance(row[key], int | float)))
    }
    return {"duration_s": run["duration_s"], "numbers": numbers, "capture": capture, **sums}


def moved(then: Summary, now: Summary) -> str:
    """Write what differs between two summaries of a run as a table, what moved farthest first."""
    pairs = {name: (then.get(name, 0), now.get(name, 0)) for name in {**then, **now}}
    rows = [(_change(old, new), name, old, new) for name, (old, new) in pairs.items() if old != new]
    return "\n".join(
        f"{name:36} {str(old)[:18]:>18} {str(new)[:18]:>18} {change:+9.3%}"
        for change, name, old, new in sorted(rows, key=lambda row: -abs(row[0]))
    )


def _change(old: Any, new: Any) -> float:
    """Give the relative change, infinite for what has none."""
    numbers = isinstance(old, int | float) and isinstance(new, int | float) and old != 0
    return (new - old) / abs(old) if numbers else math.inf


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def record(*, anew: bool) -> None:
    """Record what is not recorded yet; with `anew`, everything, and every key that there is by now."""
    recorded: Any = json.loads(RECORDED.read_text())
    old: Any = {"keys": {part: [] for part in KEYED}, "runs": {}} if anew else recorded
    keys: Keys = old["keys"]
    runs = {name_of(path): run_of(path) for path in FILES if name_of(path) not in old["runs"]}
    if anew:
        # A key that comes later changes no digest until the runs are recorded again.
        for run, _ in runs.values():
            for part in KEYED:
                keys[part] = sorted({*keys[part], *(key for row in run[part] for key in row)})
    found = {name: summary(run, capture, keys) for name, (run, capture) in runs.items()}
    for name, now in found.items():
        if (then := recorded["runs"].get(name)) and then != now:
            print(f"{name}\n{moved(then, now)}\n")
    runs_by_name = dict(sorted({**old["runs"], **found}.items()))
    RECORDED.write_text(json.dumps({"keys": keys, "runs": runs_by_name}, indent=1) + "\n")


if __name__ == "__main__":
    record(anew="--anew" in sys.argv[1:])
