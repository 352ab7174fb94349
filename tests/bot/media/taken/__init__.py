"""Cells that feeds have taken over."""
