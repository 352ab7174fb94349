"""One question to its answer."""
