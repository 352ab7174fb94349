"""The version of Aldis: that of its package, or of the working copy that it is started from."""

import os
import platform
import tomllib
from collections.abc import Mapping
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


def build() -> Mapping[str, str]:
    """What this Aldis was built from: `version`, `revision` (empty where nobody said it) and `python`.

    The revision is that of the working copy from which an image was built; whoever builds it names it.
    """
    return {
        "version": current_version(),
        "revision": os.environ.get("ALDIS_REVISION", "").strip(),
        "python": platform.python_version(),
    }
