"""Where the tokens of a text are: by a model's own tokenizer, or estimated. No torch."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any

from freshcrawl.stores.base import StoreError

if TYPE_CHECKING:
    from pathlib import Path

TOKENIZER = "tokenizer.json"
_ESTIMATED = re.compile(r"[A-Z][a-z]{1,3}|[A-Z]{1,2}|[a-z]{1,4}|[0-9]{1,3}|\S")


def estimated_offsets(text: str) -> list[tuple[int, int]]:
    """Return the character spans of what may be tokens, where the tokenizer is not known.

    A span is up to four letters, two capitals or three digits, and each other character that
    is no space by itself, so that there are rather too many. Compared with MiniLM's tokenizer
    on the passages of English documentations that are cut by this estimate, at 256 tokens:
    of SQLAlchemy 2.0.44 and Mako 1.3.10 (21,464 passages) 99.4 % have no more tokens than
    estimated, the others, mostly short ones of rare names, up to 22 % more, and all together
    21 % fewer; three are too long for 256 tokens, the longest by 13.
    """
    return [found.span() for found in _ESTIMATED.finditer(text)]


class Tokenizer:
    """A model's own tokenizer, loaded when first used; any thread may call it.

    ``setting`` names what said where its file, ``path``, is.

    Raises:
        StoreError: the file is missing.
    """

    def __init__(self, path: Path, setting: str) -> None:
        if not path.is_file():
            raise StoreError(f"{path}: missing; {setting} needs a fast tokenizer")
        self._path, self._setting = path, setting

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Return the character span of each token of ``text``, no special tokens.

        Raises:
            StoreError: the file cannot be read.
        """
        found = self.loaded.encode(text, add_special_tokens=False).offsets
        return [(start, end) for start, end in found]

    @cached_property
    def loaded(self) -> Any:
        """The tokenizer itself, which neither cuts texts off nor fills them up.

        Raises:
            StoreError: the file cannot be read.
        """
        try:
            from tokenizers import Tokenizer as Fast
        except ImportError:
            raise StoreError(
                f"{self._setting} needs the package tokenizers: pip install tokenizers"
            ) from None
        try:
            tokenizer = Fast.from_file(str(self._path))
        except Exception as error:  # it raises nothing more exact
            reason = str(error).partition("\n")[0]
            raise StoreError(f"{self._path}: cannot be read: {reason}") from error
        # The file may turn both on, which would count every text as equally long.
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer
