"""Proven noise of a site's pages: kept, asked for by a check, shown."""
