"""The extractors that are compared, each as a function from a page's bytes to Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from freshcrawl.extract import extract

if TYPE_CHECKING:
    from collections.abc import Callable

    Extractor = Callable[[bytes, str], str]


def ours(body: bytes, url: str) -> str:
    """freshcrawl, unconfigured."""
    return extract(body, url).markdown


def with_trafilatura(body: bytes, url: str) -> str:
    """Trafilatura's own Markdown."""
    import trafilatura

    made = trafilatura.extract(
        body, url=url, output_format="markdown", include_formatting=True, include_tables=True
    )
    return made or ""


def with_readability(body: bytes, url: str) -> str:
    """Readability's main element, converted by html-to-markdown."""
    from readability import Document
    from readability.readability import Unparseable

    try:
        main = Document(body.decode("utf-8", "replace"), url=url).summary(html_partial=True)
    except Unparseable:
        return ""
    return _converted(main)


def with_resiliparse(body: bytes, url: str) -> str:
    """Resiliparse's main content as minimal HTML, converted by html-to-markdown."""
    from resiliparse.extract.html2text import extract_plain_text

    text = body.decode("utf-8", "replace")
    main = extract_plain_text(text, main_content=True, preserve_formatting="minimal_html")
    return _converted(main)


def _converted(main: str) -> str:
    from html_to_markdown import convert

    return convert(main).content or ""


EXTRACTORS: dict[str, Extractor] = {
    "freshcrawl": ours,
    "trafilatura": with_trafilatura,
    "readability": with_readability,
    "resiliparse": with_resiliparse,
}
PACKAGES = ("trafilatura", "readability-lxml", "resiliparse", "html-to-markdown")
