"""A campaign: the suites of AgentDojo as MCP servers of Aldis, and a model that obeys whoever it read last."""
