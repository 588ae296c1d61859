"""Runs in the guest: transfers through every loss model, their rows as JSON on standard output."""

import json
import sys
from itertools import product

from cases import DIRECTIONS, LOSS_MODELS, faults, through_every_loss_model, transfer

from bentpipe import _core
from bentpipe.live.install import CONTROLS, install, remove, status
from bentpipe.live.interop import Transfer, interop

OUR_ENDS = ("newreno", "sack", "rack")
# The guest's processor is emulated: it carries some 25 Mbit/s of them together.
AT_A_TIME = 12


def ours_against_the_kernel(**also: object) -> dict[str, Transfer]:
    """Our end and the kernel's, data and acknowledgments lost by each model."""
    return {
        f"{recovery}, {name}, {direction}": transfer(
            {"forward": {"loss": loss}, "backward": {"loss": loss}, **also},
            recovery=recovery,
            direction=direction,
        )
        for recovery, direction, (name, loss) in product(OUR_ENDS, DIRECTIONS, LOSS_MODELS.items())
    }


def main() -> None:
    """Run what the argument names: `controls` for ours as BPF programs, `kernel` for all else."""
    if sys.argv[1] == "controls":
        install(CONTROLS)
        cases = through_every_loss_model(CONTROLS, bytes="10 MB")
    else:
        cases = through_every_loss_model(_core.kernel_controls(), bytes="1 MB")
        cases |= ours_against_the_kernel(bytes="1 MB")
    result = interop(list(cases.values()), threads=AT_A_TIME)
    for name, row in zip(cases, result["rows"], strict=True):
        row |= {"name": name, "faults": faults(row)}
    result["installed"] = [control.name for control in remove([])]
    result["left"] = [control.name for control in status()]
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main()
