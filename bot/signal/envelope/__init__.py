"""signal-cli's envelopes, which both bridges pass on."""
