"""The version of Aldis: of its package, or of the working copy it runs from."""

import hashlib
import os
import platform
import sys
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

_DISTRIBUTION = "aldis"
_ROOT = Path(__file__).resolve().parents[1]
_PACKAGES = ("bot", "store", "tools")
_SHOWN_DIGITS = 16
_IMAGE = Path(sys.prefix) / "image-digest"
"""Exists in an image: a digest of every file of its environment, written by docker/Dockerfile."""


@cache
def current_version() -> str:
    """The version, such as `0.1.0`; pyproject.toml, which only a working copy has, is its only home."""
    with suppress(OSError):
        project = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8")).get("project", {})
        if project.get("name") == _DISTRIBUTION:
            return str(project["version"])
    from importlib import metadata  # noqa: PLC0415  (with its parser of mail a quarter of the time of `--version`)

    return metadata.version(_DISTRIBUTION)


@cache
def build() -> Mapping[str, str]:
    """What this Aldis was built from: `version`, `revision`, `source`, `image`, `python`.

    The revision is that of the working copy an image was built from, the image a digest of everything in one but the
    system; both are empty outside of one.
    """
    image = ""
    with suppress(OSError, ValueError):
        image = _IMAGE.read_text(encoding="ascii").strip()
    return {
        "version": current_version(),
        "revision": os.environ.get("ALDIS_REVISION", "").strip(),
        "source": source_digest()[:_SHOWN_DIGITS],
        "image": image[:_SHOWN_DIGITS],
        "python": platform.python_version(),
    }


def describe_build(built: Mapping[str, str]) -> str:
    """A line such as `0.1.0 (source 1a2b3c4d5e6f7a8b)`, with the revision and the image if known."""
    more = ", ".join(f"{name} {built[name]}" for name in ("revision", "source", "image") if built.get(name))
    return f"{built.get('version', '')} ({more})"


@cache
def source_digest() -> str:
    """The SHA-256 of all files of the three packages: the same in a working copy, a wheel and an image made of it."""
    digest = hashlib.sha256()
    files = [path for name in _PACKAGES for path in (_ROOT / name).rglob("*") if path.is_file()]
    for name in sorted(path.relative_to(_ROOT).as_posix() for path in files if "__pycache__" not in path.parts):
        digest.update(f"{name}\0{hashlib.sha256((_ROOT / name).read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()
