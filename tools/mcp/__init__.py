"""The tools of MCP servers: how they are set, started, listed, asked and ended."""
