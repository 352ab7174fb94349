"""Stories of who may do what: a yes before something is done, a stranger at the door, and one's own account."""

from tests.campaigns.transcripts.stage import Stage, Story
from tests.servers.envelopes import ALICE, BOB, MALLORY
from tests.servers.script import call, say

_CODE = r"[A-Z0-9]{4}-[A-Z0-9]{4}"


async def _approval(stage: Stage) -> None:
    stage.doubles.model.scripted(
        call("calculate", {"expression": "17 * 23"}), say("It is **391**."), call("calculate", {"expression": "2 + 2"})
    )
    await stage.says(ALICE, "Aldis, 17 times 23?", to_group=True)
    asked = await stage.answer()
    await stage.reacts(BOB, "👎", asked)
    await stage.reacts(ALICE, "👍", asked)
    await stage.answer()
    stage.read("391")
    stage.doubles.model.scripted(say("Then I leave it."))
    await stage.says(ALICE, "Aldis, and two and two?", to_group=True)
    asked = await stage.answer()
    await stage.says(ALICE, "no", to_group=True, quote=asked)
    await stage.answer()
    stage.read("denied")


async def _pairing(stage: Stage) -> None:
    stage.doubles.model.scripted(say("Hello, Mallory."))
    await stage.says(ALICE, "/people")
    await stage.answer()
    await stage.says(MALLORY, "Hello?")
    await stage.answer({_CODE: "‹code›"})
    asked = await stage.answer()
    await stage.reacts(ALICE, "👍", asked)
    await stage.answer()
    await stage.answer()
    await stage.answer()


async def _own_account(stage: Stage) -> None:
    stage.owner = "you"
    stage.doubles.model.scripted(say("In **April**."))
    await stage.says(ALICE, "Aldis, when do I sow beans?")
    stage.aside("no answer: that chat is yours")
    await stage.notes("When do I sow beans?")
    await stage.noted()
    assert len(stage.doubles.model.requests) == 1


STORIES = (
    Story(
        title="Asking first",
        words="A tool that `TOOLS__APPROVE` names, or that would do something after strangers' words were read,"
        " asks first and says exactly what it would do. A plain yes or no counts only from the person who"
        " asked, 👍 or 👎 also from an admin, and from nobody else. No answer is a no (`APPROVALS__TIMEOUT`).",
        play=_approval,
        settings={"TOOLS__APPROVE": "calculate"},
    ),
    Story(
        title="Somebody new",
        words="Strangers get no reply, or with `ACCESS__STRANGERS=pair` a code, and an admin is asked about them."
        " Once they are let in, Aldis greets them, and answers what they wrote meanwhile.",
        play=_pairing,
        settings={"ACCESS__STRANGERS": "pair", "ACCESS__GREETING": "true", "ACCESS__ADMINS": ALICE.uuid},
    ),
    Story(
        title="Your own account",
        words="Linked to a person's own phone with `SIGNAL__NOTE_TO_SELF=true`, Aldis answers in Note to Self, and"
        " nowhere else.",
        play=_own_account,
        settings={"SIGNAL__NOTE_TO_SELF": "true", "ACCESS__ALLOWED": "*"},
    ),
)
