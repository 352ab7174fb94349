"""What is wrong with a running Aldis: sentences for the operator, in English on the page for programs."""

from bot.i18n.catalogues import Sentence

HEALTH_STORE_FAILS = Sentence("HEALTH_STORE_FAILS", "the store fails: {error}")
HEALTH_WAITS_LONG = Sentence("HEALTH_WAITS_LONG", "a message has been waiting for too long")
HEALTH_UNSENT = Sentence("HEALTH_UNSENT", "an answer has been due to be sent for too long")
HEALTH_UNREMINDED = Sentence("HEALTH_UNREMINDED", "a reminder has been due for too long")
HEALTH_NEW_NUMBER = Sentence(
    "HEALTH_NEW_NUMBER",
    "the safety number of {label} has changed: nothing from them is read, and answers to them are held, "
    "until the new one is trusted; ask them, then send /trust {label} in Signal, or: {command}",
)
HEALTH_HELD = Sentence(
    "HEALTH_HELD",
    "answers are held in {count} conversation, because of safety numbers that the bridge has not reported yet",
    "answers are held in {count} conversations, because of safety numbers that the bridge has not reported yet",
)
HEALTH_STARTS = Sentence("HEALTH_STARTS", "Aldis is starting")
HEALTH_STOPS = Sentence("HEALTH_STOPS", "Aldis is stopping")
HEALTH_RESTARTS = Sentence("HEALTH_RESTARTS", "Aldis is restarting")
