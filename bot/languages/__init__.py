"""The languages that Aldis itself speaks: which one now, which one people write, and its sentences in each."""
