"""Fixtures that several test modules use, and the count of what was skipped and for want of what.

Each fixture is built only when a test asks for it.
"""

from __future__ import annotations

import re
import signal
from collections import Counter
from contextlib import ExitStack
from typing import TYPE_CHECKING, Protocol

import pytest

from tests.support.corpora import corpus
from tests.support.nginx import NginxSite, nginx_path

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


CONFIG: list[pytest.Config] = []
NOT_INSTALLED = re.compile(r"Skipped: (\S+) is not installed")
"""How the reason of a skipped test names the system package that it needs."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the tests that load the real model: one file of them takes half of the time."""
    items.sort(key=lambda item: item.get_closest_marker("model") is None)


def pytest_configure(config: pytest.Config) -> None:
    """Note the configuration, for hooks that are not given it."""
    CONFIG[:] = [config]
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # So a shell starts its background jobs; commands that tests interrupt would not notice.
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Say at once why a test failed where much is said: a night may be cut off before its end."""
    reporter = CONFIG[0].pluginmanager.get_plugin("terminalreporter")
    if report.failed and reporter is not None and reporter.verbosity > 0:
        reporter.write_line(f"\n{report.longreprtext[-3_000:]}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say at the end how many tests were skipped for want of which system package."""
    reasons = [str(report.longrepr) for report in terminalreporter.stats.get("skipped", [])]
    missing = Counter(found[1] for reason in reasons if (found := NOT_INSTALLED.search(reason)))
    if missing:
        counts = ", ".join(f"{name}: {count} tests" for name, count in sorted(missing.items()))
        terminalreporter.section("not run")
        terminalreporter.line(
            f"skipped for want of {counts}; to run them, as root: "
            f"apt-get install {' '.join(sorted(missing))}"
        )


class SiteFactory(Protocol):
    """Starts an nginx of its own for a test."""

    def __call__(
        self, *, validators: bool = True, sitemap: bool = True, server_config: str = ""
    ) -> NginxSite:
        """Return a started site with an empty web root."""


@pytest.fixture
def nginx_site(tmp_path: Path) -> Iterator[SiteFactory]:
    """Start sites that are stopped after the test; skips it where there is no nginx."""
    if nginx_path() is None:
        pytest.skip("nginx is not installed")
    with ExitStack() as sites:
        count = 0

        def start(
            *, validators: bool = True, sitemap: bool = True, server_config: str = ""
        ) -> NginxSite:
            nonlocal count
            count += 1
            root = tmp_path / f"nginx-{count}"
            root.mkdir()
            site = NginxSite(
                root, validators=validators, sitemap=sitemap, server_config=server_config
            )
            return sites.enter_context(site)

        yield start


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """Return a state folder that does not exist yet."""
    return tmp_path / "state"


@pytest.fixture(scope="session")
def sqlalchemy_43() -> Path:
    """Return the built pages of SQLAlchemy 2.0.43."""
    return corpus("sqlalchemy", "2.0.43")


@pytest.fixture(scope="session")
def sqlalchemy_44() -> Path:
    """Return the built pages of SQLAlchemy 2.0.44."""
    return corpus("sqlalchemy", "2.0.44")


@pytest.fixture(scope="session")
def mako_trees() -> tuple[Path, Path]:
    """Return the built pages of Mako 1.3.8 and 1.3.10."""
    return corpus("mako", "1.3.8"), corpus("mako", "1.3.10")


@pytest.fixture(scope="session")
def alembic_trees() -> tuple[Path, Path]:
    """Return the built pages of Alembic 1.16.4 and 1.16.5."""
    return corpus("alembic", "1.16.4"), corpus("alembic", "1.16.5")


@pytest.fixture(scope="session")
def lxml_trees() -> tuple[Path, Path]:
    """Return the built pages of lxml 6.0.0 and 6.0.2."""
    return corpus("lxml", "6.0.0"), corpus("lxml", "6.0.2")
