"""Work in threads goes on one at a time, beside the event loop."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from freshcrawl.threads import in_turn


class Meter:
    """Counts how many calls are at work at once."""

    def __init__(self):
        self.now = self.most = 0
        self.threads = set()

    def work(self, number):
        """Return the number after a while."""
        self.now += 1
        self.most = max(self.most, self.now)
        self.threads.add(threading.get_ident())
        time.sleep(0.01)
        self.now -= 1
        return number


def test_one_at_a_time_in_threads_of_their_own():
    meter = Meter()

    async def all_at_once():
        return await asyncio.gather(*(in_turn(meter.work, number) for number in range(8)))

    assert asyncio.run(all_at_once()) == list(range(8))
    assert meter.most == 1
    assert threading.get_ident() not in meter.threads


def test_the_turn_ends_with_an_error():
    async def fails_then_works():
        with pytest.raises(ZeroDivisionError):
            await in_turn(divmod, 1, 0)
        return await in_turn(divmod, 7, 2)

    assert asyncio.run(fails_then_works()) == (3, 1)
