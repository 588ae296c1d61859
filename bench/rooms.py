"""Where the instructions of bentpipe go, by room: counts of functions, with all that is inlined in them.

`bench/run.py --rooms` prints them for a data segment of each scenario.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from simulators import Bentpipe, Scenario, spawn

# The loop has most of the others inlined: there the file of a line says the room.
LOOP = "Engine::run_until"
# The first that matches a function's name, or the loop's and a file, has it.
ROOMS = (
    ("calendars", r"net::calendar|net/src/calendar"),
    ("links: queue and ring", rf"{LOOP} .*/crates/(net|path)/|Network<|go_ahead|bentpipe_(path|net)::"),
    ("ends: header prediction", rf"{LOOP} .*/(crates/tcp/|hosts.rs|end.rs|apps/|packet.rs)|engine::hosts"),
    ("loop", rf"{LOOP}|Engine::call$"),
    ("controls, slow start", r"bentpipe_tcp::(control|slow_start)"),
    ("recovery, record, scoreboard", r"bentpipe_tcp::(recovery|runs|sender::(record|acks|sack|settle))"),
    ("senders, the rest", r"bentpipe_tcp::(sender|rtt)"),
    ("receivers, segments", r"bentpipe_tcp::"),
    ("satellites", r"bentpipe_(sky|drive)"),
    ("reading, building, results", r"bentpipe_|toml|serde|hash|fmt|alloc::str|_dl_|^do_lookup|strto|scanf"),
    ("memory", r"malloc|free|realloc|calloc|mem(cpy|set|move|cmp)|alloc"),
)
REST = "the rest"


def functions(lines: Iterable[str]) -> Counter[str]:
    """Give the instructions of each function itself, from what callgrind wrote; of the loop by files."""
    names: dict[tuple[str, str], str] = {}
    counts: Counter[str] = Counter()
    function, file, called = "", "", False
    for line in lines:
        key, _, value = line.partition("=")
        if key in ("fn", "cfn", "fl", "fi", "fe", "cfi", "cfl"):
            number, _, name = value.strip().partition(" ")
            kind = key.removeprefix("c")[:2] == "fn"
            known = names.setdefault((str(kind), number), name)
            if key == "fn":
                function = known
            elif key in ("fl", "fi", "fe") and "/crates/" in known:
                # What is inlined of the standard library belongs to where it is called.
                file = known
        elif key == "calls":
            # The next line is what the called function took.
            called = True
        elif line[:1] in "+-*" or line[:1].isdigit():
            parts = line.split()
            if not called and len(parts) > 1:
                counts[f"{function} {file}" if LOOP in function else function] += int(parts[1])
            called = False
    return counts


def by_room(counts: Mapping[str, int]) -> dict[str, int]:
    """Give the instructions of each room."""
    rooms = dict.fromkeys([*(room for room, _ in ROOMS), REST], 0)
    for function, count in counts.items():
        rooms[next((room for room, pattern in ROOMS if re.search(pattern, function)), REST)] += count
    return rooms


def profile(scenario: Scenario) -> dict[str, float]:
    """Give the instructions of each room for a data segment of a scenario, at its short length."""
    with tempfile.TemporaryDirectory() as directory:
        out = Path(directory) / "callgrind"
        callgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}"]
        run = spawn([*callgrind, *Bentpipe().command(scenario, scenario.checked)])
        with out.open() as lines:
            rooms = by_room(functions(lines))
    segments = int(run.result["data_segments"])
    return {room: count / segments for room, count in rooms.items()}


def print_rooms(scenarios: Sequence[Scenario]) -> None:
    """Print a table, as Markdown has them: rooms down, scenarios across."""
    found = [profile(scenario) for scenario in scenarios]
    print("\n| instructions a data segment | " + " | ".join(one.name for one in scenarios) + " |")
    print("| --- |" + " ---: |" * len(found))
    for room in found[0]:
        print(f"| {room} | " + " | ".join(f"{one[room]:.0f}" for one in found) + " |")
    print("| all | " + " | ".join(f"{sum(one.values()):.0f}" for one in found) + " |")
