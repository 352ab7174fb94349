"""Frames of Signal: every kind that signal-cli is known to write, mutated, and read one by one.

Reading never raises, and what comes out stands in the frame itself (`tests.campaigns.fuzz.oracle`). Left to others: the
way of frames through the intake, and what is kept of them (`tests.campaigns.fuzz.intake`).
"""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from bot.signal.envelope import FrameReader
from bot.signal.files import files_in
from tests.bot.signal.bridges import OWN_ACCOUNT
from tests.campaigns.fuzz import oracle
from tests.campaigns.fuzz.json_trees import Mutator, places_in
from tests.campaigns.fuzz.rounds import Round
from tests.servers import envelopes
from tests.servers.envelopes import ACCOUNT, ALDIS, ALICE, BOB, CAROL, FIXTURES, GROUP, MALLORY, Frame, message

COUNT = 100_000

PEOPLE = (ALICE, BOB, CAROL, MALLORY)
OTHER_GROUP = "T3RoZXJHcm91cC8rMDEyMzQ1Njc4OWFiY2RlZmdoaT0="

_IDS = [word for person in (*PEOPLE, ALDIS) for word in (person.uuid, person.number, person.uuid.upper()) if word]
_WORDS = (
    *_IDS,
    *(GROUP, OTHER_GROUP, f"group.{GROUP}", f"direct:{ALICE.uuid}", f"group:{GROUP}", "direct:", "group:"),
    *("+15550100777", "not-a-uuid", "00000000-0000-0000-0000-000000000000"),
    *("DELIVER", "UPDATE", "￼ hello", "@Aldis, you?"),
)


async def check(round_: Round, _: Path) -> None:
    for random in round_.randoms():
        raw = frame_of(random)
        with round_.trying(raw):
            round_.outcomes[outcome_of(raw)] += 1


def outcome_of(raw: str) -> str:
    """Read one frame as the first of a connection, also as a note; what became of it in a word."""
    reader = FrameReader(OWN_ACCOUNT, "Aldis")
    envelope = reader.envelope(raw)
    event = None if envelope is None else reader.event(envelope)
    oracle.judge(raw, envelope, event)
    assert reader.stream.unreadable == (envelope is None)
    repr((event, files_in(raw))).encode()  # it can be stored
    owner = FrameReader(OWN_ACCOUNT, "Aldis", takes_notes=True)
    repr((note := owner.envelope(raw)) and owner.event(note)).encode()
    if envelope is None:
        return "no envelope"
    return "nothing" if event is None else type(event).__name__


def frame_of(random: Random, *, now_ms: int = 1_795_000_000_000) -> str:
    """A mutated frame of the last hour, as the text that a bridge hands on."""
    trees, mutator = _world()
    tree = random.choice(trees)
    tree = tree | {"envelope": tree["envelope"] | {"timestamp": now_ms - random.randrange(3_600_000)}}
    return mutator.written(random, mutator.mutated(random, tree))


@cache
def _world() -> tuple[tuple[Frame, ...], Mutator]:
    trees = (*_built(), *_read(FIXTURES))
    keys = sorted({key for tree in trees for _, key in places_in(tree) if isinstance(key, str)})
    return trees, Mutator(keys=keys, words=_WORDS, trees=trees)


def _built() -> Iterator[Frame]:
    for number, group in enumerate((None, GROUP, OTHER_GROUP)):
        author = PEOPLE[number]
        quote = envelopes.quote_of(ALDIS, 5, "Sow them in April.")
        files = [envelopes.attachment(), envelopes.attachment(None, "audio/aac")]
        yield message("How are the beans?", author=author, group=group, quote=quote, attachments=files)
        yield message("and you?", author=author, group=group, mention=True, expires_in_seconds=60)
        yield envelopes.edit("the peas", 5, author=author, group=group)
        yield envelopes.delete(5, author=author, group=group)
        yield envelopes.reaction("👍", 5, author=author, group=group)
        yield envelopes.timer(3600, author=author, group=group)
        yield envelopes.typing(author=author, group=group)
        yield envelopes.receipt([5, 6], author=author)
    yield envelopes.admin_delete(5, CAROL)
    yield envelopes.sync_sent("bread, please")
    yield envelopes.undecryptable()
    yield envelopes.undecryptable(None)


def _read(folder: Path) -> Iterator[Frame]:
    for path in sorted(folder.glob("*.json")):
        text = path.read_text(encoding="utf-8")
        frame: Any = json.loads(text)
        if isinstance(frame, dict) and "envelope" in frame:
            account = frame.get("account")
            yield json.loads(text.replace(account, ACCOUNT)) if isinstance(account, str) and account else frame
