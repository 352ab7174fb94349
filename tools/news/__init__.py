"""News from feeds."""
