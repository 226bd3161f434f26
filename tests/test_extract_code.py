"""Code blocks: verbatim text, language, fence."""

# ruff: noqa: E501  (markup is easier to compare in one piece)
from __future__ import annotations

import pytest

from freshcrawl.extract import extract

URL = "https://docs.test/page.html"


def code(html):
    (block,) = extract(html, URL).blocks
    assert (block.kind, block.bare) == ("code", "")
    return block.text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<pre>a\n\n  b  \n\tc\n\n</pre>", "a\n\n  b\n\tc"),
        ("<pre>\n\n  first</pre>", "  first"),
        ("<pre>a\r\nb\rc</pre>", "a\nb\nc"),
        ("<pre>x&nbsp;&lt;T&gt;</pre>", "x\u00a0<T>"),
        ("<pre><a href='x'>f</a>(<span>1</span>)</pre>", "f(1)"),
        ("<pre><span></span><span class='gp'>&gt;&gt;&gt; </span>f()\n</pre>", ">>> f()"),
        # Docusaurus: lines end in br; older: lines are blocks
        ("<pre><code><span>a</span><br><span>  b</span><br></code></pre>", "a\n  b"),
        ("<pre><div class='token-line'>a</div><div class='token-line'>b</div></pre>", "a\nb"),
        # Sphinx and MkDocs line numbers, links of lines
        ("<pre><span class='linenos'>1</span>a\n<span class='linenos'>2</span>b</pre>", "a\nb"),
        ("<pre><a id='__codelineno-0-1' name='__codelineno-0-1' href='#__codelineno-0-1'></a>a\n"
         "</pre>", "a"),
        ("<table class='highlighttable'><tr><td class='linenos'><div class='linenodiv'><pre>1\n2"
         "</pre></div></td><td class='code'><pre>a\nb</pre></td></tr></table>", "a\nb"),
        # Chroma's table
        ("<table class='lntable'><tr><td class='lntd'><pre><code><span class='lnt'>1\n</span>"
         "</code></pre></td><td class='lntd'><pre><code>a\nb</code></pre></td></tr></table>",
         "a\nb"),
        # Rouge's table inside of pre
        ("<pre><code><table class='rouge-table'><tr><td class='rouge-gutter gl'><pre>1\n2</pre>"
         "</td><td class='rouge-code'><pre>a\nb\n</pre></td></tr></table></code></pre>", "a\nb"),
        ("<div><pre>a</pre><button class='copy'>Copy</button></div>", "a"),
        ("<div class='language-js'><button></button><span class='lang' hidden>js</span>"
         "<pre>a</pre></div>", "a"),
        # Doxygen
        ("<div class='fragment'><div class='line'><span class='lineno'>1</span>int a;</div>"
         "<div class='line'> </div><div class='line'>int b;</div></div>", "int a;\n\nint b;"),
    ],
)  # fmt: skip
def test_code_is_verbatim(html, text):
    fence = code(html).split("\n")
    assert "\n".join(fence[1:-1]) == text


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ("<div class='highlight-python notranslate'><div class='highlight'><pre>x</pre></div></div>",
         "python"),
        ("<div class='highlight-default notranslate'><div class='highlight'><pre>x</pre></div></div>",
         ""),
        ("<div class='highlight-pycon+sql'><pre>x</pre></div>", "pycon+sql"),
        ("<pre><code class='language-js line-numbers'>x</code></pre>", "js"),
        ("<pre class='language- vp-adaptive-theme'><code>x</code></pre>", ""),
        ("<div class='language-bash vp-adaptive-theme'><pre>x</pre></div>", "bash"),
        ("<div class='language-ruby highlighter-rouge'><div class='highlight'><pre class='highlight'>"
         "<code>x</code></pre></div></div>", "ruby"),
        ("<pre><code class='language-Java hljs' data-lang='java'>x</code></pre>", "java"),
        ("<pre><code class='lang-go'>x</code></pre>", "go"),
        ("<div class='highlight-source-shell'><pre>x</pre></div>", "shell"),
        ("<pre class='sourceCode python'><code>x</code></pre>", "python"),
        ("<pre class='brush: php;'>x</pre>", "php"),
        ("<pre class='rust rust-example-rendered'><code>x</code></pre>", "rust"),
        ("<pre data-language='ts'>x</pre>", "ts"),
        ("<pre class='mermaid'>x</pre>", "mermaid"),
        ("<div class='mermaid'>x</div>", "mermaid"),
        ("<pre data-lang='not a name'>x</pre>", ""),
        ("<pre class='programlisting'>x</pre>", ""),
        ("<div class='highlight-none'><pre>x</pre></div>", ""),
    ],
)  # fmt: skip
def test_language(html, language):
    assert code(html) == f"```{language}\nx\n```"


def test_fence_is_longer_than_those_inside():
    assert code("<pre>```` x\n```</pre>") == "`````\n```` x\n```\n`````"


def test_empty_code_is_no_block():
    assert extract("<pre>  \n </pre>", URL).blocks == []


def test_one_example_in_two_variants_is_two_blocks():
    html = "<pre><code class='language-js'>a</code><code class='language-ts'>b</code></pre>"
    assert extract(html, URL).markdown == "```js\na\n```\n\n```ts\nb\n```"
