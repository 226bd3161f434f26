"""How far work is, in numbers and words."""

from __future__ import annotations

import pytest

from freshcrawl.progress import Estimator, Rate, Snapshot, per_time


@pytest.mark.parametrize(
    ("seen", "rate", "left"),
    [
        ([], 0, None),
        ([(0, 0)], 0, None),
        ([(5, 3), (5, 9)], 0, None),  # no time has passed
        ([(0, 0), (0.5, 50)], 0, None),  # too little to say anything
        ([(0, 0), (2, 24)], 12, 5),
        ([(0, 0), (2, 0)], 0, None),
        ([(0, 0), (10, 0), (100, 600)], 600 / 90, 9),  # a silence, then more at once
        ([(0, 0), (10, 1_000), (70, 1_000), (71, 1_000)], 0, None),  # stalled
        ([(0, 0), (10, 500), (11, 0), (13, 4)], 2, 30),  # the next piece of work
    ],
)
def test_rate_is_that_of_the_last_minute(
    seen: list[tuple[float, int]], rate: float, left: float | None
) -> None:
    counted = Rate()
    for now, count in seen:
        counted.add(now, count)
    assert counted.per_sec() == pytest.approx(rate)
    assert counted.secs_left(60) == (left if left is None else pytest.approx(left))


@pytest.mark.parametrize(
    ("before", "now", "words"),
    [
        (Snapshot(), Snapshot(), "mako: looking for pages"),
        (Snapshot(0, 5), Snapshot(0, 9), "mako: 0 of 9 pages"),
        (Snapshot(), Snapshot(120, 396), "mako: 120 of 396 pages, 12/s, 23 s left"),
        (Snapshot(399, 400), Snapshot(400, 400), "mako: 400 of 400 pages"),
        (
            Snapshot(1_000, 50_000),
            Snapshot(1_001, 50_000),
            "mako: 1,001 of 50,000 pages, 6/min, 6 d left",
        ),
        (
            Snapshot(9, 9, 0, 1_200),
            Snapshot(9, 9, 256, 1_200),
            "mako: embedding 256 of 1,200 passages, 26/s, 37 s left",
        ),
        (Snapshot(0, 0, 0, 8), Snapshot(0, 0, 8, 8), "mako: embedding 8 of 8 passages"),
        (
            Snapshot(0, 40, 0, 32),
            Snapshot(20, 40, 16, 32),
            "mako: 20 of 40 pages, 2.0/s, 10 s left; embedding 16 of 32 passages, 1.6/s, 10 s left",
        ),
    ],
)
def test_words(before: Snapshot, now: Snapshot, words: str) -> None:
    estimator = Estimator()
    estimator.add(100.0, before)
    estimator.add(110.0, now)
    assert estimator.words("mako") == words


def test_several_pieces_of_work_add_up() -> None:
    assert Snapshot(1, 2, 3, 4) + Snapshot(10, 20, 30, 40) == Snapshot(11, 22, 33, 44)


@pytest.mark.parametrize(
    ("rate", "words"),
    [
        (1_234.5, "1,234/s"),
        (12.4, "12/s"),
        (9.96, "10/s"),
        (9.94, "9.9/s"),
        (0.5, "30/min"),
        (0.01, "36/h"),
    ],
)
def test_rates_have_a_unit_that_fits(rate: float, words: str) -> None:
    assert per_time(rate) == words
