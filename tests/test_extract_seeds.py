"""The same bytes give the same document whatever the seed of Python's hashes is."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PAGE = """<html lang=en><head><title>T - Site</title><meta name=description content=D></head><body>
<main><h1 id=t class="z a title">T<a class="headerlink b" href="#t">¶</a></h1>
<div class="x admonition warning note tip"><p class="admonition-title c">Careful</p><p>T</p></div>
<div class="tabbed-set k"><div class="tabbed-labels l"><label>One</label><label>Two</label></div>
<div class=tabbed-content><div class=tabbed-block><p>1</p></div><div class=tabbed-block><p>2</p>
</div></div></div><dl class="py k"><dt class="sig m" id=f><span class=sig-name>f</span>(x)</dt>
<dd><pre class="x language-python y">f(1)</pre></dd></dl><p><a href=a>A</a> <a href=b>B</a></p>
</main></body></html>"""
PRINT = (
    "import sys; from freshcrawl.extract import extract; print(extract(sys.argv[1], 'http://d/'))"
)


@pytest.mark.parametrize("seed", ["1", "42"])
def test_hash_seed(seed):
    assert document_with(seed) == document_with("0")


def document_with(seed):
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    command = [sys.executable, "-c", PRINT, PAGE]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert "Careful" in done.stdout
    return done.stdout
