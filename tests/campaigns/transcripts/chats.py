"""Stories of what people set and take back in a chat, and of the languages that Aldis speaks."""

from tests.campaigns.transcripts.stage import Stage, Story
from tests.servers.envelopes import ALICE
from tests.servers.script import say

_LABEL = r"\b[0-9a-f]{8}\b"


async def _settings(stage: Stage) -> None:
    stage.doubles.model.scripted(say("Arr, in **May**, when the frost be gone."))
    for text in ("/persona You are a pirate who gardens.", "When do I sow beans?", "/tools off web_search"):
        await stage.says(ALICE, text)
        await stage.answer()
    stage.read("pirate")
    for text in ("/tools", "/model", "/persona off", "/tools perhaps"):
        await stage.says(ALICE, text)
        await stage.answer()


async def _self(stage: Stage) -> None:
    for text in ("/whoami", "/usage"):
        await stage.says(ALICE, text)
        await stage.answer({ALICE.uuid: "‹id›", _LABEL: "‹label›"})


async def _forget(stage: Stage) -> None:
    stage.doubles.model.scripted(say("In **May**."))
    await stage.says(ALICE, "When do I sow beans?")
    await stage.answer()
    for text in ("/export", "/forget", "yes", "/export"):
        await stage.says(ALICE, text)
        await stage.answer({r"\w{3}, \d+ \w{3,4} \d{4}, \d\d:\d\d": "‹day and time›"})


async def _languages(stage: Stage) -> None:
    stage.doubles.model.scripted(say("Ab Mitte Mai, wenn es nicht mehr friert."))
    for text in ("Wann kann ich die Bohnen in den Garten säen?", "/stop", "/language fr", "/stop"):
        await stage.says(ALICE, text)
        await stage.answer()


async def _again(stage: Stage) -> None:
    stage.doubles.model.scripted(say("In May."), say("In **May**, after the last frost."))
    await stage.says(ALICE, "When do I sow beans?")
    await stage.answer()
    await stage.says(ALICE, "/retry")
    await stage.answer()
    await stage.says(ALICE, "/undo")
    await stage.removal()
    await stage.answer()
    await stage.says(ALICE, "/new")
    await stage.answer()


STORIES = (
    Story(
        title="Chat settings",
        words="Each chat has its own persona, model and tools; they survive restarts. A wrong argument gets one"
        " line that shows the right form. [commands.md](commands.md) has the table of commands.",
        play=_settings,
    ),
    Story(
        title="What Aldis says about itself",
        words="Admins see more. Ids and costs are for the settings and for whoever pays.",
        play=_self,
    ),
    Story(
        title="What is kept, and forgetting it",
        words="`/export` shows what is kept about the person who asks; `/forget` asks, and then destroys what was"
        " said there, with the key that sealed it, and `/forget everything` also what they asked elsewhere.",
        play=_forget,
    ),
    Story(
        title="Languages",
        words="Aldis speaks the language in which somebody writes (English, German, French or Spanish), or the one"
        " that `/language` chooses; dates and numbers follow.",
        play=_languages,
    ),
    Story(
        title="Once more, and never mind",
        words="`/retry` answers the last question again, replacing the old answer; `/undo` takes the question and"
        " its answer back; `/new` starts a new conversation.",
        play=_again,
    ),
)
