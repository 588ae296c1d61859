"""Runs in the guest: 250 ms and 1 % loss each way by netem, and by `bentpipe live emulate`; JSON on stdout.

The same programs over both: 400 echoes, and sixteen connections of iperf3 for a minute.
"""

import json
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

BENTPIPE = str(Path(sys.executable).with_name("bentpipe"))
SECONDS = 60
CONNECTIONS = 16
SCENARIO = """\
[links.satellite]
from = "server"
to = "client"
rate = "100 Mbit/s"
delay = "250 ms"
queue = "2000 packets"
loss = { model = "packet", probability = 0.01 }
reverse = { loss = { model = "packet", probability = 0.01 } }
[flows.download]
from = "server"
to = "client"
bytes = "1 MB"
"""
NETEM = "netem delay 250ms loss 1% rate 100mbit limit 10000"
# Without the limit of one, netem loses what offloads have put together as one packet.
NAMESPACES = f"""
ip netns add a
ip netns add b
ip link add left netns a type veth peer name right netns b
ip -n a address add 10.9.0.1/24 dev left
ip -n b address add 10.9.0.2/24 dev right
ip -n a link set left gso_max_segs 1 up
ip -n b link set right gso_max_segs 1 up
tc -n a qdisc add dev left root {NETEM}
tc -n b qdisc add dev right root {NETEM}
"""
_ECHO = re.compile(r"time=([\d.]+) ms")


def over(client: Sequence[str], server: Sequence[str], address: str, control: str) -> dict[str, Any]:
    """Measure from `client`, a command that begins there, to the server at this address."""
    with ExitStack() as stack:
        serving = stack.enter_context(subprocess.Popen([*server, "iperf3", "-s"], stdout=subprocess.DEVNULL))
        stack.callback(serving.terminate)
        time.sleep(5)
        ping = [*client, "/bin/busybox", "ping", "-i", "0.02", address, "-c"]
        # While a veth asks for its neighbour's address, echoes wait.
        subprocess.run([*ping, "100"], capture_output=True, check=False)
        echoes = subprocess.run([*ping, "400"], capture_output=True, text=True, check=False)
        times = sorted(float(found) for found in _ECHO.findall(echoes.stdout))
        command = ["iperf3", "-c", address, "-t", str(SECONDS), "-P", str(CONNECTIONS), "-C", control, "-J"]
        done = subprocess.run([*client, *command], capture_output=True, text=True, check=True)
    end = json.loads(done.stdout)["end"]
    received, sent = end["sum_received"], end["sum_sent"]
    return {
        "goodput_bps": received["bits_per_second"],
        "resent_share": sent["retransmits"] * 1448 / sent["bytes"],
        "echoes": len(times),
        "rtt_p50_ms": times[len(times) // 2],
        "rtt_p99_ms": times[len(times) * 99 // 100],
        "rtt_max_ms": times[-1],
    }


def by_netem(control: str) -> dict[str, Any]:
    """Two namespaces with a veth between them, netem at both of its ends."""
    for line in NAMESPACES.strip().splitlines():
        subprocess.run(line.split(), check=True)
    try:
        return over(["ip", "netns", "exec", "a"], ["ip", "netns", "exec", "b"], "10.9.0.2", control)
    finally:
        for name in ("a", "b"):
            subprocess.run(["ip", "netns", "del", name], check=True)


def by_the_emulator(control: str) -> dict[str, Any]:
    """The same path as a scenario; what the emulator says of itself is added."""
    file = Path("path.toml")
    file.write_text(SCENARIO)
    start = [BENTPIPE, "live", "emulate", str(file), "--json"]
    with subprocess.Popen(start, stdout=subprocess.PIPE, text=True) as emulator:
        shell = [BENTPIPE, "live", "shell", str(file)]
        try:
            while subprocess.run([*shell, "client", "true"], capture_output=True, check=False).returncode:
                if emulator.poll() is not None:
                    sys.exit("the emulator has ended")
                time.sleep(1)
            found = over([*shell, "server"], [*shell, "client"], "10.0.0.2", control)
        finally:
            emulator.terminate()
            told, _ = emulator.communicate(timeout=30)
    return found | {"emulator": json.loads(told)["emulator"]}


if __name__ == "__main__":
    json.dump({"netem": by_netem(sys.argv[1]), "emulator": by_the_emulator(sys.argv[1])}, sys.stdout)
