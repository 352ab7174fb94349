"""What a verb does when standard input, output or error is full, or left by its reader."""

import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parent.parent.parent.parent


def in_shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The line in a shell in which `aldis` is this Aldis."""
    return subprocess.run(
        ["bash", "-c", f'aldis() {{ "{sys.executable}" -m bot "$@"; }}; {line}'],
        cwd=folder,
        env={"PYTHONPATH": str(REPOSITORY), "PATH": "/usr/bin:/bin"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store in which something was said."""
    folder = tmp_path_factory.mktemp("aldis")
    assert in_shell("aldis chat --once 'What is 17*23?'", folder).stdout.endswith("17*23 = 391\n")
    return folder


def test_a_reader_that_has_gone_is_no_error(folder: Path) -> None:
    """Nothing on standard error, and status 1, as the output was not taken."""
    # The pipe has no reader any more when the verb starts.
    ended = in_shell('exec 3> >(:); wait "$!"; aldis settings --all >&3; echo "$?"', folder)
    assert (ended.stdout, ended.stderr) == ("1\n", "")


@pytest.mark.parametrize("verb", ["settings --all", "backup copies"])
def test_a_full_disk_behind_the_output_is_named(verb: str, folder: Path) -> None:
    """In one line, and by the status."""
    ended = in_shell(f"aldis {verb} >/dev/full", folder)
    said = [line for line in ended.stderr.splitlines() if not line.startswith("The copy is two files")]
    assert (ended.returncode, said) == (1, ["aldis: standard output cannot be written: No space left on device"])
