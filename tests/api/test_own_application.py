"""Applications written in Python: twins of ours with the same numbers, and what becomes of their mistakes."""

import pickle
from collections.abc import Callable

import pytest

import bentpipe as bp

TEXT = """\
extends = "preset:geo"
seed = 5
links.satellite.loss = { model = "packet", probability = 0.01 }
[flows.download]
from = "server"
to = "client"
variant = "sack"
"""


class Bulk(bp.Application):
    """Our `ftp`."""

    name = "bulk"
    ends = True

    def __init__(self, size: int = 1_000_000) -> None:
        self.size = size

    def on_start(self, connection: bp.Connection) -> None:
        connection.send(self.size)
        connection.close()


class Questions(bp.Application):
    """Our `transactions`, with exponential times to think of the run's own numbers."""

    name = "questions"
    opened_by = "receiver"
    no_delay = True
    ends = True

    def __init__(self, response: int = 20_000, transactions: int = 10, think_s: float = 0.5) -> None:
        self.response, self.think_s, self.left = response, think_s, transactions
        self.request, self.asked, self.missing = 350, 0, 0

    def on_start(self, connection: bp.Connection) -> None:
        self.on_time(connection)

    def on_time(self, connection: bp.Connection) -> None:
        connection.begin(self.response)
        connection.request(self.request)
        self.missing = self.response

    def on_request(self, connection: bp.Connection, bytes: int) -> None:  # noqa: A002
        self.asked += bytes
        if self.asked >= self.request:
            self.asked -= self.request
            connection.send(self.response)

    def on_data(self, connection: bp.Connection, bytes: int) -> None:  # noqa: A002
        self.missing -= bytes
        if self.missing:
            return
        connection.end()
        self.left -= 1
        if self.left:
            connection.call_in(self.think_s)
        else:
            connection.close()


class Poisson(bp.Application):
    """Reports at random times for ten seconds."""

    name = "poisson"

    def on_start(self, connection: bp.Connection) -> None:
        connection.send(200)
        connection.call_in(connection.random.exponential())

    def on_time(self, connection: bp.Connection) -> None:
        self.on_start(connection)


def with_app(app: object, duration: str = "100 s", **options: object) -> bp.Scenario:
    base = bp.Scenario.from_toml(TEXT + 'bytes = "1 B"\n').to_dict()
    flow = {key: value for key, value in base["flows"]["download"].items() if key != "bytes"}
    end = {"duration": duration} if duration else {}
    return bp.Scenario.from_dict(base | end | {"flows": {"download": flow | {"app": app, **options}}})


def numbers(scenario: bp.Scenario) -> object:
    run = bp.run(scenario, progress=False).run
    return [run[rows] for rows in ("flows", "links", "transactions")]


@pytest.mark.parametrize(
    ("own", "ours"),
    [
        ({"app": Bulk(1_000_000)}, {"app": "ftp", "bytes": "1 MB"}),
        (
            {"app": Questions},
            {"app": "transactions", "response": "20 kB", "think": "500 ms", "transactions": 10},
        ),
    ],
)
def test_the_same_numbers_as_the_twin_in_rust(own: dict[str, object], ours: dict[str, object]) -> None:
    found, expected = ([*numbers(with_app(**app))] for app in (own, ours))  # type: ignore[arg-type, misc]
    for row in (*found[0], *expected[0]):
        # Only a flow whose size is known before has reached nine tenths of it.
        row.pop("bytes_90_s", None)
    assert found == expected


def test_random_numbers_are_the_seed_s() -> None:
    scenario = with_app(Poisson, "10 s")
    assert numbers(scenario) == numbers(scenario)
    assert numbers(scenario) != numbers(scenario.with_({"seed": 6}))


def test_options_are_keys_of_the_flow() -> None:
    text = TEXT + 'app = "bulk"\nsize = 5000\n'
    named = bp.Scenario.from_toml(text, own=[Bulk])
    assert bp.run(named, progress=False).flows["download"]["bytes_delivered"] == 5000
    assert numbers(pickle.loads(pickle.dumps(named))) == numbers(named)  # noqa: S301


class Raises(bp.Application):
    """Fails at the first byte."""

    name = "raises"
    ends = True

    def on_start(self, connection: bp.Connection) -> None:
        connection.send(1000)

    def on_data(self, connection: bp.Connection, bytes: int) -> None:  # noqa: A002
        connection.call_in(-bytes)


def test_what_it_raises_ends_the_run_with_its_traceback() -> None:
    with pytest.raises(ValueError, match="delay_s: expected 0 to 9000000 seconds, found -1000") as raised:
        bp.run(with_app(Raises), progress=False)
    assert raised.traceback[-1].name == "on_data"


class Clashes(Bulk):
    """An option that every flow has."""

    name = "clashes"

    def __init__(self, count: int = 1) -> None:
        super().__init__(count)


@pytest.mark.parametrize(
    ("load", "message"),
    [
        (
            lambda: with_app(type("A", (Bulk,), {"name": "http"})),
            'own: expected an application of a name of its own, found "http", which is taken',
        ),
        (
            lambda: with_app(Poisson, ""),
            'flows.download: nothing ends the run: it needs a duration, as "poisson" has no end',
        ),
        (lambda: with_app(Clashes), "flows.download.count: is a key of every flow, and an option of"),
        (
            lambda: with_app(type("B", (Bulk,), {"name": "b", "opened_by": "me"})),
            'expected "sender" or "receiver" as opened_by, found another',
        ),
        (
            lambda: bp.Scenario.from_toml(TEXT + 'app = "bulk"\nsise = 5\n', own=[Bulk]),
            'flows.download.sise: expected one of the known keys, found "sise"; did you mean "size"?',
        ),
        (
            lambda: bp.Scenario.from_toml(TEXT + 'app = "bulks"\n', own=[Bulk]),
            'did you mean "bulk"?',
        ),
    ],
)
def test_what_cannot_be_used_is_one_line(load: Callable[[], object], message: str) -> None:
    with pytest.raises(bp.InputError) as raised:
        load()
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)
