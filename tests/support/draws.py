"""Random moments at which a run is to be killed."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DRAWS = 8


def moments(seed: int, first: float, last: float, folder: Path) -> Iterator[tuple[float, Path]]:
    """Yield seconds from ``first`` to ``last``, each with an empty folder for one try at it.

    Take the next one if the run had ended before its moment: nothing was killed then.

    Raises:
        AssertionError: all tries are used up.
    """
    dice = random.Random(seed)
    for number in range(DRAWS):
        place = folder / f"try-{number}"
        place.mkdir()
        yield dice.uniform(first, last), place
    raise AssertionError(f"each of {DRAWS} runs had ended before it was to be killed")
