"""Real documentation, built by real generators: one module each, found by its name."""
