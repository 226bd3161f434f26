"""Main content of HTML documentation pages as blocks of Markdown."""

from freshcrawl.extract.document import EXTRACTOR_VERSION, extract

__all__ = ["EXTRACTOR_VERSION", "extract"]
