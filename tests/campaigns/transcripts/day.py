"""The story of a day: five people in four languages, in a group and directly."""

from tests.campaigns.transcripts.stage import Line, Stage, Story
from tests.flows import gates
from tests.servers.envelopes import ALICE, BOB, CAROL, MALLORY, Person
from tests.servers.script import Scripted, call, say

DORA = Person(uuid="d02a0000-0000-4000-8000-0000000000e1", name="Dora")
_WORDS = {
    r"[A-Z0-9]{4}-[A-Z0-9]{4}": "‹code›",
    r"(?:tomorrow )?at \d\d:\d\d(?: \(in \d hours?\))?": "at ‹time›",
    r"\d+ \w{3} 20\d\d": "‹day›",
    r"\d\d:\d\d(?= where)": "‹time›",
}


async def _tell(stage: Stage, who: Person, text: str, *script: Scripted, group: bool = False) -> Line:
    """Say something, and wait for what Aldis answers; `script` is what the model does."""
    stage.doubles.model.scripted(*script)
    await stage.says(who, text, to_group=group)
    return await stage.answer(_WORDS)


async def _remind(stage: Stage, who: Person, text: str, what: str, said: str) -> Line:
    wish = {"action": "set", "text": what, "delay_seconds": 5}
    await _tell(stage, who, text, call("remind", wish), say(said))
    return await stage.answer(_WORDS)


async def _morning(stage: Stage) -> None:
    tea = await _remind(stage, ALICE, "Good morning! Remind me of the tea in five seconds.", "the tea", "I will.")
    await stage.reacts(ALICE, "⏰", tea)
    later = await stage.answer(_WORDS)
    await stage.reacts(ALICE, "❌", later)
    await stage.answer(_WORDS)
    for text in ("/remind", "What is 17 times 23?"):
        script = [call("calculate", {"expression": "17 * 23"}), say("It is 391.")] if "17" in text else []
        await _tell(stage, ALICE, text, *script)
    wish = {"amount": 5, "unit": "mile", "to": "km"}
    await _tell(stage, ALICE, "How far is 5 miles in km?", call("convert", wish), say("About 8 km."))
    await _tell(stage, ALICE, "Do I need a coat?", call("get_weather", {"place": "Utopia"}), say("Yes: take one."))
    await stage.says(MALLORY, "Hola, soy Mallory. ¿Me ayudas con el jardín?")
    await stage.answer(_WORDS)
    asked = await stage.answer()
    stage.doubles.model.scripted(say("Claro que sí."))
    await stage.reacts(ALICE, "👍", asked)
    for _ in range(2):
        await stage.answer()
    await _tell(stage, ALICE, "/people")


async def _noon(stage: Stage) -> None:
    await _tell(stage, BOB, "Guten Tag! Wann kann ich die Bohnen in den Garten säen?", say("Ab Mitte Mai."))
    oven = await _remind(stage, BOB, "Erinnere mich in fünf Sekunden an den Ofen.", "der Ofen", "Mache ich.")
    await stage.reacts(BOB, "✅", oven)
    await _tell(stage, CAROL, "Bonjour ! Quand est-ce que je sème les carottes au jardin ?", say("En mars."))
    gate = gates.Gate(stage.doubles.model, say("Jamais dit."))
    stage.doubles.model.script.append(gate)
    await stage.says(CAROL, "Écris-moi un très long poème sur les carottes du jardin.")
    await gate.arrived()
    await stage.says(CAROL, "arrête")
    await stage.answer()


async def _evening(stage: Stage) -> None:
    await stage.says(BOB, "The roses are dry.", to_group=True)
    answer = await _tell(stage, ALICE, "Aldis, what about the roses?", say("Water them tonight."), group=True)
    stage.doubles.model.scripted(say("Ten litres for each bush."), say("Yes, before seven."))
    await stage.says(CAROL, "How much?", to_group=True, quote=answer)
    await stage.answer()
    await stage.says(BOB, "is the morning fine, too?", to_group=True, mention=True)
    await stage.answer()
    stage.doubles.model.scripted(say("In May."), say("In March."))
    first = await stage.says(ALICE, "When do I sow beans?")
    await stage.answer()
    await stage.edits(first, "When do I sow peas?")
    await stage.answer()
    for text in ("/remind in 2 hours water the beans", "/memory", "/tools maybe"):
        await _tell(stage, DORA, text)
    for text in ("/forget", "yes"):
        await _tell(stage, ALICE, text)
    await _tell(stage, MALLORY, "Muchas gracias por todo, hasta mañana.", say("Hasta mañana."))


async def _day(stage: Stage) -> None:
    stage.doubles.signal.people += (DORA,)
    await _morning(stage)
    await _noon(stage)
    await _evening(stage)


STORIES = (
    Story(
        title="A day",
        words="Five people who write English, German, French and Spanish, directly and in their group.",
        play=_day,
        settings={
            "ACCESS__STRANGERS": "pair",
            "ACCESS__GREETING": "false",
            "ACCESS__ADMINS": ALICE.uuid,
            "ACCESS__ALLOWED": f"{ALICE.uuid},{BOB.uuid},{CAROL.uuid},{DORA.uuid}",
            "GROUPS__CONTEXT_MESSAGES": "5",
        },
    ),
)
