"""A Dask cluster that runs the batches of a sweep."""

import logging
import pickle
import re
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from importlib import import_module
from typing import Any

from bentpipe.errors import InputError, RunError, reason
from bentpipe.sweeps.design import Design
from bentpipe.sweeps.sources import modules
from bentpipe.sweeps.work import Base, Done, Job, simulate, who

_WAIT_S = 10
_ADDRESS = re.compile(r"(?:(?:tcp|tls|ws|wss)://)?[^/\s]+:\d{1,5}")


class Cluster:
    """The workers of the scheduler at an address such as ``tcp://10.0.0.1:8786``.

    Raises InputError: there is no scheduler or no worker, one has another bentpipe, or the library is not
    installed.
    """

    batch_s = 1.0

    def __init__(self, design: Design, address: str) -> None:
        if not _ADDRESS.fullmatch(address):
            raise InputError(
                f"--on: expected the address of a Dask scheduler, as tcp://10.0.0.1:8786, found {address!r}"
            )
        try:
            distributed = import_module("distributed")
        except ImportError as error:
            raise InputError(
                "--on: expected the package distributed, found none: pip install 'bentpipe[dask]'"
            ) from error
        # It tells of workers that come and go; what matters here is said in a line.
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        self._work = _work(design.base)
        self._killed: type[BaseException] = distributed.KilledWorker
        self._client: Any = distributed.Client.__new__(distributed.Client)
        try:
            self._client.__init__(address, timeout=_WAIT_S, set_as_default=False)
        # What answers in another protocol is taken for the length of a message, and no memory is so large.
        except (OSError, ValueError, TypeError, ImportError, MemoryError) as error:
            # A client that never was connected waits for its end when it is collected, and complains.
            self._client.status = "closed"
            raise InputError(
                f"--on {address}: expected a Dask scheduler, found none ({reason(error)})"
            ) from error
        try:
            self._require_workers(address)
        except BaseException:
            self._client.close()
            raise
        self._executor = self._client.get_executor(pure=False)

    def _require_workers(self, address: str) -> None:
        try:
            self._client.wait_for_workers(1, timeout=_WAIT_S)
        except TimeoutError as error:
            raise InputError(
                f"--on {address}: expected a worker within {_WAIT_S} s, found none: dask worker {address}"
            ) from error
        engine, version = who()
        for worker, found in self._client.run(who, on_error="return").items():
            if isinstance(found, BaseException):
                raise InputError(
                    f"--on {address}: expected bentpipe {version} on every worker, found none on {worker} "
                    f"({reason(found)})"
                )
            if tuple(found) != (engine, version):
                raise InputError(
                    f"--on {address}: expected bentpipe {version} with engine {engine} on every worker, "
                    f"found {found[1]} with {found[0]} on {worker}"
                )

    def at_once(self) -> int:
        """Give the number of threads that all workers have now."""
        # A scheduler that has gone away tells nothing; its futures say so.
        workers = self._client.scheduler_info(n_workers=-1).get("workers", {}).values()
        return max(1, sum(int(worker["nthreads"]) for worker in workers))

    def submit(self, jobs: Sequence[Job]) -> Future[Done]:
        """Begin a batch on a worker; when that dies, on another one."""
        future: Future[Done] = self._executor.submit(*self._work, list(jobs))
        return future

    def lost(self, error: BaseException) -> str | None:
        """Say that every worker died that a batch was given to, if so it was."""
        return "every worker that ran it died" if isinstance(error, self._killed) else None

    def stop(self) -> None:
        """Take back what was not begun, and leave the cluster to others."""
        self._executor.shutdown(wait=False)
        self._client.close()


def _work(base: Base) -> tuple[Callable[..., Done], Base | bytes]:
    """Give what a worker calls, and with what: schemes in Python take their classes along."""
    if not base.own:
        return simulate, base
    cloudpickle = import_module("cloudpickle")
    # A class is sent whole: the workers need not have the module that it is in.
    own = [sys.modules[name] for name in modules(base.own) if name != "__main__"]
    for module in own:
        cloudpickle.register_pickle_by_value(module)
    try:
        return _simulate_packed, cloudpickle.dumps(base)
    except Exception as error:
        wanted = "expected classes that can be sent to other machines"
        raise InputError(f"--on: {wanted}, found one that cannot ({reason(error)})") from error
    finally:
        for module in own:
            cloudpickle.unregister_pickle_by_value(module)


def _simulate_packed(base: bytes, jobs: Sequence[Job]) -> Done:
    try:
        # It comes from who gives out the work.
        unpacked = pickle.loads(base)  # noqa: S301
    except Exception as error:
        raise RunError(f"--on: a worker cannot use the classes in Python ({reason(error)})") from error
    return simulate(unpacked, jobs)
