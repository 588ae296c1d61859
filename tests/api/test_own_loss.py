"""Loss models written in Python: the same stream as ours, and what becomes of their mistakes."""

import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

import bentpipe as bp
from conftest import LOSSY

SCENARIO = bp.Scenario.from_toml(LOSSY).with_({"tcp.receive_window": "1 MiB"})


class Independent(bp.LossModel):
    """Our model `packet`."""

    name = "independent"

    def __init__(self, probability: float = 0.01) -> None:
        if not 0 <= probability <= 1:
            raise ValueError(f"probability: expected a number from 0 to 1, found {probability}")
        self.probability = probability

    def lost(self, packet: bp.SentPacket, random: bp.Random) -> bool:  # noqa: ARG002
        return random.uniform() < self.probability


class Eclipse(bp.LossModel):
    """Loses what is sent in one second, and the third packet."""

    name = "eclipse"

    def lost(self, packet: bp.SentPacket, random: bp.Random) -> bool:  # noqa: ARG002
        assert packet.bytes >= 40
        return 3 <= packet.time_s < 4 or packet.number == 3


class Forgets(bp.LossModel):
    """Gives nothing."""

    name = "forgets"

    def lost(self, packet: bp.SentPacket, random: bp.Random) -> bool:  # type: ignore[empty-body]
        pass


def with_loss(loss: object) -> bp.Scenario:
    return SCENARIO.with_({"links.satellite.loss": loss})


def numbers(scenario: bp.Scenario, seed: int = 3) -> object:
    run = bp.run(scenario, seed=seed, progress=False).run
    return [run[rows] for rows in ("flows", "links")]


def test_the_same_numbers_as_the_twin_in_rust() -> None:
    ours = with_loss({"model": "packet", "probability": 0.01})
    for seed in (1, 2):
        assert numbers(with_loss(Independent(0.01)), seed) == numbers(ours, seed)
    assert numbers(with_loss(Independent(0.02))) != numbers(ours)


def test_a_schedule_goes_from_one_model_to_another() -> None:
    after = {"model": "packet", "probability": 0.02}
    own, ours = (
        {"links.satellite.loss": first, "links.satellite.schedule": [{"at": "2 s", "loss": second}]}
        for first, second in (
            (Independent(0.01), after),
            ({"model": "packet", "probability": 0.01}, after),
        )
    )
    assert numbers(SCENARIO.with_(own)) == numbers(SCENARIO.with_(ours))


def test_a_model_knows_time_and_number() -> None:
    run = bp.run(with_loss(Eclipse), progress=False)
    assert run.links["satellite"]["corrupted_packets"] not in (0, 1)
    assert run.flows["download"]["retransmitted_segments"] not in (0, 1)


def test_options_come_from_the_text_or_with_the_object() -> None:
    named = bp.Scenario.from_toml(SCENARIO.toml(), own=[Independent]).with_(
        {"links.satellite.loss": {"model": "independent", "probability": 0.03}}
    )
    assert numbers(named) == numbers(with_loss(Independent(0.03)))
    again = pickle.loads(pickle.dumps(named))  # noqa: S301
    assert numbers(again) == numbers(named)
    assert numbers(bp.Scenario.from_toml(named.toml(), own=[Independent])) == numbers(named)


def test_threads_compare_and_sweep_run_it(tmp_path: Path) -> None:
    table = bp.compare(with_loss(Independent(0.02)), ["newreno", "sack"], runs=2, progress=False)
    assert {variant.name for variant in table.variants} == {"newreno", "sack"}
    sweep = bp.sweep(
        SCENARIO,
        {"links.satellite.loss": [Independent, Independent(0.03)]},
        runs=2,
        out=tmp_path / "sweep",
        progress=False,
    )
    one, other = (group.numbers[0] for group in sweep.groups(["links.satellite.loss"], ["goodput_bps"]))
    assert one != other


@pytest.mark.parametrize(
    ("load", "message"),
    [
        (
            lambda: with_loss(type("A", (bp.LossModel,), {"name": "packet", "lost": Eclipse.lost})),
            'own: expected a loss model of a name of its own, found "packet", which is taken',
        ),
        (
            lambda: with_loss(type("B", (bp.LossModel,), {"name": "b"})),
            "B: expected a method lost, found none",
        ),
        (lambda: with_loss(Independent(2)), "expected a number from 0 to 1, found 2"),
        (
            lambda: bp.Scenario.from_toml(SCENARIO.toml(), own=[Independent]).with_(
                {"links.satellite.loss": {"model": "independent", "chance": 0.5}}
            ),
            'links.satellite.loss.chance: expected one of the known keys (probability), found "chance"',
        ),
        (
            lambda: bp.Scenario.from_toml(SCENARIO.toml(), own=[Independent]).with_(
                {"links.satellite.loss": {"model": "independant"}}
            ),
            "independent",
        ),
    ],
)
def test_what_cannot_be_used_is_one_line(load: Callable[[], object], message: str) -> None:
    with pytest.raises((bp.InputError, ValueError)) as raised:
        load()
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_what_it_raises_ends_the_run_with_its_traceback() -> None:
    class Raises(bp.LossModel):
        name = "raises"

        def lost(self, packet: bp.SentPacket, random: bp.Random) -> bool:  # noqa: ARG002
            raise ZeroDivisionError(f"at packet {packet.number}")

    with pytest.raises(ZeroDivisionError, match="at packet 1") as raised:
        bp.run(with_loss(Raises), progress=False)
    assert raised.traceback[-1].name == "lost"
    with pytest.raises(TypeError, match="lost: expected True or False, found None"):
        bp.run(with_loss(Forgets), progress=False)
