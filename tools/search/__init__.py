"""Searching for every tool: `services` behind the seam in `base`."""
