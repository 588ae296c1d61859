"""What every scenario in scenarios/ and bench/ gives at its seed.

As a program it records what runs.json lacks; with ``--anew``, everything.

A change that moves a digest says in its commit which number moved, and why.
"""

import hashlib
import json
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
TOTALS = ("bytes_delivered", "retransmitted_segments", "timeouts", "datagrams_lost")

Keys = dict[str, list[str]]


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


def summary(run: dict[str, Any], capture: str | None, keys: Keys) -> dict[str, Any]:
    """Give a few numbers of a run to read, and the digest of all that stand under `keys`."""
    counted = {part: [{key: row.get(key) for key in keys[part]} for row in run[part]] for part in SECTIONS}
    if run["relays"]:
        counted["relays"] = [{key: row.get(key) for key in keys["relays"]} for row in run["relays"]]
    if run["videos"]:
        counted["videos"] = run["videos"]
    if run["transactions"]:
        counted["transactions"] = run["transactions"]
    totals = {key: sum(flow[key] for flow in run["flows"]) for key in TOTALS}
    numbers = _digest(json.dumps([run["duration_s"], counted]).encode())
    return {"duration_s": run["duration_s"], **totals, "numbers": numbers, "capture": capture}


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def record(*, anew: bool) -> None:
    """Record what is not recorded yet; with `anew`, everything, and every key that there is by now."""
    old: Any = (
        {"keys": {part: [] for part in KEYED}, "runs": {}} if anew else json.loads(RECORDED.read_text())
    )
    keys: Keys = old["keys"]
    runs = {name_of(path): run_of(path) for path in FILES if name_of(path) not in old["runs"]}
    if anew:
        # A key that comes later changes no digest until the runs are recorded again.
        for run, _ in runs.values():
            for part in KEYED:
                keys[part] = sorted({*keys[part], *(key for row in run[part] for key in row)})
    found = {name: summary(run, capture, keys) for name, (run, capture) in runs.items()}
    runs_by_name = dict(sorted({**old["runs"], **found}.items()))
    RECORDED.write_text(json.dumps({"keys": keys, "runs": runs_by_name}, indent=1) + "\n")


if __name__ == "__main__":
    record(anew="--anew" in sys.argv[1:])
