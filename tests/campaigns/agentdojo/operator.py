"""The settings of an operator who trusts these servers, so that people are asked only when Aldis has a reason to."""

import json

from tools.mcp.options import McpOptions


def options(suite: str, port: int) -> McpOptions:
    """Returns the settings of the server of this suite."""
    server = {"url": f"http://127.0.0.1:{port}/mcp", "approve": "never"}
    return McpOptions.model_validate({"servers": json.dumps({suite: server})})
