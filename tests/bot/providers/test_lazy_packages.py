"""A lazy package has the names that it always has; what they need is imported when they are asked for."""

import subprocess
import sys
from collections.abc import Callable, Generator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from bot.providers.lazy_packages import make_lazy

ROOT = Path(__file__).parents[3]

Make = Callable[..., ModuleType]
PATHS = {"package": "__init__.py", "package_within": "oil/__init__.py", "module_within": "oil/wick.py"}


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Make]:
    """Writes the modules of a lazy package, and imports it."""
    monkeypatch.syspath_prepend(str(tmp_path))
    finders, modules = [*sys.meta_path], {*sys.modules}

    def write(**files: str) -> ModuleType:
        for name, text in files.items():
            file = tmp_path / "lamps" / PATHS.get(name, f"{name}.py")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        make_lazy("lamps")
        return import_module("lamps")

    yield write
    sys.meta_path[:] = finders
    for name in {*sys.modules} - modules:
        del sys.modules[name]


def loaded() -> set[str]:
    """The modules of the package that have been imported."""
    return {name for name in sys.modules if name.startswith("lamps.")}


def test_a_name_is_imported_when_it_is_asked_for(make: Make) -> None:
    """And only what it needs."""
    lamps = make(
        package="from .oil import WICK, OIL as FUEL\nfrom .gas import GAS\n", oil="WICK, OIL = 1, 2\n", gas="GAS = 3\n"
    )
    assert loaded() == set()
    assert (lamps.WICK, lamps.FUEL) == (1, 2)
    assert loaded() == {"lamps.oil"}
    assert lamps.GAS == 3


def test_what_is_not_there_is_missed(make: Make) -> None:
    """As in any module; and a module of the package can be imported from it."""
    lamps = make(package="from .oil import WICK\n", oil="WICK = 1\n", gas="GAS = 3\n")
    with pytest.raises(AttributeError, match="module 'lamps' has no attribute 'GLASS'"):
        _ = lamps.GLASS
    with pytest.raises(ImportError, match="GLASS"):
        exec("from lamps import GLASS", {})
    names: dict[str, ModuleType] = {}
    exec("from lamps import gas", names)
    assert names["gas"].GAS == 3


def test_a_name_that_the_package_itself_uses_is_there(make: Make) -> None:
    """It is imported at once; the package cannot tell the difference."""
    text = "from .oil import WICK, OIL\nTWICE = 2 * WICK\nfor name in ['OIL']:\n    locals()[name].append(TWICE)\n"
    lamps = make(package=text, oil="WICK, OIL = 1, []\n")
    assert (lamps.TWICE, lamps.OIL) == (2, [2])


def test_the_last_of_two_with_a_name_counts(make: Make) -> None:
    """Whether it is imported or written there; and one that is deleted is gone."""
    text = "from .oil import A, D\nA = 'own'\nB = 'own'\nfrom .oil import B, C\nfrom .gas import C\ndel D\n"
    lamps = make(package=text, oil="A, B, C, D = 1, 2, 3, 4\n", gas="C = 4\n")
    assert (lamps.A, lamps.B, lamps.C, hasattr(lamps, "D")) == ("own", 2, 4, False)


def test_import_star_is_lazy_too(make: Make) -> None:
    """Its modules are imported for a name that nothing else has; the last one with it counts, if it is public there."""
    lamps = make(
        package="from .oil import *\nfrom .gas import *\nfrom .gas import GLASS\nBIG = max(1, 2)\n",
        package_within="from .wick import WICK\nOIL = FUEL = _OWN = 2\n",
        module_within="WICK = 1\n",
        gas="__all__ = ['FUEL', 'GLASS']\nFUEL, GLASS, OIL, _OWN = 3, 4, 5, 6\n",
    )
    assert loaded() == set()
    assert (lamps.GLASS, lamps.BIG, loaded()) == (4, 2, {"lamps.gas"})
    assert (lamps.FUEL, lamps.OIL, lamps.WICK) == (3, 2, 1)
    assert not hasattr(lamps, "_OWN")
    with pytest.raises(AttributeError, match="BRASS"):
        _ = lamps.BRASS


def test_a_package_with_functions_is_imported_whole(make: Make) -> None:
    """They look their names up in the module, where one that is not imported yet would be missing."""
    lamps = make(package="from .oil import WICK\ndef wick():\n    return WICK\n", oil="WICK = 1\n")
    assert loaded() == {"lamps.oil"}
    assert lamps.wick() == 1


def test_a_module_may_import_from_its_package_while_that_is_imported(make: Make) -> None:
    """What stands above in the `__init__` is there, as it always is."""
    lamps = make(
        package="from .oil import OIL\nfrom .gas import GAS\nHALF = GAS / 2\n",
        oil="OIL = 2\n",
        gas="from . import OIL\nGAS = OIL + 1\n",
    )
    assert lamps.HALF == 1.5


SAME = '''
import sys
from importlib import import_module
from types import FunctionType, ModuleType

def kinds(package):
    module = import_module(package)
    for name in names[package]:
        value = getattr(module, name)
        thing = value if isinstance(value, (type, FunctionType)) else type(value)
        kind = thing.__qualname__
        # pydantic says of a generic model with its type ("Model[str]") that it is from wherever it was written.
        origin = "" if "[" in kind else thing.__module__
        yield f"{package}.{name}:{origin}.{kind}"

def found(module):
    """Not the modules themselves, nor what pydantic adds for itself ("Model[str]")."""
    names = {name for name, value in [*vars(module).items()] if not isinstance(value, ModuleType)}
    return sorted(name for name in names if name.isidentifier() and not name.startswith("_"))

sdk = sys.argv[1]
packages = [sdk, f"{sdk}.types", f"{sdk}.types.shared"]
import_module(sdk)
names = {package: found(import_module(package)) for package in packages}
plain = [kind for package in packages for kind in kinds(package)]
for name in [name for name in sys.modules if name.partition(".")[0] == sdk]:
    del sys.modules[name]

import_module(f"bot.providers.{sdk}.provider")
print(len([name for name in sys.modules if name.partition(".")[0] == sdk]))
lazy = [kind for package in packages for kind in kinds(package)]
print(len(plain), *(pair for pair in zip(plain, lazy, strict=True) if pair[0] != pair[1]))
'''


@pytest.mark.parametrize(("sdk", "most", "least"), [("anthropic", 1100, 700), ("openai", 150, 250)])
def test_the_sdks_are_the_same_with_fewer_modules(sdk: str, most: int, least: int) -> None:
    """All that they and their types offer, each from the same place; their pages of requests are not imported for the
    client.
    """
    command = [sys.executable, "-c", SAME, sdk]
    ran = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    modules, names, *differences = ran.stdout.split()
    assert int(modules) < most
    assert int(names) > least
    assert differences == []
