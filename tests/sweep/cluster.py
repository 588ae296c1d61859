"""A Dask cluster for the tests, in processes of its own: says its address and workers, ends with its input.

The first argument is how many worker processes it has; or ``without``, for a worker that has no bentpipe, and
``other``, for one that has another version.
"""

import importlib
import json
import sys
from typing import Any


def main() -> None:
    """Run until standard input ends."""
    distributed: Any = importlib.import_module("distributed")
    what = sys.argv[1]
    if what == "without":
        sys.modules["bentpipe"] = None  # type: ignore[assignment]
    elif what == "other":
        core: Any = importlib.import_module("bentpipe._core")
        core.version = lambda: "0.0.1"
    workers = int(what) if what.isdigit() else 1
    cluster = distributed.LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=what.isdigit(),
        protocol="tcp://",
        dashboard_address=None,
    )
    with cluster:
        pids = [worker.pid for worker in cluster.workers.values()] if what.isdigit() else []
        print(json.dumps({"address": cluster.scheduler_address, "pids": pids}), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
