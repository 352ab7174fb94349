"""Watches: what people want to hear of as soon as it happens."""
