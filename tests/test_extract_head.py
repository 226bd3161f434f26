"""The head of a page, and the links of the whole page."""

from __future__ import annotations

import pytest

from freshcrawl.extract import extract

URL = "https://docs.test/guide/page.html"


def head(html):
    return extract(f"<html lang='en-GB'><head>{html}</head><body><p>x</p></body></html>", URL)


def test_metadata():
    document = head(
        "<meta name='description' content=' All\n about it '><meta name='ROBOTS' content='noindex'>"
        "<meta name='robots' content='nofollow'><meta name='googlebot' content='none'>"
        "<link rel='stylesheet' href='s.css'><link rel='canonical' href='/guide/'>"
    )
    assert document.description == "All about it"
    assert document.robots == "noindex\nnofollow\ngooglebot: none"
    assert document.canonical == "https://docs.test/guide/"
    assert document.language == "en-GB"


def test_nothing_in_the_head():
    document = extract("<p>x</p>", URL)
    found = (document.description, document.robots, document.canonical, document.language)
    assert found == ("", "", "", "")


def test_description_of_open_graph():
    assert head("<meta property='og:description' content='x'>").description == "x"


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("0; url=new.html", "https://docs.test/guide/new.html"),
        ("0;URL='/new/'", "https://docs.test/new/"),
        ('5, "https://other.test/"', "https://other.test/"),
        ("0;url=../", "https://docs.test/"),
        ("30; url=new.html", ""),
        ("0", ""),
        ("0; url=", ""),
        ("soon; url=x", ""),
        ("", ""),
    ],
)
def test_refresh(content, target):
    tag = f"<meta http-equiv='Refresh' content=\"{content.replace(chr(34), '&quot;')}\">"
    assert head(tag).refresh == target


def test_a_refresh_for_browsers_without_scripts_is_none():
    html = "<noscript><meta http-equiv='refresh' content='0; url=/nojs'></noscript>"
    assert head(html).refresh == ""


def test_links_of_the_whole_page():
    html = """
    <nav><a href='/a'>a</a> <a href='b.html#x'>b</a></nav>
    <main><a href='b.html'>again</a> <a href='?page=2'>2</a> <a href='//cdn.test/c'>c</a></main>
    <footer><a href='mailto:a@b.test'>m</a> <a href='#top'>top</a> <a href=' d\n.html '>d</a>
    <a href='http://[bad'>bad</a> <a name='n'>n</a> <a href='ftp://f.test/'>f</a></footer>
    """
    assert extract(f"<body>{html}</body>", URL).links == [
        "https://docs.test/a",
        "https://docs.test/guide/b.html",
        "https://docs.test/guide/page.html?page=2",
        "https://cdn.test/c",
        "https://docs.test/guide/d.html",
    ]
