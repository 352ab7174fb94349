"""Searching for every tool: `service` asks the search services, one module each, behind the seam in `base`."""
