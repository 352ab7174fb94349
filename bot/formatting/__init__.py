"""Formats an answer the way Signal shows it."""
