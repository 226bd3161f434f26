"""File permissions that hold for a command, whoever runs the tests."""

from __future__ import annotations

import os
import shutil

import pytest

# A folder without write permission is writable to root all the same, unless it gives that up.
AS_OTHERS = ("setpriv", "--bounding-set=-dac_override,-dac_read_search") if not os.getuid() else ()
"""Prefix of a command that file permissions hold for."""
needs_permissions = pytest.mark.skipif(
    not os.getuid() and shutil.which("setpriv") is None,
    reason="root without setpriv (util-linux) overrides permissions",
)
