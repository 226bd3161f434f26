"""Edits of a publish that would not fit into memory as they are: packed until they are needed."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

from freshcrawl.core.published import Chunk, Edit, Published

if TYPE_CHECKING:
    from collections.abc import Iterable


class PackedEdits(Sequence[Edit]):
    """Edits in the order in which they were added, each compressed; ``embed_text`` is not kept."""

    def __init__(self) -> None:
        self._packed: list[bytes] = []

    def add(self, edits: Iterable[Edit]) -> None:
        """Add edits at the end."""
        self._packed += map(_pack, edits)

    def __len__(self) -> int:
        return len(self._packed)

    @overload
    def __getitem__(self, at: int) -> Edit: ...

    @overload
    def __getitem__(self, at: slice) -> list[Edit]: ...

    def __getitem__(self, at: int | slice) -> Edit | list[Edit]:
        if isinstance(at, slice):
            return [_unpack(packed) for packed in self._packed[at]]
        return _unpack(self._packed[at])


def _pack(edit: Edit) -> bytes:
    chunks = [{**chunk.to_json(), "embed_text": ""} for chunk in edit.chunks]
    row = json.dumps({"page": edit.page.to_json(), "chunks": chunks}, ensure_ascii=False)
    return zlib.compress(row.encode("utf-8", "surrogatepass"), 1)


def _unpack(packed: bytes) -> Edit:
    row = json.loads(zlib.decompress(packed).decode("utf-8", "surrogatepass"))
    chunks = [Chunk.from_json(chunk) for chunk in row["chunks"]]
    return Edit(Published.from_json(row["page"]), chunks)
