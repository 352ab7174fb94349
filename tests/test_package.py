"""What the wheel is made of; `make wheel`, which CI runs, builds it and tries it with each Python that is there."""

import tomllib
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_every_file_of_data_is_packed() -> None:
    """Whatever lies beside the modules: the schema, the prices."""
    patterns = PROJECT["tool"]["setuptools"]["package-data"]
    packed = {path for name in patterns for pattern in patterns[name] for path in (ROOT / name).glob(pattern)}
    assert packed
    found = (path for name in ("bot", "store", "tools") for path in (ROOT / name).rglob("*") if path.is_file())
    assert {path for path in found if path.suffix not in {".py", ".pyc"}} == packed


def test_every_folder_of_modules_is_a_package() -> None:
    """Setuptools passes over those without an `__init__.py`."""
    for name in ("bot", "store", "tools"):
        folders = {path.parent for path in (ROOT / name).rglob("*.py")}
        assert not [folder for folder in folders if not (folder / "__init__.py").exists()]


def test_the_command_is_there() -> None:
    """`aldis` begins where `python -m bot` does."""
    module, _, function = PROJECT["project"]["scripts"]["aldis"].partition(":")
    assert module == "bot.__main__"
    assert callable(getattr(import_module(module), function))
