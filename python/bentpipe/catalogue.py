"""What scenarios can name, each with one line that says what it is."""

from typing import NamedTuple

from bentpipe import _core


class Entry(NamedTuple):
    """One thing that can be named."""

    name: str
    summary: str
    parts: tuple[str, str, str] = ("", "", "")
    """Of a variant: its control, its recovery, and what it is beside that recovery."""


def entries(what: str) -> list[Entry]:
    """List the things of one kind, such as ``variants`` or ``presets``."""
    pairs = _core.presets() if what == "presets" else _core.schemes(what)
    if what == "queues":
        summary = 'drops what arrives when it is full; written "100 packets" or "64 KiB", without a scheme'
        pairs = [("drop-tail", summary), *pairs]
    found = [Entry(name, summary) for name, summary in pairs]
    return list(map(_with_parts, found)) if what == "variants" else found


def _with_parts(variant: Entry) -> Entry:
    """Take its summary apart: that of a control, if it is not the standard one, and that of a recovery."""
    controls = {summary: name for name, summary in _core.schemes("controls")}
    for recovery, summary in _core.schemes("recoveries"):
        if variant.summary.endswith(summary):
            own = variant.summary.removesuffix(summary).removesuffix("; ")
            return variant._replace(parts=(controls.get(own, "standard"), recovery, own or summary))
    return variant
