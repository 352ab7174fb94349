"""Stories of what is meant for later: reminders, and what Aldis shall remember about somebody."""

from tests.campaigns.transcripts.stage import Stage, Story
from tests.servers.envelopes import ALICE
from tests.servers.script import call, say

_WHEN = {
    r"\w{3}, \d+ \w{3,4} \d{4}, \d\d:\d\d": "‹day and time›",
    r"(?:today|tomorrow|on \w+day) at (?=08:00)": "‹day› at ",
    r"\d\d:\d\d(?= where)": "‹time›",
}


async def _reminders(stage: Stage) -> None:
    wish = {"action": "set", "text": "the oven", "delay_seconds": 5}
    stage.doubles.model.scripted(call("remind", wish), say("I will."))
    await stage.says(ALICE, "Remind me of the oven in five seconds.")
    await stage.answer()
    stage.aside("five seconds later")
    await stage.answer()
    for text in ("/timezone Europe/Berlin", "/remind every weekday at 8 bins out", "/remind", "/remind cancel 1"):
        await stage.says(ALICE, text)
        await stage.answer(_WHEN)


async def _memory(stage: Stage) -> None:
    wish = {"action": "remember", "fact": "is vegetarian"}
    stage.doubles.model.scripted(call("remember", wish), say("I will remember that."))
    await stage.says(ALICE, "Remember that I am vegetarian.")
    await stage.answer()
    for text in ("/memory", "/memory forget 1", "/memory"):
        await stage.says(ALICE, text)
        await stage.answer()


STORIES = (
    Story(
        title="Reminders",
        words="Set by the model or by `/remind`, once or repeating, in the person's own time zone. A reminder that"
        " comes due while Aldis is down arrives at the next start, and says that it is late. A text that"
        " begins with `ask:` is asked at that time, and answered. A reminder that somebody set in a group does"
        " not come there once they have left it or were removed: shortly before it is due Aldis asks the"
        " bridge who is in the group. It then ends, even a repeating one, and if its author may write"
        " directly, Aldis tells them there, with its words. As long as the bridge does not tell who is in the"
        " group, it comes.",
        play=_reminders,
    ),
    Story(
        title="Remembering",
        words="What people ask Aldis to remember about them is kept for their own chat, and no group learns it.",
        play=_memory,
    ),
)
