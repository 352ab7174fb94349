"""A campaign with the suites of AgentDojo as MCP servers of Aldis, and a model that obeys whatever it read last."""
