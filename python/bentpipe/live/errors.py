"""What the Rust side raises of a live run, as the command line's errors."""

from collections.abc import Iterator
from contextlib import contextmanager

from bentpipe._core import LiveFailed, LiveMissing
from bentpipe.errors import BentpipeError, InputError


@contextmanager
def errors_of(of: str) -> Iterator[None]:
    """Raise what fails within as an error of the command `of`.

    Raises
    ------
    InputError
        The machine or the user lacks something.
    BentpipeError
        It began and failed.
    """
    try:
        yield
    except LiveMissing as error:
        raise InputError(f"{of}: {error}") from error
    except LiveFailed as error:
        raise BentpipeError(f"{of}: {error}") from error
