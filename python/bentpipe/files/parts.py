"""Hidden folders in which results grow beside their destination.

Its writer holds a lock on each as long as it lives, so that what a killed one left behind is told from what
is being written.
"""

import fcntl
import os
import re
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from bentpipe.files.folder import restore

_NAME = re.compile(r"\.bentpipe-[a-z0-9_]{8}\.part")


class Part:
    """A hidden folder in `folder`, made after what dead writers left there was swept.

    Raises OSError: it cannot be made.
    """

    def __init__(self, folder: Path) -> None:
        sweep(folder)
        while True:
            path = Path(tempfile.mkdtemp(prefix=".bentpipe-", suffix=".part", dir=folder))
            # Until it is locked, another run may sweep it.
            with suppress(FileNotFoundError):
                handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
                if _lock(handle) is not False and path.exists():
                    break
                os.close(handle)
        self.path = path
        self._handle = handle

    def remove(self) -> None:
        """Remove it with all that is still in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._handle)


def sweep(folder: Path) -> None:
    """Remove the parts in `folder` whose writer is gone; nothing else, and nobody else's."""
    try:
        found = [path for path in folder.iterdir() if _NAME.fullmatch(path.name)]
    except OSError:
        return
    for path in found:
        with suppress(OSError):
            handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                if os.fstat(handle).st_uid == os.geteuid() and _lock(handle):
                    restore(path)
                    shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(handle)


def _lock(handle: int) -> bool | None:
    """Tell whether the lock is ours now; `None` where the file system has no locks."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True
