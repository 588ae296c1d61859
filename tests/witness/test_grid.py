"""Profile linux beside what Linux in simulated time made of the cells of docs/witness/linux.md."""

import grid
import kernels
import pytest

KEPT = kernels.Kept(grid.KEPT)


@pytest.mark.parametrize("cell", grid.CELLS, ids=lambda cell: cell.case.key.replace(" ", "-"))
def test_a_cell_without_random_losses_is_alike(cell: grid.Cell) -> None:
    ((kernel,),) = KEPT.of(cell.case).values()
    if cell.loss:
        # Two samples after the first packet that only one of them sends.
        return
    ours = kernels.simulated(cell.case)
    assert abs(grid.deviation(kernel, ours)) <= grid.CLOSE
    assert kernel["timeouts"] == ours["timeouts"] == 0
    # Segments lost at the queue, when slow start ends and each time that the window is full again.
    assert ours["resent"] == pytest.approx(kernel["resent"], rel=0.1, abs=8)
