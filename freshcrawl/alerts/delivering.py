"""Delivering what waits in an outbox: in order, with retries, within a bound."""

from __future__ import annotations

import logging
import math
import threading
import time
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from freshcrawl.posting import post

if TYPE_CHECKING:
    from freshcrawl.alerts.outbox import Letter, Outbox
    from freshcrawl.alerts.webhook import Webhook
    from freshcrawl.clock import Clock
    from freshcrawl.posting import Answer

logger = logging.getLogger(__name__)

MAX_WAIT_SECS = 3_600.0
"""Longest time until a batch is tried again, also if the receiver asks for more."""
RETRY_STATUS = frozenset({408, 425, 429})
MENDED_STATUS = frozenset({401, 403, 404, 405, 407})
"""Address or secret is wrong: a person mends that, and all that waited is delivered."""
REMOVED = 410


class Outcome(Enum):
    """What an answer means for a batch."""

    DELIVERED = "delivered"
    LATER = "later"
    REFUSED = "refused"
    """The receiver does not want this batch; others it may."""
    REMOVED = "removed"
    """The receiver wants nothing any more."""


@dataclass(slots=True)
class Delivered:
    """What one call of ``deliver`` did."""

    sent: int = 0
    died: int = 0
    waiting: int = 0
    """Batches that still wait."""
    problem: str = ""
    """Why the last attempt failed, if one did."""
    removed: bool = False
    """The receiver wants nothing any more."""


def meaning(answer: Answer) -> Outcome:
    """Return what an answer means."""
    status = answer.status
    if 200 <= status < 300:
        return Outcome.DELIVERED
    if status == REMOVED:
        return Outcome.REMOVED
    if 400 <= status < 500 and status not in RETRY_STATUS | MENDED_STATUS:
        return Outcome.REFUSED
    return Outcome.LATER


def problem_of(answer: Answer) -> str:
    """Return in words why an answer is no delivery."""
    if 300 <= answer.status < 400:
        return f"answered {answer.status}, a redirect, which is not followed"
    return f"answered {answer.status}" if answer.status else answer.problem


def backoff(tries: int, answer: Answer | None = None) -> float:
    """Return how many seconds to wait after so many attempts (1, 2, 4, ...)."""
    wait = 2.0 ** min(max(tries - 1, 0), 16)
    return min(max(wait, answer.retry_after if answer else 0.0), MAX_WAIT_SECS)


def send(webhook: Webhook, message_id: str, body: bytes, timeout: float) -> Answer:
    """Sign and POST one batch."""
    # The receiver compares the time with its own clock, so it is the real one.
    headers = webhook.headers(message_id, body, time.time())
    fixed = {"Content-Type": "application/json", "User-Agent": "freshcrawl"}
    return post(webhook.url, body, {**fixed, **headers}, timeout)


class Delivery:
    """Delivers the outbox of one site. Blocking; notes each outcome durably as it comes."""

    def __init__(
        self,
        outbox: Outbox,
        webhook: Webhook,
        clock: Clock,
        stopped: threading.Event | None = None,
    ) -> None:
        self._outbox, self._webhook, self._clock = outbox, webhook, clock
        self._stopped = stopped or threading.Event()
        self._until = math.inf
        self._done = Delivered()

    def deliver(
        self, seconds: float, *, tries: float = math.inf, forced: bool = False
    ) -> Delivered:
        """Deliver what is to be delivered now, each batch with ``tries`` attempts at most.

        Takes ``seconds`` at most. A batch that cannot be delivered keeps back those after it,
        until it is given up. ``forced``: also what was to be tried later.
        """
        self._until = time.monotonic() + seconds
        for letter in self._outbox.waiting():
            if not (forced or self._is_due(letter)) or not self._settle(letter, tries):
                break
        if dropped := self._outbox.drop_old(self._clock()):
            self._outbox.commit()
            logger.warning("webhook: %d old dead letters were dropped", dropped)
        self._done.waiting = len(self._outbox.waiting())
        return self._done

    def _is_due(self, letter: Letter) -> bool:
        """Tell whether a batch is to be tried; a time that no back-off has set is not believed.

        The clock was ahead then: everything would wait for it to come.
        """
        now = self._clock()
        return letter.next_at <= now or letter.next_at > now + MAX_WAIT_SECS

    def _settle(self, letter: Letter, tries: float) -> bool:
        """Deliver one batch or give it up; False if it still waits, or no other is wanted."""
        if not self._outbox.body(letter):
            logger.warning("webhook: the batch %s is damaged, and dropped", letter.id)
            self._outbox.remove(letter)
            self._outbox.commit()
            return True
        tried = 0
        while not self._stopped.is_set() and (left := self._left()) > 0 and tried < tries:
            tried += 1
            answer = self._post(letter, min(self._webhook.timeout_secs, left))
            outcome = meaning(answer)
            if outcome == Outcome.DELIVERED:
                self._outbox.remove(letter)
                self._outbox.commit()
                self._done.sent += 1
                return True
            self._note(letter, answer, outcome)
            if letter.dead_at:
                return outcome != Outcome.REMOVED
            wait = backoff(tried, answer)
            if tried >= tries or wait >= self._left() or self._stopped.wait(wait):
                return False
        return False

    def _left(self) -> float:
        return self._until - time.monotonic()

    def _post(self, letter: Letter, timeout: float) -> Answer:
        return send(self._webhook, letter.id, self._outbox.body(letter), timeout)

    def _note(self, letter: Letter, answer: Answer, outcome: Outcome) -> None:
        """Note durably that an attempt failed, and whether it was the last one."""
        now = self._clock()
        letter.created_at = min(letter.created_at, now)  # so that its age is one
        letter.attempts += 1
        letter.refused += outcome == Outcome.REFUSED
        letter.problem = self._done.problem = problem_of(answer)
        letter.next_at = now + backoff(letter.attempts, answer)
        if (
            outcome == Outcome.REMOVED
            or letter.refused >= self._webhook.attempts
            or now - letter.created_at > self._webhook.max_age_secs
        ):
            letter.dead_at = now
            self._done.died += 1
            self._done.removed = outcome == Outcome.REMOVED
        self._outbox.put(letter)
        self._outbox.commit()


def words(done: Delivered, place: str) -> str:
    """Return in one line what could not be delivered, "" if all was."""
    parts = []
    if done.died:
        parts.append(f"{done.died} given up (scrapy alerts --resend all tries again)")
    if done.waiting:
        parts.append(f"{done.waiting} waiting for the next run or scrapy alerts --send")
    if not parts:
        return ""
    why = f" {done.problem};" if done.problem else ""
    return f"webhook {place}:{why} batches of events: {', '.join(parts)}"
