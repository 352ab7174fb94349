"""Sends what is in the outbox, and tells *sent*, *not sent* and *unknown* apart."""
