"""Paragraphs and what is inside of them."""

from __future__ import annotations

import pytest

from freshcrawl.extract import extract

URL = "https://docs.test/guide/page.html"


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p>One\n  two\t three</p><p>four</p>", "One two three\n\nfour"),
        ("<div>loose <p>own</p> rest</div>", "loose\n\nown\n\nrest"),
        ("<p>a&nbsp;b\u2009c</p>", "a b c"),
        ("<p>cafe\u0301</p>", "caf\u00e9"),
        ("<p>soft\u00adhyphen zero\u200bwidth</p>", "softhyphen zerowidth"),
        ("<p>line<br>next</p>", "line\nnext"),
        ("<p>one<br><br>two</p>", "one\n\ntwo"),
        ("<p>a <strong>b </strong>c <em>d</em> <del>e</del></p>", "a **b** c *d* ~~e~~"),
        ("<p><b>x <strong>y</strong></b></p>", "**x y**"),
        ("<p><strong>**kwargs</strong></p>", r"**\*\*kwargs**"),
        ("<p>an <em></em>empty one</p>", "an empty one"),
        (
            "<p><code> <a href='/f'>f()</a> </code> <code><a href='/g'>g</a>()</code></p>",
            "[`f()`](https://docs.test/f) `g()`",
        ),
        ("<p><code>a\n b</code> <tt>c</tt> <kbd>d</kbd></p>", "`a b` `c` `d`"),
        ("<p><code>a`b</code> <code>`</code></p>", "``a`b`` `` ` ``"),
        ("<p><code><span>x</span><b>.y</b></code></p>", "`x.y`"),
        ("<p>x<sup><a href='#fn:1'>1</a></sup></p>", "x^[1](https://docs.test/guide/page.html#fn:1)"),
        ("<p>2<sup>10</sup> x<sub>i</sub> see<sup>[1]</sup></p>", "2^10 x_i see[1]"),
        ("<p><code class='tsd-tag'>Optional</code>a</p>", "`Optional` a"),
        ("<p>f(<wbr>int a,<wbr>int b)</p>", "f(int a,int b)"),
        ("<p>plain &lt;T&gt; *stars* _x_</p>", "plain <T> *stars* _x_"),
        ("<p>Is <math><semantics><mi>x</mi><annotation encoding='application/x-tex'>x^2"
         "</annotation></semantics></math></p>", "Is $x^2$"),
        ("<custom-tag>text <p>block</p></custom-tag>", "text\n\nblock"),
        ("<p>Mark <span hidden>no</span><span style='display: none'>no</span>yes</p>", "Mark yes"),
    ],
)  # fmt: skip
def test_text(html, markdown):
    assert extract(html, URL).markdown == markdown


@pytest.mark.parametrize(
    ("html", "text", "bare"),
    [
        ("<p>See <a href='../api.html#x'>the API</a>.</p>",
         "See [the API](https://docs.test/api.html#x).", "See the API."),
        ("<p><a href='#here'><code>f()</code></a></p>",
         "[`f()`](https://docs.test/guide/page.html#here)", "`f()`"),
        ("<p>a<a href='b'> b </a>c</p>", "a [b](https://docs.test/guide/b) c", "a b c"),
        ("<p><a href='b(1) c|d'>x</a></p>", "[x](https://docs.test/guide/b%281%29%20c%7Cd)", "x"),
        ("<p><a href='mailto:a@b.test'>mail</a></p>", "[mail](mailto:a@b.test)", "mail"),
        ("<p><img src='i.png' alt='A  plan'> fig</p>",
         "![A plan](https://docs.test/guide/i.png) fig", "A plan fig"),
        ("<p><a href='/'><img src='i.png' alt='Home'></a></p>",
         "[![Home](https://docs.test/guide/i.png)](https://docs.test/)", "Home"),
        ("<a href='card'><div>Card</div><div>more</div></a>",
         "[Card more](https://docs.test/guide/card)", "Card more"),
    ],
)  # fmt: skip
def test_links_are_in_the_text_and_not_in_the_bare_text(html, text, bare):
    (block,) = extract(html, URL).blocks
    assert (block.text, block.bare) == (text, bare)


@pytest.mark.parametrize(
    "html",
    [
        "<p><a>plain</a></p>",
        "<p><a href='#'>plain</a></p>",
        "<p><a href='javascript:void(0)'>plain</a></p>",
        "<p><a href='/cdn-cgi/l/email-protection#a1b2'>plain</a></p>",
        "<p><a href='http://[bad'>plain</a></p>",
        "<p>plain<img src='decoration.png'></p>",
        "<p><img src='data:image/png;base64,AAAA' alt='plain'></p>",
    ],
)
def test_text_without_a_target_has_no_bare_text(html):
    (block,) = extract(html, URL).blocks
    assert (block.text, block.bare) == ("plain", "")


def test_base_href_resolves_targets():
    html = "<head><base href='https://cdn.test/v2/'></head><p><a href='x'>y</a></p>"
    assert extract(html, URL).markdown == "[y](https://cdn.test/v2/x)"
