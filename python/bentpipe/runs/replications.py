"""The numbers of each replication, which are read when somebody asks for them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

from bentpipe._core import RunResult
from bentpipe.results import Run, parse


@dataclass(frozen=True)
class _Told:
    """A run as its JSON, which can be pickled."""

    text: str

    def json(self) -> str:
        """Give the JSON."""
        return self.text


class Runs(Sequence[Run]):
    """Runs in the order of their seeds."""

    def __init__(self, results: "Sequence[RunResult | _Told]" = ()) -> None:
        self._results = tuple(results)

    @overload
    def __getitem__(self, which: int) -> Run: ...
    @overload
    def __getitem__(self, which: slice) -> "Runs": ...
    def __getitem__(self, which: int | slice) -> "Run | Runs":
        if isinstance(which, slice):
            return Runs(self._results[which])
        return parse(self._results[which].json())

    def __len__(self) -> int:
        return len(self._results)

    def __reduce__(self) -> tuple[type["Runs"], tuple[tuple["_Told", ...]]]:
        return Runs, (tuple(_Told(result.json()) for result in self._results),)

    def __repr__(self) -> str:
        return f"<{len(self):,} runs>"
