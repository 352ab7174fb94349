"""signal-cli's envelopes, which both bridges hand on."""
