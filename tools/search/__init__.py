"""Searching for every tool: the desk, and the services that it asks, one module each, behind the seam in `base`."""
