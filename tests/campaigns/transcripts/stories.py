"""The stories, in the order in which the page tells them; the docstring of each stands above its transcript."""

import asyncio
from pathlib import Path

from aiohttp import web

from tests.bot.media.samples import adts, pdf, picture
from tests.campaigns.transcripts.page import Sight
from tests.campaigns.transcripts.stage import STORIES, Line, Stage, Story, played, story
from tests.servers.base import Seen
from tests.servers.envelopes import ALICE, BOB, CAROL, MALLORY, Person, fixture
from tests.servers.script import call, say

DORA = Person(uuid="d02a0000-0000-4000-8000-0000000000e1", name="Dora")
_CODE = {r"[A-Z0-9]{4}-[A-Z0-9]{4}": "‹code›"}

# Questions and their answers: alone and in a group, while they take long, and when minds change

_DINNER = """\
You need **4.25 kg**, this week ~~8.46 €~~ **6.33 €**. If more people come:

| people | potatoes |
|---|---|
| 17 | `4.25 kg` |
| 20 | `5.00 kg` |

1. Heat the oven to 200 °C.
   - *Prick* the potatoes, or they burst.
2. Bake them for an hour, as in [this recipe](https://example.org/potatoes)."""


@story("A question")
async def _question(stage: Stage) -> None:
    """Markdown from the model arrives as Signal's own styles: bold, italic, struck through, monospace. Tables and
    nested lists become lines that you can read on a phone, and links show their address.
    """
    await stage.asks(
        ALICE,
        "On Saturday we are 17, with 250 g of potatoes each, and a kilo is 1.49 € instead of 1.99 €. How much do I "
        "buy, and how do I bake them?",
        call("calculate", {"expression": "17 * 0.25 * 1.49"}),
        say(_DINNER),
    )
    stage.read("6.3325")


@story("In a group", GROUPS__CONTEXT_MESSAGES="5")
async def _group(stage: Stage) -> None:
    """Aldis answers when it is called by name, mentioned, or quoted. Its answer quotes the question and can mention
    people natively. With `GROUPS__CONTEXT_MESSAGES` it knows what others said since its last answer, but does not
    answer that.
    """
    await stage.says(BOB, "The roses are dry.", to_group=True)
    watering = say("Water **them**, @Alice, as @Bob says.")
    answer = await stage.asks(ALICE, "Aldis, what about the roses?", watering, to_group=True)
    stage.reads()
    await stage.asks(CAROL, "How much?", say("Ten litres for each bush."), to_group=True, quote=answer)
    await stage.says(BOB, "Tomorrow is soon enough.", to_group=True)
    await stage.asks(ALICE, "should Bob do it earlier?", say("Yes: in the morning."), to_group=True, mention=True)


@story("A group that wants more of it, or less", ACCESS__ADMINS=ALICE.uuid)
async def _always(stage: Stage) -> None:
    """In a group where an admin turns this on, Aldis answers every message. After `/pause` it answers only commands;
    these need no name before them.
    """
    await stage.asks(ALICE, "/always on", to_group=True)
    await stage.asks(BOB, "When do we meet?", say("On **Saturday**, says the list."), to_group=True)
    for text in ("/pause", "When do we meet?", "/resume"):
        await stage.asks(ALICE, text, to_group=True)


@story("A family of two languages", ACCESS__ADMINS=ALICE.uuid)
async def _family(stage: Stage) -> None:
    """An admin turns this on, Aldis says so in every language concerned, and anyone ends it. A translation is edited
    and deleted with its message, and an answer to it is for the person who wrote the original.
    """
    await stage.asks(ALICE, "/translate on de,en", to_group=True)
    stage.doubles.model.scripted(say("When do you arrive on Saturday?"))
    asked = await stage.says(BOB, "Wann kommt ihr am Samstag an?", to_group=True)
    translated = await stage.answer()
    await stage.asks(CAROL, "At eight, with the train.", say("Um acht, mit dem Zug."), to_group=True, quote=translated)
    stage.doubles.model.scripted(say("When do you arrive on Sunday?"))
    await stage.edits(asked, "Wann kommt ihr am Sonntag an?")
    await stage.answer()
    await stage.asks(CAROL, "/translate off", to_group=True)


@story("Old messages", HISTORY__MAX_TURNS="1", HISTORY__SUMMARIES="true")
async def _older(stage: Stage) -> None:
    """Messages that are too old to be sent again in full are summarised (`HISTORY__SUMMARIES`), and the model is told
    that it reads a summary. A quoted message goes along with the question, however old it is. Here only one question is
    sent again in full (`HISTORY__MAX_TURNS=1`).
    """
    old = await stage.asks(ALICE, "When do I sow beans?", say("Sow beans in **May**."))
    await stage.asks(ALICE, "And carrots?", say("Carrots: in March."), say("Alice sows beans."))
    await stage.summed_up()
    await stage.asks(ALICE, "Not earlier?", say("Under glass, yes."), quote=old)
    stage.reads("Not earlier?")


@story("A slow answer", SIGNAL__ACK="reaction", SIGNAL__LIVE="status", TOOLS__TIMEOUT_SECONDS="100")
async def _live(stage: Stage) -> None:
    """After three seconds Aldis puts 👀 on the message (`SIGNAL__ACK`), after six it says what is going on
    (`SIGNAL__LIVE`); edits turn that message into the answer. The typing indicator shows all the while.
    """
    weather, opened = stage.doubles.weather, asyncio.Event()

    async def held_back(seen: Seen) -> web.StreamResponse:
        await opened.wait()
        return weather._answer(seen)

    stage.doubles.model.scripted(call("get_weather", {"place": "Utopia"}), say("Take one: **78 %** chance of rain."))
    weather.faults += [weather._answer, held_back]
    await stage.says(ALICE, "Aldis, do I need an umbrella in Utopia?", to_group=True)
    await stage.reaction()
    await stage.status("Weather")
    assert stage.doubles.signal.typing
    opened.set()
    await stage.answer()
    stage.read("Open-Meteo", "Utopia")
    await stage.reaction()


@story("Stopping it")
async def _stop(stage: Stage) -> None:
    """❌ on your message stops its answer at once, and so does `/stop`: the model's call and the tools end."""
    line = await stage.waits(ALICE, "Write me a very long poem.")
    await stage.reacts(ALICE, "❌", line)
    await stage.answer()
    await stage.waits(ALICE, "Then a short one.")
    await stage.asks(ALICE, "/stop")


@story("Changing your mind", SIGNAL__DELETE_ANSWERS="true")
async def _change(stage: Stage) -> None:
    """When you edit a question, Aldis asks it again and edits its answer. A deleted message is destroyed with
    everything made from it; with `SIGNAL__DELETE_ANSWERS=true` the answer disappears from the chat as well.
    """
    stage.doubles.model.scripted(say("Beans: in May."), say("Peas: in **March**."))
    first = await stage.says(ALICE, "When do I sow beans?")
    await stage.answer()
    second = await stage.edits(first, "When do I sow peas?")
    await stage.answer()
    stage.read("When do I sow peas?")
    await stage.deletes(second)
    await stage.removal()


# What is no text: pictures, papers, voices, places, and files that Aldis sends


@story("Pictures and documents")
async def _files(stage: Stage) -> None:
    """Pictures go to models that can see, turned upright, scaled and without location and camera data; of PDFs and
    texts the model reads the text, page by page, or the PDF itself if it accepts PDFs. Aldis recognises a file by its
    contents, never by its name.
    """
    lease = pdf("Rent is due in June", "Signed")
    stage.doubles.model.scripted(say("A red car, and a lease for **June**."))
    await stage.sends(
        ALICE,
        "What is this?",
        {
            "picture: car.jpg": stage.file(picture(), filename="car.jpg"),
            "lease.pdf": stage.file(lease, filename="lease.pdf", contentType="application/pdf"),
        },
    )
    await stage.answer()
    stage.reads()


@story("Voice notes", AUDIO__SPEAK="true")
async def _voice(stage: Stage) -> None:
    """The service of `AUDIO__BASE_URL` transcribes a voice note, and Aldis answers it like a message; with
    `AUDIO__SPEAK=true` the answer comes as a voice note too.
    """
    stage.doubles.audio.says.append("Which colour is a ripe quince?")
    stage.doubles.model.scripted(say("It is **yellow**."))
    spoken = stage.file(adts(), contentType="audio/aac", filename=None, isVoiceNote=True)
    await stage.sends(ALICE, "", {"voice note": spoken})
    await stage.answer()
    await stage.answer()
    stage.reads()


@story("Contacts, places, stickers")
async def _cards(stage: Stage) -> None:
    """They reach the model in words, a place by its address; so do polls."""
    pack = "0123456789abcdef0123456789abcdef"
    stage.doubles.signal.stickers[pack, 7] = "🌱"
    stage.doubles.model.scripted(say("Rose Thorne of the seed bank."), say("By the garden gate."), say("🌱 indeed!"))
    card = fixture("contact")["envelope"]["dataMessage"]["contacts"]
    for text, shown, more in (
        ("", "contact: Rose Thorne", {"contacts": card}),
        ("Garden gate\nhttps://maps.google.com/maps?q=52.520008%2C13.404954", "map", {}),
        ("", "sticker 🌱", {"sticker": {"packId": pack, "stickerId": 7}}),
    ):
        await stage.sends(ALICE, text, {shown: {}}, **more)
        await stage.answer()
        stage.reads()


@story("Files from Aldis")
async def _chart(stage: Stage) -> None:
    """What a tool draws or writes arrives with the answer."""
    looked_up = call("get_weather", {"place": "Utopia", "chart": True})
    curve = say("Rain in the evening; here is the curve.")
    await stage.asks(ALICE, "Show me the weather in Utopia.", looked_up, curve)


# What people set and take back in a chat, and the languages that Aldis speaks


@story("Chat settings")
async def _settings(stage: Stage) -> None:
    """Each chat has its own persona, model and tools; they survive restarts. A wrong argument gets one line that shows
    the right form. [commands.md](commands.md) has the table of commands.
    """
    await stage.asks(ALICE, "/persona You are a pirate who gardens.")
    await stage.asks(ALICE, "When do I sow beans?", say("Arr, in **May**, when the frost be gone."))
    await stage.asks(ALICE, "/tools off web_search")
    stage.read("pirate")
    for text in ("/tools", "/model", "/persona off", "/tools perhaps"):
        await stage.asks(ALICE, text)


@story("What Aldis says about itself")
async def _self(stage: Stage) -> None:
    """Admins see more. Ids and costs are for the settings and for whoever pays."""
    for text in ("/whoami", "/usage"):
        await stage.asks(ALICE, text, words={ALICE.uuid: "‹id›", r"\b[0-9a-f]{8}\b": "‹label›"})


@story("What is kept, and forgetting it")
async def _forget(stage: Stage) -> None:
    """`/export` shows what is kept about the person who asks; `/forget` asks, and then destroys what was said there,
    with the key that sealed it, and `/forget everything` also what they asked elsewhere.
    """
    await stage.asks(ALICE, "When do I sow beans?", say("In **May**."))
    for text in ("/export", "/forget", "yes", "/export"):
        await stage.asks(ALICE, text)


@story("Languages")
async def _languages(stage: Stage) -> None:
    """Aldis speaks the language in which somebody writes (English, German, French or Spanish), or the one that
    `/language` chooses; dates and numbers follow.
    """
    sown = say("Ab Mitte Mai, wenn es nicht mehr friert.")
    await stage.asks(ALICE, "Wann kann ich die Bohnen in den Garten säen?", sown)
    for text in ("/stop", "/language fr", "/stop"):
        await stage.asks(ALICE, text)


@story("Once more, and never mind")
async def _again(stage: Stage) -> None:
    """`/retry` answers the last question again, replacing the old answer; `/undo` takes the question and its answer
    back; `/new` starts a new conversation.
    """
    await stage.asks(ALICE, "When do I sow beans?", say("In May."))
    await stage.asks(ALICE, "/retry", say("In **May**, after the last frost."))
    await stage.says(ALICE, "/undo")
    await stage.removal()
    await stage.answer()
    await stage.asks(ALICE, "/new")


# What is meant for later, what Aldis makes and keeps count of


@story("Reminders")
async def _reminders(stage: Stage) -> None:
    """Set by the model or by `/remind`, once or repeating, in the person's own time zone. A reminder that comes due
    while Aldis is down arrives at the next start, and says that it is late. A text that begins with `ask:` is asked at
    that time, and answered. A reminder that somebody set in a group does not come there once they have left it or were
    removed: shortly before it is due Aldis asks the bridge who is in the group. It then ends, even a repeating one, and
    if its author may write directly, Aldis tells them there, with its words. As long as the bridge does not tell who is
    in the group, it comes.
    """
    wish = {"action": "set", "text": "the oven", "delay_seconds": 5}
    await stage.asks(ALICE, "Remind me of the oven in five seconds.", call("remind", wish), say("I will."))
    stage.aside("five seconds later")
    await stage.answer()
    when = {
        r"\w{3}, \d+ \w{3,4} \d{4}, \d\d:\d\d": "‹day and time›",
        r"(?:today|tomorrow|on \w+day) at (?=08:00)": "‹day› at ",
        r"\d\d:\d\d(?= where)": "‹time›",
    }
    for text in ("/timezone Europe/Berlin", "/remind every weekday at 8 bins out", "/remind", "/remind cancel 1"):
        await stage.asks(ALICE, text, words=when)


@story("Remembering")
async def _memory(stage: Stage) -> None:
    """What people ask Aldis to remember about them is kept for their own chat, and no group learns it."""
    wish = {"action": "remember", "fact": "is vegetarian"}
    await stage.asks(ALICE, "Remember that I am vegetarian.", call("remember", wish), say("I will remember that."))
    for text in ("/memory", "/memory forget 1", "/memory"):
        await stage.asks(ALICE, text)


@story("Drawing pictures", TOOLS__APPROVE="image_generate", TOOLS__IMAGES__COST_USD="0.04")
async def _picture(stage: Stage) -> None:
    """With OpenAI or any server with its images endpoint. Here `TOOLS__APPROVE` wants a yes for each, and the question
    says what it costs.
    """
    drawn = call("image_generate", {"prompt": "a lighthouse in the fog, as a poster"})
    done = say("Here is the poster.")
    asked = await stage.asks(ALICE, "Draw us a poster with a lighthouse in the fog", drawn, done)
    await stage.reacts(ALICE, "👍", asked)
    await stage.answer()


@story("Predictions")
async def _predictions(stage: Stage) -> None:
    """Aldis records what people think will happen, and scores it when the day has come: how often they were right, and
    whether what they call 30 % happens three times in ten.
    """
    made = {"statement": "it rains at the summer party", "probability": 0.3, "due": "2027-07-04", "domain": "weather"}
    noted = say("Noted as number 1: 30 % that it rains on 4 July.")
    bet = "I bet it rains at the summer party on 4 July, 30 % sure. Note that."
    await stage.asks(ALICE, bet, call("predict", made), noted)
    came = call("resolve_prediction", {"number": 1, "outcome": "did_not"})
    await stage.asks(ALICE, "Number 1: it stayed dry.", came, say("Noted: it stayed dry."))
    score = say("One is little to go by: Brier score 0.09.")
    await stage.asks(ALICE, "How good are my predictions?", call("calibration_stats", {}), score)
    stage.read("brier_score", "0.09")


# Who may do what: a yes before something is done, a stranger at the door, and one's own account


@story("Asking first", TOOLS__APPROVE="calculate")
async def _approval(stage: Stage) -> None:
    """A tool that `TOOLS__APPROVE` names, or that would do something after strangers' words were read, asks first and
    says exactly what it would do. A plain yes or no counts only from the person who asked, 👍 or 👎 also from an admin,
    and from nobody else. No answer is a no (`APPROVALS__TIMEOUT`).
    """
    calls = call("calculate", {"expression": "17 * 23"}), call("calculate", {"expression": "2 + 2"})
    asked = await stage.asks(ALICE, "Aldis, 17 times 23?", calls[0], say("It is **391**."), to_group=True)
    await stage.reacts(BOB, "👎", asked)
    await stage.reacts(ALICE, "👍", asked)
    await stage.answer()
    stage.read("391")
    asked = await stage.asks(ALICE, "Aldis, and two and two?", calls[1], say("Then I leave it."), to_group=True)
    await stage.asks(ALICE, "no", to_group=True, quote=asked)
    stage.read("denied")


@story("Somebody new", ACCESS__STRANGERS="pair", ACCESS__GREETING="true", ACCESS__ADMINS=ALICE.uuid)
async def _pairing(stage: Stage) -> None:
    """Strangers get no reply, or with `ACCESS__STRANGERS=pair` a code, and an admin is asked about them. Once they are
    let in, Aldis greets them, and answers what they wrote meanwhile.
    """
    await stage.asks(ALICE, "/people")
    await stage.asks(MALLORY, "Hello?", say("Hello, Mallory."), words=_CODE)
    asked = await stage.answer()
    await stage.reacts(ALICE, "👍", asked)
    for _ in range(3):
        await stage.answer()


@story("Your own account", SIGNAL__NOTE_TO_SELF="true", ACCESS__ALLOWED="*")
async def _own_account(stage: Stage) -> None:
    """Linked to a person's own phone with `SIGNAL__NOTE_TO_SELF=true`, Aldis answers in Note to Self, and nowhere
    else.
    """
    stage.owner = "you"
    stage.doubles.model.scripted(say("In **April**."))
    await stage.says(ALICE, "Aldis, when do I sow beans?")
    stage.aside("no answer: that chat is yours")
    await stage.notes("When do I sow beans?")
    await stage.noted()
    assert len(stage.doubles.model.requests) == 1


# A day

_WORDS = {
    **_CODE,
    r"(?:tomorrow )?at \d\d:\d\d(?: \(in \d hours?\))?": "at ‹time›",
    r"\d+ \w{3} 20\d\d": "‹day›",
    r"\d\d:\d\d(?= where)": "‹time›",
}


@story(
    "A day",
    ACCESS__STRANGERS="pair",
    ACCESS__GREETING="false",
    ACCESS__ADMINS=ALICE.uuid,
    ACCESS__ALLOWED=f"{ALICE.uuid},{BOB.uuid},{CAROL.uuid},{DORA.uuid}",
    GROUPS__CONTEXT_MESSAGES="5",
)
async def _day(stage: Stage) -> None:
    """Five people who write English, German, French and Spanish, directly and in their group."""
    stage.doubles.signal.people += (DORA,)
    stage.words = _WORDS
    tea = await _remind(stage, ALICE, "Good morning! Remind me of the tea in five seconds.", "the tea", "I will.")
    await stage.reacts(ALICE, "⏰", tea)
    later = await stage.answer()
    await stage.reacts(ALICE, "❌", later)
    await stage.answer()
    await stage.asks(ALICE, "/remind")
    await stage.asks(ALICE, "What is 17 times 23?", call("calculate", {"expression": "17 * 23"}), say("It is 391."))
    wish = {"amount": 5, "unit": "mile", "to": "km"}
    await stage.asks(ALICE, "How far is 5 miles in km?", call("convert", wish), say("About 8 km."))
    await stage.asks(ALICE, "Do I need a coat?", call("get_weather", {"place": "Utopia"}), say("Yes: take one."))
    await stage.asks(MALLORY, "Hola, soy Mallory. ¿Me ayudas con el jardín?", say("Claro que sí."))
    asked = await stage.answer()
    await stage.reacts(ALICE, "👍", asked)
    for _ in range(2):
        await stage.answer()
    await stage.asks(ALICE, "/people")
    await stage.asks(BOB, "Guten Tag! Wann kann ich die Bohnen in den Garten säen?", say("Ab Mitte Mai."))
    oven = await _remind(stage, BOB, "Erinnere mich in fünf Sekunden an den Ofen.", "der Ofen", "Mache ich.")
    await stage.reacts(BOB, "✅", oven)
    await stage.asks(CAROL, "Bonjour ! Quand est-ce que je sème les carottes au jardin ?", say("En mars."))
    await stage.waits(CAROL, "Écris-moi un très long poème sur les carottes du jardin.")
    await stage.asks(CAROL, "arrête")
    await stage.says(BOB, "The roses are dry.", to_group=True)
    answer = await stage.asks(ALICE, "Aldis, what about the roses?", say("Water them tonight."), to_group=True)
    await stage.asks(CAROL, "How much?", say("Ten litres for each bush."), to_group=True, quote=answer)
    await stage.asks(BOB, "is the morning fine, too?", say("Yes, before seven."), to_group=True, mention=True)
    stage.doubles.model.scripted(say("In May."), say("In March."))
    first = await stage.says(ALICE, "When do I sow beans?")
    await stage.answer()
    await stage.edits(first, "When do I sow peas?")
    await stage.answer()
    for text in ("/remind in 2 hours water the beans", "/memory", "/tools maybe"):
        await stage.asks(DORA, text)
    for text in ("/forget", "yes"):
        await stage.asks(ALICE, text)
    await stage.asks(MALLORY, "Muchas gracias por todo, hasta mañana.", say("Hasta mañana."))


async def _remind(stage: Stage, who: Person, text: str, what: str, said: str) -> Line:
    wish = {"action": "set", "text": what, "delay_seconds": 5}
    await stage.asks(who, text, call("remind", wish), say(said))
    return await stage.answer()


async def all_played(folder: Path) -> list[tuple[Story, list[Sight]]]:
    """Every story with what people see of it; all at once, for they wait more than they compute."""
    async with asyncio.TaskGroup() as group:
        playing = [group.create_task(played(one, folder / str(number))) for number, one in enumerate(STORIES)]
    return [(one, task.result()) for one, task in zip(STORIES, playing, strict=True)]
