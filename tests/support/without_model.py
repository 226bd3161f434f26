"""Scrapy's command line on a machine without torch, tokenizers and the like.

``python -m tests.support.without_model crawl docs ...``
"""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from typing import TYPE_CHECKING, NoReturn

from scrapy.cmdline import execute

if TYPE_CHECKING:
    from collections.abc import Sequence

ABSENT = frozenset(
    ("torch", "tokenizers", "transformers", "sentence_transformers", "huggingface_hub", "sklearn")
)


class Absent(MetaPathFinder):
    """Finds nothing of what is not there, and keeps others from finding it."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: object = None) -> None:
        """Refuse what is absent.

        Raises:
            ModuleNotFoundError: it is.
        """
        if fullname.partition(".")[0] in ABSENT:
            self._refuse(fullname)

    @staticmethod
    def _refuse(name: str) -> NoReturn:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)


if __name__ == "__main__":
    sys.meta_path.insert(0, Absent())
    sys.argv[0] = "scrapy"
    execute()
