"""Pure: what a person gets besides words: files that tools have made, and the answer as a voice note.

    tool's Result --> ToolRun (journaled) --> Outcome --> the last message of the answer

Left to others: how a message with files is sent (`bot.signal`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from bot.chat.journal import Outcome, ToolRun
from bot.events import File, Reply, Styled
from tools import ResultFile

MAX_FILES = 4
"""The limit per answer."""
MAX_BYTES = 8_000_000
"""The limit per call, all files together: the journal and the outbox hold them until the answer is sent."""


def files_of(made: Sequence[ResultFile]) -> tuple[tuple[File, ...], list[str]]:
    """The files of a tool's result that can be sent, and a sentence about each for the model."""
    fit = _fit([len(file.data) for file in made])
    pairs = list(zip(made, fit, strict=True))
    kept = tuple(
        File(name=_bare(file.name), content_type=file.content_type, data=file.data) for file, is_fit in pairs if is_fit
    )
    return kept, [
        f"a file {_bare(file.name)} {'was attached for the person' if is_fit else 'was too much to be attached'}"
        for file, is_fit in pairs
    ]


def _fit(sizes_bytes: Sequence[int]) -> list[bool]:
    """For each file, in order, whether there is still room for it."""
    fit: list[bool] = []
    left = MAX_BYTES
    for size_bytes in sizes_bytes:
        fit.append(size_bytes <= left and sum(fit) < MAX_FILES)
        left -= size_bytes if fit[-1] else 0
    return fit


def enclosed_files(runs: Iterable[ToolRun]) -> tuple[File, ...]:
    """The files to send with a turn's answer: the last ones its tools made, each once."""
    return tuple(dict.fromkeys(file for run in runs for file in run.files))[-MAX_FILES:]


def with_enclosures(replies: Sequence[Reply], outcome: Outcome) -> list[Reply]:
    """The messages of an answer with its enclosures: files in the last one, the voice note in one of its own."""
    if not replies or not (outcome.files or outcome.voice):
        return list(replies)
    *before, last = replies
    filled = replace(last, files=(*last.files, *outcome.files))
    if outcome.voice is None:
        return [*before, filled]
    # Phones show a voice note as one only if nothing else is in the message.
    voice = replace(last, content=Styled(text=""), quote=None, mentions=(), files=(outcome.voice,), is_voice_note=True)
    return [*before, replace(filled, last=False), voice]


def _bare(name: str) -> str:
    """A file name without folders and invisible characters."""
    shown = "".join(character for character in name if character.isprintable())
    return shown.replace("\\", "/").rpartition("/")[2].strip(". ")[:80] or "file"
