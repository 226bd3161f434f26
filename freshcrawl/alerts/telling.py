"""The webhook of a site that is opened for writing: filling the outbox, and delivering it."""

from __future__ import annotations

import json
import logging
import threading
from contextlib import closing
from typing import TYPE_CHECKING

from freshcrawl.alerts.announcing import Announcer
from freshcrawl.alerts.delivering import Delivery, Outcome, meaning, problem_of, send, words
from freshcrawl.alerts.outbox import Outbox
from freshcrawl.alerts.webhook import webhook_of
from freshcrawl.core.events import PING, in_batches, made_id
from freshcrawl.core.report import iso
from freshcrawl.stores.advice import in_one_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from freshcrawl.alerts.delivering import Delivered
    from freshcrawl.alerts.webhook import Webhook
    from freshcrawl.clock import Clock
    from freshcrawl.config import Config
    from freshcrawl.core.pages import PageRecord
    from freshcrawl.core.report import RunReport
    from freshcrawl.state import SiteState

logger = logging.getLogger(__name__)


class Alerts:
    """Alerts of one site. Without a receiver (``webhook`` None) nothing is done."""

    def __init__(
        self,
        state: SiteState,
        webhook: Webhook | None,
        clock: Clock,
        page_of: Callable[[str], PageRecord | None],
    ) -> None:
        self._state, self._webhook, self._clock = state, webhook, clock
        self._stopped = threading.Event()
        self._removed = False
        self._announcer = Announcer(state, webhook, page_of) if webhook else None

    @property
    def delivers(self) -> bool:
        """Whether a run delivers by itself."""
        return self._webhook is not None and self._webhook.run_secs > 0

    def announce(self, generation: int, own: RunReport | None = None) -> None:
        """Put into the outbox what was not told yet; durable with the next commit."""
        if self._announcer is not None:
            self._announcer.announce(generation, self._clock(), own)

    def interrupt(self) -> None:
        """Make a delivery end after the request that is under way. Any thread may call."""
        self._stopped.set()

    def deliver_rest(self) -> None:
        """Deliver what an earlier run left, one attempt and one time-out at most. Blocking."""
        if self._webhook is not None:
            self._deliver(self._webhook, self._webhook.timeout_secs, tries=1)

    def deliver(self) -> None:
        """Deliver what is new, within the bound of a run. Blocking."""
        if self._webhook is not None:
            self._deliver(self._webhook, self._webhook.run_secs)

    def _deliver(self, webhook: Webhook, seconds: float, tries: float = float("inf")) -> None:
        """Deliver, and say in one line what could not be done: it is no part of the run.

        Nothing is sent any more by a run whose receiver has said that it is not there.
        """
        site = self._state.name
        if self._removed:
            return
        try:
            outbox = Outbox(self._state.records)
            done = self._delivery(outbox, webhook).deliver(seconds, tries=tries)
        except Exception as error:  # whatever it is, the run stands
            logger.warning("%s: events were not delivered: %s", site, in_one_line(error))
            return
        self._removed = done.removed
        if told := words(done, webhook.place):
            logger.warning("%(site)s: %(told)s", {"site": site, "told": told})

    def _delivery(self, outbox: Outbox, webhook: Webhook) -> Delivery:
        return Delivery(outbox, webhook, self._clock, self._stopped)


def alerts_of(
    config: Config,
    state: SiteState,
    clock: Clock,
    page_of: Callable[[str], PageRecord | None],
) -> Alerts:
    """Return the alerts of a site.

    Raises:
        ConfigError: the receiver cannot be used.
    """
    return Alerts(state, webhook_of(config), clock, page_of)


def ping(webhook: Webhook, now: float) -> str:
    """Send one event that tells nothing; return why it was not taken, "" if it was.

    ``now``: real epoch seconds.
    """
    event = {"id": made_id(PING, now), "type": PING, "at": iso(now)}
    [body] = in_batches("", [event], 1, run_id="", generation=0, at=now)
    answer = send(webhook, body["id"], json.dumps(body).encode(), webhook.timeout_secs)
    return "" if meaning(answer) == Outcome.DELIVERED else problem_of(answer)


def send_all(
    state: SiteState, webhook: Webhook, clock: Clock, tries: float, resend: str = ""
) -> tuple[Delivered, int]:
    """Put in what was not told, then deliver all that waits, whenever it was to be tried.

    ``resend``: id of a dead letter that waits again, or ``all``. Returns what was done, and how
    many dead letters wait again. Blocking.
    """
    with closing(state.corpus.snapshot()) as snapshot:
        generation = snapshot.generation
    outbox = Outbox(state.records)
    revived = outbox.revive(resend, clock()) if resend else 0
    Announcer(state, webhook, state.page).announce(generation, clock())
    outbox.commit()
    done = Delivery(outbox, webhook, clock).deliver(float("inf"), tries=tries, forced=True)
    return done, revived
