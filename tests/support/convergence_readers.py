"""A reader that holds one generation while later runs publish."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from freshcrawl.reader import index_of
from freshcrawl.state import open_for_reading
from tests.support.in_process import NAME

if TYPE_CHECKING:
    from freshcrawl.config import Config

PROBES = 3


class Reader:
    """Reads a generation at once, and the same again whenever it is asked to check."""

    def __init__(self, config: Config) -> None:
        self._state = open_for_reading(config, NAME)
        self._snapshot = self._state.corpus.snapshot()
        self._index = index_of(self._state, self._snapshot)
        vectors = [vector.copy() for _, vector in self._snapshot.vectors()]
        self._probes = vectors[:: max(1, len(vectors) // PROBES)][:PROBES]
        self._first = self._read()

    def check(self) -> None:
        """Read again.

        Raises:
            AssertionError: something is not what it was.
        """
        assert self._read() == self._first, "a reader sees another thing than when it began"

    def _read(self) -> tuple[Any, ...]:
        snapshot = self._snapshot
        return (
            snapshot.generation,
            snapshot.info(),
            [page.to_json() for page in snapshot.pages()],
            [chunk.to_json() for chunk in snapshot.chunks()],
            [(number, vector.tobytes()) for number, vector in snapshot.vectors()],
            [self._index.search(probe, 5) for probe in self._probes],
        )

    def close(self) -> None:
        """Let the generation go."""
        self._snapshot.close()
        self._state.close()
