"""One module for each generator whose pages are scored; see `benchmarks.corpus`."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from benchmarks.corpus import Page


class Corpus(Protocol):
    """What a module of this package has."""

    __name__: str
    FAMILY: str
    UNSEEN: bool
    pages: Callable[[Path], list[Page]]


def corpora() -> Iterator[Corpus]:
    """Yield the modules of this package in the order of their names."""
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda found: found.name):
        if not module.name.startswith("_"):
            yield cast("Corpus", import_module(f"{__name__}.{module.name}"))
