"""What a verb does when standard input, output or error is full, or left by its reader."""

import subprocess
import sys
from pathlib import Path

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


def test_what_cannot_be_written_is_no_bug(tmp_path: Path) -> None:
    """A reader that has gone is no error on standard error, and status 1, as the output was not taken; a full disk
    behind it is named in one line.
    """
    # The pipe has no reader any more when the verb starts.
    ended = in_shell('exec 3> >(:); wait "$!"; aldis help >&3; echo "$?"', tmp_path)
    assert (ended.stdout, ended.stderr) == ("1\n", "")
    ended = in_shell("aldis help >/dev/full", tmp_path)
    said = "aldis: standard output cannot be written: No space left on device\n"
    assert (ended.returncode, ended.stderr) == (1, said)
