"""Tests; a package, so that the crawler in a subprocess can import ``tests.support``."""
