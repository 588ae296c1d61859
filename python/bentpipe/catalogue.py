"""What scenarios can name, each with one line that says what it is."""

from typing import NamedTuple

from bentpipe import _core


class Entry(NamedTuple):
    """One thing that can be named."""

    name: str
    summary: str


def entries(what: str) -> list[Entry]:
    """List the things of one kind, such as ``variants`` or ``presets``."""
    pairs = _core.presets() if what == "presets" else _core.schemes(what)
    if what == "queues":
        summary = 'drops what arrives when it is full; written "100 packets" or "64 KiB", without a scheme'
        pairs = [("drop-tail", summary), *pairs]
    return [Entry(name, summary) for name, summary in pairs]
