"""``bentpipe live --virtual diff``: the first segment that differs, and its verdict."""

import json
import sys
from pathlib import Path

import pytest

from bentpipe import Scenario
from bentpipe.errors import InputError
from bentpipe.live.difference import Side, first_difference, sides_of
from bentpipe.live.virtual import kernel
from conftest import Bentpipe

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a virtual kernel needs Linux")

TEXT = """\
[tcp]
profile = "linux"
[links.path]
from = "server"
to = "client"
rate = "5 Mbit/s"
delay = "100 ms"
loss = { model = "drop", packets = [40], at_least = "100 B" }
[flows.file]
from = "server"
to = "client"
start = "250 us"
bytes = "120 kB"
control = "standard"
"""


def side(**settings: object) -> Side:
    named = {key.replace("__", "."): value for key, value in settings.items()}
    return Side.of(Scenario.from_toml(TEXT).with_(named))


def test_a_run_is_the_same_as_itself() -> None:
    assert first_difference(["file"], side(), side()) is None


def test_the_packet_behind_another_loss_is_the_first_that_differs() -> None:
    found = first_difference(
        ["file"], side(), side(links__path__loss='{ model = "drop", packets = [41], at_least = "100 B" }')
    )
    assert found is not None
    one, other = found.pairs[-1]
    assert (found.flow, found.sent) == ("file", False)
    assert one is not None
    assert other is not None
    # The 41st packet has the handshake's ACK before it, which is shorter than 100 B.
    assert one.ack == other.ack - 1448
    assert all(before == after for before, after in found.pairs[:-1])
    kernel_state, our_state = found.states
    assert kernel_state["cwnd"]
    assert our_state["cwnd"]
    told = found.to_dict()
    assert (told["direction"], told["number"]) == ("received", found.number)
    assert told["segments"][-1]["kernel"]["ack"] == one.ack


def test_a_run_that_ends_earlier_differs_at_its_end() -> None:
    shorter = side(flows__file__bytes="110 kB")
    found = first_difference(["file"], side(), shorter)
    assert found is not None
    assert found.sent
    assert found.pairs[-1][0] is not None
    longer = first_difference(["file"], shorter, side())
    assert longer is not None
    assert longer.number == found.number


def test_each_side_has_the_control_that_the_flow_names() -> None:
    scenario = Scenario.from_toml(TEXT).with_({"flows.file.control": "hybla"})
    theirs, ours = sides_of(scenario, "6.12.7")[:2]
    assert theirs.flows.file.variant == "linux-6.12.7:hybla"
    assert (ours.flows.file.control, ours.tcp.hybla.reading) == ("hybla", "linux")
    assert ours.flows.file.tcp.receive_buffer.kernel == "6.12"
    assert "6.12" not in sides_of(scenario, "6.18.1")[1].toml()


def test_without_a_control_of_ours_one_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bentpipe.live.difference.find", lambda _: kernel.Kernel(Path(), "6.12.7", ()))
    scenario = Scenario.from_toml(TEXT).with_({"flows.file.variant": "linux:mine"})
    with pytest.raises(
        InputError, match=r"flows.file: expected a control that the simulator has too, found 'mine'"
    ):
        sides_of(scenario, "6.12.7")


def test_it_needs_the_virtual_kernel(bentpipe: Bentpipe, tmp_path: Path) -> None:
    (tmp_path / "net.toml").write_text(TEXT)
    result = bentpipe("live", "diff", "net.toml")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("bentpipe: live diff: expected --virtual before it")
    assert "make virtual-kernel" in bentpipe("live", "--virtual", "diff", "net.toml").stderr


@pytest.mark.skipif(kernel.why_none() is not None, reason=kernel.why_none() or "")
def test_linux_and_our_tcp_are_alike_and_then_not(bentpipe: Bentpipe, tmp_path: Path) -> None:
    (tmp_path / "net.toml").write_text(TEXT)
    cache = str(kernel.cache().parent.parent)
    call = ("live", "--virtual", "diff", "net.toml")
    alike = bentpipe(*call, env={"XDG_CACHE_HOME": cache})
    assert alike.returncode == 0, alike.stdout + alike.stderr
    assert "segments at the sender are those of Linux" in alike.stdout
    # The simulator's receiver delays no ACK.
    other = bentpipe(*call, "--set", "tcp.delayed_ack=false", "--json", env={"XDG_CACHE_HOME": cache})
    told = json.loads(other.stdout)
    assert other.returncode == 1
    assert told["kernel_release"] == kernel.find().release
    assert told["difference"]["direction"] == "received"
    # Behind the quick ACKs of the start.
    assert told["difference"]["states"]["kernel"]["cwnd"] > 14480
    table = bentpipe(*call, "--set", "tcp.delayed_ack=false", env={"XDG_CACHE_HOME": cache})
    assert "received differs" in table.stdout
    assert table.returncode == 1
