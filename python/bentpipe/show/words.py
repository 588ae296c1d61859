"""Keys of scenarios and names of numbers in words, for axes."""

from bentpipe.show.units import UNITS

_ALIKE = {
    ("loss", "probability"): "random loss on {}",
    ("loss", "ber"): "bit errors on {}",
    ("rate",): "rate of {}",
    ("delay",): "delay of {}",
    ("queue",): "queue before {}",
    ("reverse", "rate"): "rate of {}, way back",
    ("reverse", "delay"): "delay of {}, way back",
    ("reverse", "queue"): "queue of {}, way back",
}
"""Keys of a link, for whose name there is a place."""


def key_words(key: str) -> str:
    """Give a key in words: ``links.satellite.loss.probability`` is random loss on satellite."""
    first, *rest = (part.strip("\"'") for part in key.split("."))
    if first not in ("links", "flows") or len(rest) < 2:
        return " ".join([*rest, *([] if first in ("tcp", "links", "flows") and rest else [first])]).replace(
            "_", " "
        )
    name, *own = rest
    if first == "links" and tuple(own) in _ALIKE:
        return _ALIKE[tuple(own)].format("every link" if name == "*" else name)
    words = " ".join(part for part in own if part != "tcp").replace("_", " ")
    return words if name == "*" else f"{words} of {name}"


def number_words(name: str) -> str:
    """Give the name of a measured number without its unit."""
    for ending in UNITS:
        name = name.removesuffix(ending)
    return name.replace("_", " ")
