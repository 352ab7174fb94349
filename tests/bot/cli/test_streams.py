"""What a verb does when standard input, output or error is closed, full, or left by its reader."""

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


@pytest.mark.parametrize("line", ["settings --all >&-", "chat --once hi <&- >&- 2>&-"])
def test_closed_streams_are_like_the_null_device(line: str, folder: Path) -> None:
    """A daemon or a cron job may start without them."""
    ended = in_shell(f"aldis {line}", folder)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_no_file_of_the_store_takes_the_place_of_a_closed_stream(folder: Path) -> None:
    """What is printed would go into it."""
    script = (
        "import os, sys; from bot.cli.main import main\n"
        "try: main(['export', '00000000-0000-4000-8000-000000000001'])\n"
        "finally: os.write(9, ' '.join(os.readlink(f'/proc/self/fd/{number}') for number in range(3)).encode())"
    )
    ended = in_shell(f'exec 9>&1; "{sys.executable}" -c "{script}" <&- >&- 2>&-', folder)
    assert ended.stdout == "/dev/null /dev/null /dev/null"
