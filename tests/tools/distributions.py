"""Small distributions of other people, put where Python finds them: a `.dist-info` beside their module, as pip does."""

import importlib
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent

from tools import find_entry_points

TIDES = '''
"""A tool of somebody else: with options, a way to the outside, and an argument."""

from pydantic import Field

from tools import Arguments, Http, Options, Result, ToolContext, ToolSpec


class TidesOptions(Options):
    """The settings TOOLS__TIDES__<FIELD>."""

    harbour: str = "Cuxhaven"
    """Which harbour is meant where none is named."""
    most: int = Field(default=2, ge=1, le=9)
    """How many tides at most."""

    def seen_by(self):
        return ("the harbour master",)


class TidesArguments(Arguments):
    """What is asked."""

    harbour: str | None = None


class Tides:
    """Tells the tides."""

    spec = ToolSpec(name="tides", description="Tells when the water is high.", arguments=TidesArguments)

    def __init__(self, options: TidesOptions, http: Http) -> None:
        assert isinstance(http, Http)
        self.options = options

    async def run(self, arguments: TidesArguments, context: ToolContext) -> Result:
        return Result(data={"harbour": arguments.harbour or self.options.harbour, "most": self.options.most})
'''


def put(folder: Path, name: str, points: Mapping[str, str], modules: Mapping[str, str], version: str = "1.2") -> None:
    """A distribution with these entry points of the group `aldis.tools`, and these modules."""
    information = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = [f"{point} = {place}" for point, place in points.items()]
    (information / "entry_points.txt").write_text("\n".join(["[aldis.tools]", *lines, ""]))
    for module, text in modules.items():
        (folder / f"{module}.py").write_text(dedent(text))


@contextmanager
def found(folder: Path) -> Generator[None]:
    """This process finds what was put into the folder, and has forgotten it afterwards."""
    known = set(sys.modules)
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    find_entry_points.cache_clear()
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        find_entry_points.cache_clear()
        for name in set(sys.modules) - known:
            if str(folder) in str(getattr(sys.modules[name], "__file__", "")):
                del sys.modules[name]
