"""Run a scenario of the benchmark over Linux's own TCP, and print what every simulator prints."""

import json
import resource
import sys

from bentpipe import Scenario, run
from bentpipe.results import mean

CONTROLS = {"geo": "reno", "geo-cubic": "cubic", "geo-linux": "reno", "geo-bbr1": "bbr"}


def main() -> None:
    """Run it: a file, a scenario's name, settings."""
    file, name, *settings = sys.argv[1:]
    set_ = dict(setting.split("=", 1) for setting in settings)
    control = {"flows.*.variant": f"linux:{CONTROLS[name]}"}
    result = run(Scenario.load(file, {**set_, "tcp.profile": "linux", **control}), progress=False)
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    numbers = {
        "data_segments": sum(mean(flow["data_segments_sent"]) or 0 for flow in result.flows),
        "retransmissions": sum(mean(flow["retransmitted_segments"]) or 0 for flow in result.flows),
        "bytes_delivered": sum(mean(flow["bytes_delivered"]) or 0 for flow in result.flows),
        "peak_bytes": peak * 1024,
    }
    print(json.dumps(numbers))


if __name__ == "__main__":
    main()
