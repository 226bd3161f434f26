"""The demonstration that ``make demo`` runs: one site, two releases, three crawls."""
