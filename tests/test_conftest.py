"""What the end of a test run says of tests that could not run."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.project import environment

if TYPE_CHECKING:
    from pathlib import Path

TESTS = """
import pytest

@pytest.fixture
def site():
    pytest.skip("nginx is not installed")

def test_one(site): pass
def test_two(site): pass

@pytest.mark.skipif("True", reason="chromium is not installed")
def test_three(): pass

@pytest.mark.skip(reason="not today")
def test_four(): pass

def test_five(): pass
"""


@pytest.mark.parametrize(
    ("selected", "said"),
    [
        (
            "test_",
            "skipped for want of chromium: 1 tests, nginx: 2 tests; to run them, as root: "
            "apt-get install chromium nginx",
        ),
        ("test_two", "nginx: 1 tests; to run them, as root: apt-get install nginx"),
        ("test_four or test_five", ""),
    ],
)
def test_skipped_tests_are_counted_by_what_they_need(
    selected: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "conftest.py").write_text("from tests.conftest import pytest_terminal_summary\n")
    (tmp_path / "test_some.py").write_text(TESTS)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", selected],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert said in done.stdout
    assert ("skipped for want of" in done.stdout) == bool(said)
