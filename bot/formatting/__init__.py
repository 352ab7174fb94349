"""An answer as Signal shows it."""
