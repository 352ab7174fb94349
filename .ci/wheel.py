# ruff: noqa: INP001, T201  (a script beside the others of its folder, no part of a package; it prints)
"""Builds the wheel as the image does, and tries it with each Python from 3.11 on that the machine has.

    python .ci/wheel.py [FOLDER]      FOLDER is where the wheel is left; none: it is only tried

It is built from a copy of what belongs into it, so that nothing of an earlier build gets in, by the setuptools that
docker/build.lock pins; twice, the second time from files with other rights and times, as another clone has them, and
both have to be the same to the byte. Then, for each Python: a fresh environment with
what requirements.lock pins and the wheel, an empty folder, no variables, and the command `aldis` has to tell its
version with the digest of this source, to answer, and to open a file in its sandbox.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ("bot", "store", "tools")
_BESIDE = ("pyproject.toml", "README.md", "LICENSE")
_NAMES = ("python3", "python3.11", "python3.12", "python3.13", "python3.14", "python3.15")
_WHO = "import ensurepip, sys, venv; print(*sys.version_info[:3], sys.implementation.name)"
_LEAST = (3, 11)
_ANSWER_SECONDS = 120
_TIME = "1767225600"
"""What the files of the wheel bear for their time, in seconds since 1970: that of the build says nothing."""
_SANDBOX = """
import asyncio
from bot.media.sandbox import Sandbox
asyncio.run(Sandbox().level())
"""


def main() -> int:
    """Build and try it, say how that went, and give the exit status."""
    version = _run(sys.executable, "-m", "bot", "--version").strip()  # with a digest of the source
    with tempfile.TemporaryDirectory(prefix="aldis-wheel-") as name:
        folder = Path(name)
        wheel = _built(folder / "first", ROOT)
        _change_rights(folder / "first" / "source")
        if wheel.read_bytes() != _built(folder / "second", folder / "first" / "source").read_bytes():
            print("wheel: built twice, it is not the same file")
            return 1
        missing = _source() - set(zipfile.ZipFile(wheel).namelist())
        if missing:
            print(f"wheel: it lacks {', '.join(sorted(missing))}; see [tool.setuptools.package-data]")
            return 1
        found = dict(_pythons())
        for release, python in found.items():
            _try(folder / release, python, wheel, version)
            print(f"wheel: {wheel.name} answers with Python {release}")
        if len(sys.argv) > 1:
            Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
            print(shutil.copy(wheel, sys.argv[1]))
        return 0 if found else 1


def _built(folder: Path, source: Path) -> Path:
    """The wheel of that source, in that folder, which is made; its files have the same rights, whoever cloned them."""
    os.umask(0o022)
    folder.mkdir()
    copy = folder / "source"
    for name in SOURCE:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(source / name, copy / name, ignore=ignored, copy_function=shutil.copyfile)
    for name in _BESIDE:
        shutil.copyfile(source / name, copy / name)
    builder = _environment(folder / "builder", sys.executable, ROOT / "docker" / "build.lock")
    fixed = {**os.environ, "SOURCE_DATE_EPOCH": _TIME}
    fixed.pop("PYTHONPATH", None)
    wheeling = ("-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", str(folder), str(copy))
    _run(builder, *wheeling, env=fixed)
    [wheel] = folder.glob("*.whl")
    return wheel


def _change_rights(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            path.chmod(0o600)
            os.utime(path, (0, 0))


def _source() -> set[str]:
    """What the wheel has to hold: every file of the source."""
    paths = (path for name in SOURCE for path in (ROOT / name).rglob("*") if path.is_file())
    return {str(path.relative_to(ROOT)) for path in paths if path.suffix != ".pyc"}


def _pythons() -> Iterator[tuple[str, str]]:
    """Each Python of the machine that is new enough, by its version; `PYTHON` names the only one."""
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    more = sorted(str(path) for path in versions.glob("*/bin/python3"))
    for name in [os.environ["PYTHON"]] if "PYTHON" in os.environ else [sys.executable, *_NAMES, *more]:
        python = shutil.which(name)
        if python is None:
            continue
        told = subprocess.run([python, "-c", _WHO], check=False, capture_output=True, text=True)  # noqa: S603
        *release, kind = told.stdout.split() or [""]
        if told.returncode == 0 and kind == "cpython" and tuple(map(int, release)) >= _LEAST:
            yield ".".join(release), python


def _try(folder: Path, python: str, wheel: Path, version: str) -> None:
    """See that the installed wheel does what it shall.

    Raises:
        SystemExit: it does not; the message says what it did instead.
    """
    inside = _environment(folder / "venv", python, ROOT / "requirements.lock")
    _run(inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", str(wheel))
    empty = folder / "empty"
    empty.mkdir()
    alone = {"HOME": str(empty), "PATH": f"{Path(inside).parent}:/usr/bin:/bin"}
    aldis = str(Path(inside).with_name("aldis"))
    told = _run(aldis, "--version", cwd=empty, env=alone).strip()
    answer = _run(aldis, "chat", "--once", "What is 17*23?", cwd=empty, env=alone)
    if told != version or "391" not in answer:
        raise SystemExit(f"wheel: with {python} it says {told!r} and answers {answer!r}")
    _run(inside, "-c", _SANDBOX, cwd=empty, env=alone)


def _environment(folder: Path, python: str, lock: Path) -> str:
    """The Python of a fresh environment with what the lock file pins."""
    _run(python, "-m", "venv", str(folder))
    inside = str(folder / "bin" / "python")
    _run(inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes", "-r", str(lock))
    return inside


def _run(*command: str, cwd: Path = ROOT, env: Mapping[str, str] | None = None) -> str:
    """Standard output.

    Raises:
        SystemExit: it failed; the message is what it said.
    """
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} if env is None else env
    limit = _ANSWER_SECONDS if env is not None else None
    done = subprocess.run(  # noqa: S603  (the words above)
        command, check=False, capture_output=True, text=True, cwd=cwd, env=clean, timeout=limit
    )
    if done.returncode:
        raise SystemExit(f"wheel: {' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
