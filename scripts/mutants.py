"""Take out each rule of scripts/mutants.toml in a copy of the tree: the tests that it names must fail.

Arguments are parts of the rules' words; without any, all are tried. Each takes a build of crates/tcp.
"""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COPY = ROOT / "target" / "mutants"
PARTS = ("Cargo.toml", "Cargo.lock", "crates", "scenarios", "bpf")


def fails(test: str) -> bool | None:
    """Tell whether the test of that name fails; nothing if there is none, or if it cannot be built."""
    inside = any(f"fn {test}(" in path.read_text() for path in (COPY / "crates/tcp/src").rglob("*.rs"))
    command = ["cargo", "test", "-p", "bentpipe-tcp", *(["--lib"] if inside else ["--test", "tcp"])]
    environment = {
        **os.environ,
        "CARGO_TARGET_DIR": str(ROOT / "target" / "mutants-built"),
        "CARGO_PROFILE_TEST_OPT_LEVEL": "0",
    }
    ran = subprocess.run(
        [*command, "--", test], cwd=COPY, env=environment, capture_output=True, text=True, check=False
    )
    return None if f"{test} ... " not in ran.stdout else ran.returncode != 0


def main() -> None:
    """Try the mutants, and name those that no test noticed."""
    listed = tomllib.loads((ROOT / "scripts" / "mutants.toml").read_text())["mutant"]
    wanted = [one for one in listed if all(word in one["rule"] for word in sys.argv[1:])]
    if not wanted:
        sys.exit(f"no rule of scripts/mutants.toml has the words {' '.join(sys.argv[1:])!r}")
    shutil.rmtree(COPY, ignore_errors=True)
    COPY.mkdir(parents=True)
    for part in PARTS:
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
        copy(ROOT / part, COPY / part)
    bad = []
    for mutant in wanted:
        path = COPY / mutant["file"]
        text = path.read_text()
        if text.count(mutant["from"]) != 1:
            times = text.count(mutant["from"])
            bad.append(f"{mutant['rule']}: its text stands {times} times in {mutant['file']}")
            continue
        path.write_text(text.replace(mutant["from"], mutant["to"]))
        noticed = fails(mutant["test"])
        path.write_text(text)
        words = {True: "noticed", False: "NOT NOTICED", None: "DOES NOT BUILD, or no such test"}[noticed]
        print(f"{mutant['rule']}: {words}", flush=True)
        if not noticed:
            bad.append(f"{mutant['rule']}: {words} by {mutant['test']}")
    if bad:
        sys.exit("\n".join(bad))


if __name__ == "__main__":
    main()
