"""The services that `tools.web_search` asks, one module each, behind the seam in `tools.search.base`."""
