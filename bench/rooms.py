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

# The first that matches a function's name has it.
ROOMS = (
    ("calendars", r"bentpipe_net::calendar"),
    ("loop, a link's event", r"Engine::run_until|Engine::call$|Network<.*(poll|link_goes_on)"),
    ("links: queue and ring", r"Network<|bentpipe_path::|bentpipe_net::(store|routes)"),
    ("ends: header prediction", r"engine::hosts"),
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
    """Give the instructions of each function itself, from what callgrind wrote."""
    names: dict[str, str] = {}
    counts: Counter[str] = Counter()
    function, called = "", False
    for line in lines:
        key, _, value = line.partition("=")
        if key in ("fn", "cfn"):
            number, _, name = value.strip().partition(" ")
            if name:
                names[number] = name
            function = names[number] if key == "fn" else function
        elif key == "calls":
            # The next line is what the called function took.
            called = True
        elif line[:1] in "+-*" or line[:1].isdigit():
            parts = line.split()
            if not called and len(parts) > 1:
                counts[function] += int(parts[1])
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
