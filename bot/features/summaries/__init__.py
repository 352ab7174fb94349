"""Summaries of long conversations."""
