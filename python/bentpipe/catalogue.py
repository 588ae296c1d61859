"""What scenarios can name, each with one line that says what it is."""

from typing import NamedTuple

from bentpipe import _core, papers


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
        case "applications":
            pairs = _core.applications()
        case "presets":
            pairs = _core.presets()
        case "profiles":
            pairs = _core.profiles()
        case "queues":
            pairs = [
                (
                    "drop-tail",
                    'drops what arrives when it is full; written "100 packets" or "64 KiB", without a scheme',
                ),
                ("red", "random early detection: drops or marks by the average queue (Floyd, Jacobson 1993)"),
                ("rem", "random exponential marking: drops or marks by a price (Athuraliya et al. 2001)"),
            ]
        case "gateways":
            pairs = [
                ("xfwa", "windows in proportion to the round-trip times that together fill pipe and buffer"),
                ("ewa", "one window for all, from the logarithm of the free buffer"),
                ("wintrac", "one window for all, tracked towards a queue length"),
            ]
        case "papers":
            pairs = [(paper.name, f"{paper.title} ({paper.citation})") for paper in papers.all_papers()]
        case _:
            raise ValueError(what)
    return [Entry(name, summary) for name, summary in pairs]
