"""What is called in a virtual kernel: a testbed's run whose packets are captured."""

from collections.abc import Iterator

from bentpipe import Scenario
from bentpipe.live.testbed import Compared, over_kernels


def capture(scenario: Scenario, file: str) -> Iterator[Compared]:
    """Carry the flows of a scenario over this kernel, and write what its hosts send and receive to a file."""
    yield from over_kernels(scenario, virtual_clock=True, pcap=file)
