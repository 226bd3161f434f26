"""Eight readers while two hundred publishes happen: minutes, so not in every run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.crowd import assert_flat, publish_among_readers

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.nightly


def test_200_publishes_under_8_readers(state: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    crowd = publish_among_readers(
        state, log, 200, [20, 50, 200], processes=4, threads=4, pause_s=1.4
    )
    assert crowd.generation == 1 + 200, "the first one, and those among the readers"
    assert crowd.seconds >= 240, "these are to be about five minutes"
    assert_flat(crowd, 20, 200)
    assert_flat(crowd, 50, 200)
    assert log.read_text() == ""
    for number, found in crowd.samples.items():
        print(number, found)
    print([(asking.asked, len(asking.seen)) for asking in crowd.askings])
