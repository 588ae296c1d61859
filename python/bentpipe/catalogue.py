"""What scenarios can name, each with one line that says what it is."""

from itertools import repeat
from typing import NamedTuple

from bentpipe import _core


class Entry(NamedTuple):
    """One thing that can be named."""

    name: str
    summary: str
    parts: tuple[str, ...] = ()
    """Of a variant: its control, its recovery, its slow start, and what it is beside that recovery."""


def entries(what: str) -> list[Entry]:
    """List the things of one kind, such as ``variants`` or ``presets``."""
    pairs = _core.presets() if what == "presets" else _core.schemes(what)
    if what == "queues":
        summary = 'drops what arrives when it is full; written "100 packets" or "64 KiB", without a scheme'
        pairs = [("drop-tail", summary), *pairs]
    parts = map(tuple, _core.parts_of_variants()) if what == "variants" else repeat(())
    return [Entry(name, summary, of) for (name, summary), of in zip(pairs, parts, strict=False)]
