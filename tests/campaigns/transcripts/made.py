"""Stories of what Aldis makes and keeps count of: a picture that costs money, and what people hold likely."""

from tests.campaigns.transcripts.stage import Stage, Story
from tests.servers.envelopes import ALICE
from tests.servers.script import call, say


async def _picture(stage: Stage) -> None:
    drawn = call("image_generate", {"prompt": "a lighthouse in the fog, as a poster"})
    stage.doubles.model.scripted(drawn, say("Here is the poster."))
    await stage.says(ALICE, "Draw us a poster with a lighthouse in the fog")
    asked = await stage.answer()
    await stage.reacts(ALICE, "👍", asked)
    await stage.answer()


async def _predictions(stage: Stage) -> None:
    made = {"statement": "it rains at the summer party", "probability": 0.3, "due": "2027-07-04", "domain": "weather"}
    stage.doubles.model.scripted(call("predict", made), say("Noted as number 1: 30 % that it rains on 4 July."))
    await stage.says(ALICE, "I bet it rains at the summer party on 4 July, 30 % sure. Note that.")
    await stage.answer()
    came = call("resolve_prediction", {"number": 1, "outcome": "did_not"})
    stage.doubles.model.scripted(came, say("Noted: it stayed dry."))
    await stage.says(ALICE, "Number 1: it stayed dry.")
    await stage.answer()
    scored = call("calibration_stats", {})
    stage.doubles.model.scripted(scored, say("One is little to go by: Brier score 0.09."))
    await stage.says(ALICE, "How good are my predictions?")
    await stage.answer()
    stage.read("brier_score", "0.09")


STORIES = (
    Story(
        title="Drawing pictures",
        words="With OpenAI or any server with its images endpoint. Here `TOOLS__APPROVE` wants a yes for each, and"
        " the question says what it costs.",
        play=_picture,
        settings={"TOOLS__APPROVE": "image_generate", "TOOLS__IMAGES__COST_USD": "0.04"},
    ),
    Story(
        title="Predictions",
        words="Aldis records what people think will happen, and scores it when the day has come: how often they"
        " were right, and whether what they call 30 % happens three times in ten.",
        play=_predictions,
    ),
)
