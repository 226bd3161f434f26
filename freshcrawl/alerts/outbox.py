"""The outbox of a site: batches of events that wait to be delivered, and dead letters."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from freshcrawl.core.pages import JsonRecord

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from freshcrawl.stores.base import RecordStore

EVENT, LETTER, COUNTER = "event:", "letter:", "meta:outbox"
"""Names of rows: of what is known of a batch, of its body, and of the last number."""
DEAD_KEPT = 1_000
DEAD_KEPT_SECS = 30 * 86_400.0


@dataclass(slots=True)
class Letter(JsonRecord):
    """One batch; its body is stored apart. Times are epoch seconds."""

    number: int
    """Place in the order of delivery."""
    id: str
    created_at: float
    events: int = 0
    types: str = ""
    """Types of its events, for reading."""
    attempts: int = 0
    refused: int = 0
    """Attempts that the receiver refused as such, with 4xx."""
    next_at: float = 0.0
    """Not to be tried before, unless a person asks."""
    problem: str = ""
    """Why the last attempt failed."""
    dead_at: float = 0.0
    """When it was given up; 0: it waits."""

    @property
    def row(self) -> str:
        """Name of its row, without prefix."""
        return f"{self.number:012d}"


class Outbox:
    """Batches in a site's records. Nothing is durable before the store's ``commit``."""

    def __init__(self, records: RecordStore) -> None:
        self._records = records

    def add(self, batches: Iterable[Mapping[str, Any]], now: float) -> None:
        """Put batches at the end, each as it will be sent."""
        number = int((self._records.get(COUNTER) or {}).get("last", 0))
        first = number
        for batch in batches:
            number += 1
            self._write(Letter(number, batch["id"], now), batch)
        if number != first:
            self._records.put(COUNTER, {"last": number})

    def rewrite(self, letter: Letter, batch: Mapping[str, Any]) -> None:
        """Put what is left of a batch in its place; nothing if no event is."""
        if batch["events"]:
            self._write(letter, batch)
        else:
            self.remove(letter)

    def _write(self, letter: Letter, batch: Mapping[str, Any]) -> None:
        letter.events = len(batch["events"])
        letter.types = ", ".join(sorted({event["type"] for event in batch["events"]}))
        text = json.dumps(batch, ensure_ascii=False, separators=(",", ":"))
        self._records.put(LETTER + letter.row, {"body": text})
        self.put(letter)

    def letters(self) -> list[Letter]:
        """Return all batches in their order."""
        return [Letter.from_json(row) for _, row in self._records.items(EVENT)]

    def waiting(self) -> list[Letter]:
        """Return those that are still to be delivered, in their order."""
        return [letter for letter in self.letters() if not letter.dead_at]

    def dead(self) -> list[Letter]:
        """Return those that were given up, in their order."""
        return [letter for letter in self.letters() if letter.dead_at]

    def body(self, letter: Letter) -> bytes:
        """Return what is sent."""
        row = self._records.get(LETTER + letter.row) or {}
        return str(row.get("body", "")).encode()

    def put(self, letter: Letter) -> None:
        """Note what became of a batch."""
        self._records.put(EVENT + letter.row, letter.to_json())

    def remove(self, letter: Letter) -> None:
        """Forget a batch: it was delivered."""
        self._records.delete(EVENT + letter.row)
        self._records.delete(LETTER + letter.row)

    def revive(self, name: str, now: float) -> int:
        """Let the dead letter with that id, or ``all``, wait again; return how many these are."""
        chosen = [letter for letter in self.dead() if name in {"all", letter.id}]
        for letter in chosen:
            letter.dead_at = letter.next_at = 0.0
            letter.attempts = letter.refused = 0
            letter.created_at = now
            self.put(letter)
        return len(chosen)

    def drop(self, name: str) -> int:
        """Drop the batch with that id, or ``all``, whether it waits or is dead; return how many."""
        chosen = [letter for letter in self.letters() if name in {"all", letter.id}]
        for letter in chosen:
            self.remove(letter)
        return len(chosen)

    def drop_old(self, now: float) -> int:
        """Drop dead letters that are too many or too old; return how many these are."""
        dead = sorted(self.dead(), key=lambda letter: (letter.dead_at, letter.number))
        too_many = dead[: max(len(dead) - DEAD_KEPT, 0)]
        old = [letter for letter in dead if letter.dead_at < now - DEAD_KEPT_SECS]
        gone = {letter.number: letter for letter in [*too_many, *old]}
        for letter in gone.values():
            self.remove(letter)
        return len(gone)

    def commit(self) -> None:
        """Make it durable."""
        self._records.commit()


def outbox_status(records: RecordStore) -> dict[str, Any]:
    """Return what ``scrapy status`` shows of an outbox."""
    letters = Outbox(records).letters()
    waiting = [letter for letter in letters if not letter.dead_at]
    failing = [letter for letter in waiting if letter.problem]
    return {
        "waiting": sum(letter.events for letter in waiting),
        "failing": sum(letter.events for letter in failing),
        "attempts": sum(letter.attempts for letter in failing),
        "dead": sum(letter.events for letter in letters if letter.dead_at),
        "problem": failing[0].problem if failing else "",
    }
