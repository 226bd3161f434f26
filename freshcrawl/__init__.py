"""freshcrawl: keep a crawled documentation site and its vector index fresh."""

__version__ = "0.1.0"
