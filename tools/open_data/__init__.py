"""The tool `open_data` and the public services that it asks."""
