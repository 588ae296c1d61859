"""What scenarios can name, each with one line that says what it is."""

from typing import NamedTuple

from bentpipe import _core


class Entry(NamedTuple):
    """One thing that can be named."""

    name: str
    summary: str


def entries(what: str) -> list[Entry]:
    """List the things of one kind, such as ``variants`` or ``presets``."""
    match what:
        case "variants":
            pairs = _core.variants()
        case "recoveries":
            pairs = _core.recoveries()
        case "controls":
            pairs = _core.controls()
        case "starts":
            pairs = _core.starts()
        case "applications":
            pairs = _core.applications()
        case "presets":
            pairs = _core.presets()
        case "profiles":
            pairs = _core.profiles()
        case "queues":
            summary = (
                'drops what arrives when it is full; written "100 packets" or "64 KiB", without a scheme'
            )
            pairs = [("drop-tail", summary), *_core.queues()]
        case "gateways":
            pairs = _core.gateways()
        case _:
            raise ValueError(what)
    return [Entry(name, summary) for name, summary in pairs]
