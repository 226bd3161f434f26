"""API signatures: on one line, with level, anchor and dotted title."""

# ruff: noqa: E501  (markup is easier to compare in one piece)
from __future__ import annotations

import pytest

from freshcrawl.extract import extract

URL = "https://docs.test/api.html"
CLASS = (
    "<dl class='py class'><dt class='sig sig-object py' id='pkg.Engine'><em class='property'>"
    "<span class='pre'>class</span> </em><span class='sig-prename descclassname'>pkg.</span>"
    "<span class='sig-name descname'>Engine</span><span class='sig-paren'>(</span>"
    "<em class='sig-param'>url</em>, <em class='sig-param'>**kw</em><span class='sig-paren'>)</span>"
    "<a class='reference internal' href='_modules/x.html'><span class='viewcode-link'>[source]</span>"
    "</a><a class='headerlink' href='#pkg.Engine'>\u00b6</a></dt><dd><p>An engine.</p>{}</dd></dl>"
)
METHOD = (
    "<dl class='py method'><dt class='sig sig-object py' id='pkg.Engine.connect'>"
    "<span class='sig-name descname'>connect</span><span class='sig-paren'>(</span>"
    "<span class='sig-paren'>)</span> <span class='sig-return'>&#x2192; <a href='x'>Connection</a>"
    "</span></dt><dd><p>Connects.</p></dd></dl>"
)


def signatures(html):
    blocks = [b for b in extract(html, URL).blocks if b.kind == "signature"]
    return [(b.text, b.bare, b.level, b.anchor, b.title) for b in blocks]


def test_sphinx_class_with_its_method():
    document = extract(CLASS.format(METHOD), URL)
    assert signatures(CLASS.format(METHOD)) == [
        ("`class pkg.Engine(url, **kw)`", "", 7, "pkg.Engine", "pkg.Engine"),
        ("`connect() \u2192 Connection`", "", 8, "pkg.Engine.connect", "pkg.Engine.connect"),
    ]
    assert [b.text for b in document.blocks if b.kind == "paragraph"] == ["An engine.", "Connects."]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        # parameters on lines of their own (Sphinx 7)
        ("<dl class='py function'><dt class='sig' id='m.f'><span class='sig-prename descclassname'>m."
         "</span><span class='sig-name descname'>f</span>(<dl><dd><em>a: int</em>,</dd>"
         "<dd><em>b: str</em>,</dd></dl>)</dt><dd></dd></dl>",
         ("`m.f(a: int, b: str)`", "", 7, "m.f", "m.f")),
        # a comma before a bracket that means something
        ("<dl class='py function'><dt class='sig' id='m.h'><span class='sig-name descname'>h</span>("
         "<em>a=(1,&nbsp;)</em>, <em>[E, ]**F</em>)</dt><dd></dd></dl>",
         ("`h(a=(1, ), [E, ]**F)`", "", 7, "m.h", "m.h")),
        # Sphinx before version 4
        ("<dl class='function'><dt id='m.g'><code class='descclassname'>m.</code>"
         "<code class='descname'>g</code><span>(</span><em>x</em><span>)</span></dt><dd></dd></dl>",
         ("`m.g(x)`", "", 7, "m.g", "m.g")),
        # an option: the id says less than the name
        ("<dl class='std option'><dt class='sig' id='cmdoption-q'><span class='sig-name descname'>-q"
         "</span>, <span class='sig-name descname'>--quiet</span></dt><dd></dd></dl>",
         ("`-q, --quiet`", "", 7, "cmdoption-q", "-q")),
        # Javadoc
        ("<section class='detail' id='get(int)'><h3>get</h3><div class='member-signature'>"
         "<span class='modifiers'>public</span>&nbsp;<span class='return-type'>E</span>&nbsp;"
         "<span class='element-name'>get</span><wbr><span class='parameters'>(int&nbsp;a,\n int&nbsp;b)"
         "</span></div></section>", ("`public E get(int a, int b)`", "", 7, "", "get")),
        # rustdoc
        ("<details class='toggle method-toggle' open><summary><section id='method.ok' class='method'>"
         "<a class='src' href='s'></a><h4 class='code-header'>pub fn <a href='#method.ok' class='fn'>ok"
         "</a>(self) -&gt; <a href='o'>Option</a>&lt;T&gt;</h4></section></summary>"
         "<div class='docblock'><p>x</p></div></details>",
         ("`pub fn ok(self) -> Option<T>`", "", 8, "method.ok", "ok")),
        ("<pre class='rust item-decl'><code>pub enum Choice&lt;T&gt; { <span>/* 2 variants */</span> }"
         "</code></pre>", ("`pub enum Choice<T> { /* 2 variants */ }`", "", 7, "", "Choice")),
        # TypeDoc
        ("<ul class='tsd-signatures'><li><div class='tsd-signature tsd-anchor-link' id='close'>"
         "<span class='tsd-kind-call-signature'>close</span>(<br/>&nbsp;&nbsp;a: number,<br/>): void"
         "<a href='#close' class='tsd-anchor-icon'><svg></svg></a></div><div><p>Closes.</p></div></li></ul>",
         ("`close(a: number): void`", "", 7, "close", "close")),
        # Doxygen
        ("<a id='a1'></a><div class='memitem'><div class='memproto'><table class='memname'><tr>"
         "<td class='memname'>int add</td><td>(</td><td class='paramtype'>int&#160;</td>"
         "<td class='paramname'><em>a</em>, </td></tr><tr><td></td><td></td><td class='paramtype'>int"
         "&#160;</td><td class='paramname'><em>b</em></td><td>)</td></tr></table></div></div>",
         ("`int add (int a, int b)`", "", 7, "a1", "add")),
    ],
)  # fmt: skip
def test_signature(html, expected):
    assert signatures(html) == [expected]


def test_a_typedoc_declaration_with_a_body_stays_code():
    html = "<div class='tsd-signature'>interface A {<br/>  <span>b</span>: number;<br/>}</div>"
    assert extract(html, URL).markdown == "```\ninterface A {\n  b: number;\n}\n```"


def test_a_rust_declaration_with_a_body_stays_code():
    html = "<pre class='rust item-decl'><code>pub trait T {\n    // Required\n    fn f();\n}</code></pre>"
    (block,) = extract(html, URL).blocks
    assert block.text == "```rust\npub trait T {\n    // Required\n    fn f();\n}\n```"


def test_a_long_rust_declaration_stays_code():
    fields = "".join(f"    field_{i}: u32,\n" for i in range(40))
    html = f"<pre class='rust item-decl'><code>struct S {{\n{fields}}}</code></pre>"
    (block,) = extract(html, URL).blocks
    assert (block.kind, block.text.split("\n")[:2]) == ("code", ["```rust", "struct S {"])


def test_mkdocstrings_headings_stay_headings():
    html = (
        "<h2 id='pkg.f' class='doc doc-heading'><code class='highlight language-python'>f(a)</code>"
        "<a href='#pkg.f' class='headerlink'>\u00b6</a></h2><div class='doc doc-contents'><p>x</p></div>"
    )
    block = extract(html, URL).blocks[0]
    assert (block.kind, block.text, block.anchor) == ("heading", "## `f(a)`", "pkg.f")


def test_body_after_parameters_on_lines_of_their_own():
    html = (
        "<dl class='py function'><dt class='sig' id='m.f'><span class='sig-name descname'>f</span>("
        "<dl><dd><em>a</em>,</dd></dl><span>)</span> \u2192 int</dt><dd><p>Body.</p></dd>"
        "<dt class='sig' id='m.g'><span class='sig-name descname'>g</span>()</dt></dl>"
    )
    assert extract(html, URL).markdown == "`f(a) \u2192 int`\n\nBody.\n\n`g()`"
