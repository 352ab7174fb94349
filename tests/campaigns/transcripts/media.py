"""Stories of what is no text: pictures, papers, voices, places, and files that Aldis sends."""

from tests.bot.media.samples import adts, pdf, picture
from tests.campaigns.transcripts.stage import Stage, Story
from tests.servers.envelopes import ALICE, fixture
from tests.servers.script import call, say

_PACK = "0123456789abcdef0123456789abcdef"
_PLACE = "Garden gate\nhttps://maps.google.com/maps?q=52.520008%2C13.404954"


async def _files(stage: Stage) -> None:
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


async def _voice(stage: Stage) -> None:
    stage.doubles.audio.says.append("Which colour is a ripe quince?")
    stage.doubles.model.scripted(say("It is **yellow**."))
    spoken = stage.file(adts(), contentType="audio/aac", filename=None, isVoiceNote=True)
    await stage.sends(ALICE, "", {"voice note": spoken})
    await stage.answer()
    await stage.answer()
    stage.reads()


async def _chart(stage: Stage) -> None:
    stage.doubles.model.scripted(
        call("get_weather", {"place": "Utopia", "chart": True}), say("Rain in the evening; here is the curve.")
    )
    await stage.says(ALICE, "Show me the weather in Utopia.")
    await stage.answer()


async def _cards(stage: Stage) -> None:
    stage.doubles.signal.stickers[_PACK, 7] = "🌱"
    stage.doubles.model.scripted(say("Rose Thorne of the seed bank."), say("By the garden gate."), say("🌱 indeed!"))
    card = fixture("contact")["envelope"]["dataMessage"]["contacts"]
    for text, shown, more in (
        ("", "contact: Rose Thorne", {"contacts": card}),
        (_PLACE, "map", {}),
        ("", "sticker 🌱", {"sticker": {"packId": _PACK, "stickerId": 7}}),
    ):
        await stage.sends(ALICE, text, {shown: {}}, **more)
        await stage.answer()
        stage.reads()


STORIES = (
    Story(
        title="Pictures and documents",
        words="Pictures go to models that can see, turned upright, scaled and without location and camera data; of"
        " PDFs and texts the model reads the text, page by page, or the PDF itself if it accepts PDFs. Aldis"
        " recognises a file by its contents, never by its name.",
        play=_files,
    ),
    Story(
        title="Voice notes",
        words="The service of `AUDIO__BASE_URL` transcribes a voice note, and Aldis answers it like a message; with"
        " `AUDIO__SPEAK=true` the answer comes as a voice note too.",
        play=_voice,
        settings={"AUDIO__SPEAK": "true"},
    ),
    Story(
        title="Contacts, places, stickers",
        words="They reach the model in words; so do polls.",
        play=_cards,
    ),
    Story(
        title="Files from Aldis",
        words="What a tool draws or writes arrives with the answer.",
        play=_chart,
    ),
)
