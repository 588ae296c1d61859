"""What the Rust side raises of a live run, as the command line's errors."""

from collections.abc import Iterator
from contextlib import contextmanager

from bentpipe._core import LiveFailed, LiveMissing
from bentpipe.errors import BentpipeError, InputError


@contextmanager
def errors_of(of: str, *, settings: bool = False) -> Iterator[None]:
    """Raise what fails within as an error of the command `of`.

    What is said of a value is told as it stands, and of one of the `settings`, whose name it begins with, as
    said of the option of that name.

    Raises InputError: a value cannot be used, or the machine or the user lacks something.
    Raises BentpipeError: it began and failed.
    """
    try:
        yield
    except LiveMissing as error:
        raise InputError(f"{of}: {error}") from error
    except LiveFailed as error:
        raise BentpipeError(f"{of}: {error}") from error
    except InputError:
        raise
    except ValueError as error:
        name, colon, rest = str(error).partition(":")
        option = f"--{name.replace('_', '-')}" if settings else name
        raise InputError(f"{option}{colon}{rest}") from error
