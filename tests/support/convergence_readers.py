"""A reader that holds one generation while later runs publish."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

from freshcrawl.reader import index_of
from freshcrawl.state import open_for_reading
from tests.support.in_process import NAME

if TYPE_CHECKING:
    from freshcrawl.config import Config
    from freshcrawl.stores.base import Snapshot

PROBES = 3


class Reader:
    """Reads a generation at once, and the same again whenever it is asked to check.

    ``back``: how many kept generations before the current one it reads, if there are so many.
    """

    def __init__(self, config: Config, back: int = 0) -> None:
        self._state = open_for_reading(config, NAME)
        kept = self._kept()
        self._snapshot = self._state.corpus.snapshot(kept[max(0, len(kept) - 1 - back)])
        self._index = index_of(self._state, self._snapshot)
        vectors = [vector.copy() for _, vector in self._snapshot.vectors()]
        self._probes = vectors[:: max(1, len(vectors) // PROBES)][:PROBES]
        self._rows = rows_of(self._snapshot)
        self._found = self._search()

    def check(self) -> None:
        """Read again, also as one who begins now: as long as the generation is kept, both can.

        Raises:
            AssertionError: something is not what it was.
        """
        seen = (rows_of(self._snapshot), self._search())
        assert seen == (self._rows, self._found), "a reader sees another thing than when it began"
        if self._snapshot.generation in self._kept():
            with closing(self._state.corpus.snapshot(self._snapshot.generation)) as anew:
                assert rows_of(anew) == self._rows, (
                    "rows of a generation that a reader holds are lost"
                )

    def _kept(self) -> list[int]:
        with closing(self._state.corpus.snapshot()) as current:
            return current.generations()

    def _search(self) -> list[Any]:
        return [self._index.search(probe, 5) for probe in self._probes]

    def close(self) -> None:
        """Let the generation go."""
        self._snapshot.close()
        self._state.close()


def rows_of(snapshot: Snapshot) -> tuple[Any, ...]:
    """Return all that a generation has."""
    return (
        snapshot.generation,
        snapshot.info(),
        [page.to_json() for page in snapshot.pages()],
        [chunk.to_json() for chunk in snapshot.chunks()],
        [(number, vector.tobytes()) for number, vector in snapshot.vectors()],
    )
