"""The version of Aldis: that of its package, or of the working copy that it is started from."""

import tomllib
from importlib import metadata
from pathlib import Path

_DISTRIBUTION = "aldis"
_PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"
"""There in a working copy, which need not be installed; no package has it."""


def current_version() -> str:
    """Such as `0.1.0`; the version stands in pyproject.toml, and nowhere else in the code."""
    if _PROJECT.is_file():
        project = tomllib.loads(_PROJECT.read_text(encoding="utf-8")).get("project", {})
        if project.get("name") == _DISTRIBUTION:
            return str(project["version"])
    return metadata.version(_DISTRIBUTION)
