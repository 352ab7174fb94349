"""signal-cli's own daemon."""
