"""One's own predictions."""
