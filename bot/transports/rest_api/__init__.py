"""signal-cli-rest-api."""
