"""A scenario from six answers, with comments that say what may be changed."""

from typing import NamedTuple

from bentpipe import _core
from bentpipe.checks import toml
from bentpipe.command_line.values import checked, number
from bentpipe.errors import InputError
from bentpipe.scenario import Scenario


class Question(NamedTuple):
    """One of the six: its option, what is asked, and the answer that is usual."""

    name: str
    text: str
    usual: str


QUESTIONS = (
    Question("rate", "Rate of the link towards the client", "10 Mbit/s"),
    Question("delay", "Delay one way, half of what ping shows on an idle link", "250 ms"),
    Question("loss", "Share of packets that are lost at random", "0.0001"),
    Question("buffer", "What may wait before the link", "400 packets"),
    Question("window", "Largest receive window", "2 MiB"),
    Question("variant", "Variant of TCP (bentpipe list variants)", "cubic"),
)

_KINDS = {"rate": "rate", "delay": "time", "buffer": "queue", "window": "size"}

_TEXT = """\
# Written by bentpipe new. `bentpipe run {file}` runs it; `bentpipe explain KEY` says what a key means.
title = {title}

[links.satellite]
from = "server"
to = "client"
rate = "{rate}"
delay = "{delay}"          # one way
queue = "{buffer}"         # drop-tail; or {{ scheme = "codel", limit = "{buffer}" }}
loss = {{ model = "packet", probability = {loss} }}   # or "ber", "gilbert-elliott", "drop"
reverse = {{ queue = "unlimited" }}   # the way back: else as the way there; rate = "1 Mbit/s" changes it

[tcp]
receive_window = "{window}"   # goodput is at most window / round trip; profile = "linux" has today's defaults

[flows.download]
from = "server"
to = "client"
variant = "{variant}"        # bentpipe compare {file} --variants newreno,cubic,bbr3 runs several
bytes = "10 MB"              # without it: duration = "60 s" above the first table
"""


def read_answer(name: str, text: str) -> str:
    """Read an answer.

    Raises ValueError: it is none; the text says what was expected.
    """
    text = text.strip()
    if name == "loss":
        if not 0 <= number(text) <= 1:
            raise ValueError(f"expected a share from 0 to 1, such as 1e-4, found {text!r}")
        return text
    if name == "variant":
        known = [variant for variant, _ in _core.schemes("variants")]
        if text not in known:
            raise ValueError(f"expected one of {', '.join(known)}, found {text!r}")
        return text
    return checked(_KINDS[name], text)


def scenario_text(file: str, title: str, answers: dict[str, str]) -> str:
    """Give the text of the scenario that these answers describe.

    Raises InputError: together they are none.
    """
    text = _TEXT.format(file=file, title=toml("title", title), **answers)
    try:
        Scenario.from_toml(text)
    except InputError as error:
        raise InputError(f"{file}: {error}") from error
    return text
