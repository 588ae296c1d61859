"""Congestion controls written in Python: what their hooks do, and what becomes of their mistakes."""
# ruff: noqa: ARG002

import pickle
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bentpipe as bp
from conftest import LOSSY

SCENARIO = bp.Scenario.from_toml(LOSSY).with_({"tcp.receive_window": "1 MiB"})


class NewReno(bp.Control):
    """RFC 5681 and RFC 6582, written out."""

    name = "own-newreno"

    def slow_start_growth(self, w: bp.Window, ack: bp.Ack) -> float:
        return min(ack.acked, w.smss)

    def congestion_avoidance(self, w: bp.Window, ack: bp.Ack) -> None:
        w.cwnd += w.smss * ack.acked / w.cwnd

    def on_loss(self, w: bp.Window, loss: bp.Loss) -> bool:
        w.cwnd = w.ssthresh = max(loss.flight / 2, 2 * w.smss)
        return True

    def on_partial_ack(self, w: bp.Window, ack: bp.PartialAck) -> None:
        if ack.inflated:
            w.cwnd -= ack.acked
            if ack.acked >= w.smss:
                w.cwnd += w.smss
            w.cwnd = max(w.cwnd, w.smss)

    def on_timeout(self, w: bp.Window, timeout: bp.Timeout) -> None:
        if not timeout.repeated:
            w.ssthresh = max(timeout.flight / 2, 2 * w.smss)
        w.cwnd = w.smss


class Reduces(bp.Control):
    """Leaves another share of the flight at a loss."""

    name = "reduces"

    def __init__(self, to: float = 0.7) -> None:
        if not 0 < to < 1:
            raise ValueError(f"to: expected a share between 0 and 1, found {to}")
        self.to = to

    def on_loss(self, w: bp.Window, loss: bp.Loss) -> bool:
        w.cwnd = w.ssthresh = max(self.to * loss.flight, 2 * w.smss)
        return True


def with_control(control: object, recovery: str = "newreno") -> bp.Scenario:
    return SCENARIO.with_({"flows.download": {"recovery": recovery, "control": control}})


def goodput(scenario: bp.Scenario) -> float:
    found = bp.run(scenario, progress=False).flows["download"]["goodput_bps"]
    assert isinstance(found, float)
    return found


@pytest.mark.parametrize("recovery", ["reno", "newreno", "sack", "rack"])
def test_newreno_written_out_is_ours_point_by_point(recovery: str) -> None:
    ours, own = (
        bp.run(with_control(control, recovery), series=True, progress=False)
        for control in ("standard", NewReno)
    )
    for kind in ("cwnd", "ssthresh", "sent"):
        one, other = (run.series.get("download", kind) for run in (ours, own))
        assert len(one.value) > 5
        assert np.array_equal(one.time_s, other.time_s)
        assert np.array_equal(one.value, other.value)


def test_hooks_that_only_call_the_class_above_change_nothing() -> None:
    called: list[str] = []

    def passing(hook: str) -> Callable[..., Any]:
        def call(self: bp.Control, *given: Any) -> Any:
            called.append(hook)
            return getattr(super(above, self), hook)(*given)

        return call

    hooks = [name for name in dir(bp.Control) if name.startswith("on_")]
    hooks += ["slow_start_growth", "congestion_avoidance", "restart_after_idle"]
    above = type("Above", (bp.Control,), {"name": "above", **{hook: passing(hook) for hook in hooks}})
    red: dict[str, object] = {"scheme": "red", "limit": "60 packets", "min": "2 packets", "max": "9 packets"}
    red |= {"weight": 0.1, "ecn": True}
    marks = {"links.satellite": {"queue": red, "loss": {"probability": 0.002}}, "tcp.ecn": True}
    for scenario in (with_control("standard").with_(marks), with_control("standard")):
        assert goodput(scenario.with_({"flows.download.control": above})) == goodput(scenario)
    assert set(hooks) - {"restart_after_idle"} <= set(called)


def test_options_come_from_the_text_or_with_the_object() -> None:
    text = with_control("standard").toml().replace('control = "standard"', 'control = "reduces"')
    by_name = [
        bp.Scenario.from_toml(f"{text}\n[tcp.reduces]\nto = {to}\n", own=[Reduces]) for to in (0.7, 0.2)
    ]
    by_object = [with_control(Reduces(to)) for to in (0.7, 0.2)]
    by_class = with_control(Reduces)
    found = [goodput(scenario) for scenario in by_name]
    assert found == [goodput(scenario) for scenario in by_object]
    assert goodput(by_class) == found[0] != found[1]


def test_two_objects_of_a_class_have_two_names_and_each_its_own_state() -> None:
    flow = {"from": "server", "to": "client", "bytes": "1 MB", "recovery": "newreno"}
    two = bp.Scenario.from_dict(
        {
            "extends": "preset:geo",
            "flows": {"a": {**flow, "control": Reduces(0.2)}, "b": {**flow, "control": Reduces(0.9)}},
        }
    )
    assert [flow["variant"] for flow in bp.run(two).flows] == ["reduces+newreno", "reduces-2+newreno"]


def test_each_connection_has_an_object_of_its_own() -> None:
    made: list[object] = []

    class Counted(bp.Control):
        name = "counted"

        def __init__(self) -> None:
            made.append(self)

    flow = {"from": "server", "to": "client", "bytes": "20 kB", "count": 3, "control": Counted}
    bp.run(bp.Scenario.from_dict({"extends": "preset:geo", "flows": {"f{i}": flow}}))
    assert len(set(map(id, made))) == 6


def test_a_scenario_with_a_control_is_pickled_with_it() -> None:
    scenario = with_control(Reduces(0.2))
    again = pickle.loads(pickle.dumps(scenario))  # noqa: S301
    assert goodput(again) == goodput(scenario)


def test_a_control_that_paces_is_held_to_its_rate_and_reads_rates() -> None:
    rates: list[float] = []

    class Slow(bp.Control):
        name = "slow"
        paces = reads_rates = True

        def on_handshake(self, w: bp.Window, now_s: float, rtt_s: float) -> None:
            assert 0.5 < rtt_s < now_s + 1e-9
            w.pacing_rate = 25_000

        def on_ack(self, w: bp.Window, ack: bp.Ack) -> None:
            rates.append(ack.delivery_rate or 0)

        def on_loss(self, w: bp.Window, loss: bp.Loss) -> bool:
            return False

    assert 150e3 < goodput(with_control(Slow, "sack")) < 200e3
    # 25,000 B/s of data, as bytes of TCP payload.
    assert 20_000 < np.median(rates) <= 26_000


def test_growth_can_be_left_out() -> None:
    class Still(bp.Control):
        name = "still"

        def on_ack(self, w: bp.Window, ack: bp.Ack) -> bool:
            return False

    clean = with_control(Still).with_({"links.satellite.loss.probability": 0})
    cwnd = bp.run(clean, series=["download:cwnd"]).series.get("download", "cwnd")
    assert set(cwnd.value) == {cwnd.value[0]}


class Breaks(NewReno):
    name = "breaks"

    def on_loss(self, w: bp.Window, loss: bp.Loss) -> bool:
        raise LookupError("no answer to a loss")


@pytest.mark.parametrize("control", [Breaks, Breaks()])
@pytest.mark.parametrize(
    "run", [lambda s: bp.run(s, progress=False), lambda s: bp.replicate(s, 6, progress=False)]
)
def test_what_a_hook_raises_comes_back_with_its_traceback(run: Callable[..., Any], control: object) -> None:
    scenario = with_control(control)
    with pytest.raises(LookupError, match="no answer to a loss") as raised:
        run(scenario)
    assert "in on_loss" in "".join(traceback.format_exception(raised.value))
    # Nothing of it is left for the next run.
    assert goodput(scenario.with_({"flows.download.control": "standard"})) == goodput(
        with_control("standard")
    )


def test_what_a_constructor_raises_ends_the_run() -> None:
    class Unmade(bp.Control):
        name = "unmade"

        def __init__(self) -> None:
            raise LookupError("not today")

    with pytest.raises(LookupError, match="not today"):
        bp.run(with_control(Unmade))


@pytest.mark.parametrize(
    ("assigned", "message"),
    [
        ("cwnd", r"cwnd: expected at least a segment of \d+ bytes, found 1"),
        ("ssthresh", "ssthresh: expected 0 or more bytes, found -1"),
        ("pacing_rate", "pacing_rate: expected bytes a second above 0, found 0"),
        ("send_quantum", "send_quantum: expected 0 or more bytes, found NaN"),
    ],
)
def test_a_window_that_no_sender_can_use_ends_the_run(assigned: str, message: str) -> None:
    bad = {"cwnd": 1.0, "ssthresh": -1.0, "pacing_rate": 0.0, "send_quantum": float("nan")}[assigned]

    class Bad(bp.Control):
        name = "bad"

        def congestion_avoidance(self, w: bp.Window, ack: bp.Ack) -> None:
            setattr(w, assigned, bad)

    with pytest.raises(ValueError, match=message):
        bp.run(with_control(Bad))


def test_a_loss_needs_an_answer() -> None:
    class Silent(bp.Control):
        name = "silent"

        def on_loss(self, w: bp.Window, loss: bp.Loss) -> None:  # type: ignore[override]
            pass

    expected = "on_loss: expected True where the window was reduced or else False, found NoneType"
    with pytest.raises(TypeError, match=expected):
        bp.run(with_control(Silent))


def test_a_hook_that_nobody_would_call_is_refused_where_the_class_is_made() -> None:
    with pytest.raises(TypeError, match=r"Lost\.on_lost: expected one of the hooks on_ack, "):
        type("Lost", (bp.Control,), {"name": "lost", "on_lost": lambda _: None})


@pytest.mark.parametrize(
    ("load", "message"),
    [
        (
            lambda: with_control(type("A", (bp.Control,), {"name": "cubic"})),
            'own: expected a control of a name of its own, found "cubic", which is taken',
        ),
        (
            lambda: with_control(type("A", (bp.Control,), {"name": "Big"})),
            "own: expected the name of a control in at most 40 small letters",
        ),
        (
            lambda: with_control(type("Anonymous", (bp.Control,), {})),
            'own: Anonymous: expected a name, as in name = "mine", found none',
        ),
        (
            lambda: bp.Scenario.from_toml(LOSSY, own=[int]),  # type: ignore[list-item]
            "objects of bentpipe.Control, LossModel, Queue or Application, found <class 'int'>",
        ),
        (
            lambda: bp.Scenario.from_toml(LOSSY, own=NewReno),  # type: ignore[arg-type]
            "own: expected several classes of bentpipe.Control",
        ),
        (
            lambda: bp.Scenario.from_toml(LOSSY + "[tcp.reduces]\nfrom = 0.2\n", own=[Reduces]),
            'tcp.reduces.from: expected one of the known keys (to), found "from"',
        ),
        (
            lambda: bp.Scenario.from_toml(LOSSY + "[tcp.reduces]\nto = 2\n", own=[Reduces]),
            "expected other options: ValueError: to: expected a share between 0 and 1, found 2",
        ),
        (lambda: SCENARIO.with_({"flows.download.control": "reduces"}), "expected a control"),
    ],
)
def test_what_cannot_be_used_is_one_line(load: Callable[[], object], message: str) -> None:
    with pytest.raises(bp.InputError) as raised:
        load()
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)
