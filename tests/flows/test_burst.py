"""A thousand envelopes back to back: what piled up at Signal's server while Aldis was down, and comes at once."""

from pathlib import Path

from tests.campaigns.chaos import audit
from tests.campaigns.chaos.rounds import played
from tests.campaigns.chaos.world import Size

BURST = 1000


async def test_a_burst_loses_nothing(tmp_path: Path) -> None:
    """Every envelope of people on the list is committed and has its end; each question is answered once, many of them
    together with others of their conversation.
    """
    size = Size(
        seed=1,
        kills=0,
        rate_per_second=0,
        people=60,
        burst=BURST,
        conversations_at_once=100,
        calm_lives=("chat",),
    )
    evidence = await played(size, tmp_path)
    found = audit.findings(evidence)
    assert not any(finding.violations for finding in found), "\n".join(map(str, found))
    listed = {letter.sent_at for letter in evidence.pen.letters.values() if letter.chat.is_listed}
    assert len(evidence.pen.letters) == BURST + len(evidence.pen.crowd.listed)
    assert {row.sent_at for row in evidence.store.inbox} == listed
    assert len(evidence.store.turns) < len(listed) / 2
