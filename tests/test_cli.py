"""What the commands share."""

from __future__ import annotations

import pytest
from scrapy.exceptions import UsageError

from freshcrawl import cli
from freshcrawl.config import ConfigError
from freshcrawl.stores.base import StoreError
from freshcrawl.stores.locks import LockedError


@pytest.mark.parametrize(
    ("codes", "worst"),
    [
        ([], cli.OK),
        ([cli.OK, cli.OK], cli.OK),
        ([cli.OK, cli.INCOMPLETE], cli.INCOMPLETE),
        ([cli.INCOMPLETE, cli.HELD], cli.HELD),
        ([cli.LOCKED, cli.HELD], cli.LOCKED),
        ([cli.LOCKED, cli.ERROR, cli.INCOMPLETE], cli.ERROR),
    ],
)
def test_exit_code_of_several_sites_is_the_most_serious(codes: list[int], worst: int) -> None:
    assert cli.worst(codes) == worst


@pytest.mark.parametrize(
    ("error", "code"),
    [(StoreError("s"), 1), (OSError("o"), 1), (LockedError("l"), 5)],
)
def test_errors_become_one_line_and_a_code(
    error: Exception, code: int, capfd: pytest.CaptureFixture[str]
) -> None:
    def work() -> int:
        raise error

    assert cli.guarded(work) == code
    assert capfd.readouterr().err == f"freshcrawl: {error}\n"


def test_configuration_errors_are_usage_errors() -> None:
    def work() -> int:
        raise ConfigError("no such setting")

    with pytest.raises(UsageError, match="no such setting"):
        cli.guarded(work)
