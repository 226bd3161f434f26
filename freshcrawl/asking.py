"""Questions of one process over its sites, one after the other, while crawls publish."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from freshcrawl import cli
from freshcrawl.answers import Hit, search
from freshcrawl.reader import SiteReader
from freshcrawl.sites_file import load_sites
from freshcrawl.state import make_embedder
from freshcrawl.stored_sites import stored_site
from freshcrawl.stores.base import StoreError

if TYPE_CHECKING:
    from freshcrawl.config import Config


class Asker:
    """Answers questions over one or all sites, as they are when each is asked.

    ``max_age``: seconds after which an answer is stale; None for that of its site.
    """

    def __init__(self, config: Config, site: str, k: int, max_age: float | None) -> None:
        self._config = config
        self._site = site
        self._k = k
        self._max_age = max_age
        self._readers: dict[str, SiteReader] = {}
        self.failed: list[int] = []
        """Exit codes of the sites that could not be read for the last question."""

    def ask(self, text: str, now: float) -> list[Hit]:
        """Return the best passages; those of sites that cannot be read are left out.

        Raises:
            StoreError: no site can be read, none has answers, or the model is not the index's.
            ConfigError: ``sites.toml`` cannot be used.
        """
        max_ages = self._sites()
        readers = [self._readers[name] for name in max_ages]
        if not readers:
            raise StoreError("nothing is indexed yet: run scrapy crawl docs -a url=https://...")
        if not any(reader.has_answers() for reader in readers):
            raise StoreError(f"nothing is indexed yet of {', '.join(max_ages)}: see scrapy status")
        embedder = make_embedder(self._config)
        return search(readers, embedder, text, self._k, now=now, max_ages=max_ages)

    def close(self) -> None:
        """Close what is open."""
        for reader in self._readers.values():
            reader.close()
        self._readers.clear()

    def _sites(self) -> dict[str, float]:
        """Return the sites that can be read now, each with its max_age.

        A site that cannot be used is one line on stderr, and no reason to leave out the others.

        Raises:
            StoreError: what the last one says, if none can be used.
        """
        listed = load_sites(self._config)
        names = cli.chosen_sites(self._config, self._site)
        for name in self._readers.keys() - set(names):
            self._readers.pop(name).close()
        max_ages: dict[str, float] = {}
        errors: list[Exception] = []
        for name in names:
            reader = self._readers.setdefault(name, SiteReader(self._config, name))
            try:
                with reader.state() as state:
                    site = listed.get(name) or stored_site(self._config, state)
            except (StoreError, sqlite3.DatabaseError) as error:
                errors.append(error)
            else:
                own = self._config.for_site(site.policies) if site else self._config
                max_ages[name] = own.max_age_secs if self._max_age is None else self._max_age
        last = errors.pop() if errors and not max_ages else None
        self.failed = [cli.report_error(error) for error in errors]
        if last:
            raise last
        return max_ages
