"""What Aldis waits for, and what keeps it from hearing people or from being heard: sentences for the operator.

The log and the page for programs say them in English, the administration pages in the language of whoever reads them.
"""

from bot.i18n.catalogues import Sentence

HEARING_CLOSED = Sentence("HEARING_CLOSED", "the stream of messages is not open")
HEARING_SILENT = Sentence(
    "HEARING_SILENT", "the stream of messages is open, but nothing comes over it, not even a keep-alive"
)
HEARING_UNLINKED = Sentence(
    "HEARING_UNLINKED", "the bridge to Signal does not have the account any more; link it again with: {command}"
)
HEARING_UNREACHABLE = Sentence(
    "HEARING_UNREACHABLE", "the bridge to Signal does not tell whether it still has the account"
)
HEARING_UNREADABLE = Sentence(
    "HEARING_UNREADABLE",
    "most of what came in the last hour could not be decrypted; look into the log of signal-cli",
)
HEARING_UNHEARD = Sentence(
    "HEARING_UNHEARD",
    "a note to self was not seen on any other device of the account: switch one on, or look at the bridge",
)
HEARING_UNSENT = Sentence("HEARING_UNSENT", "a note to self could not be sent")
HEARING_CAPTCHA = Sentence(
    "HEARING_CAPTCHA",
    "Signal wants a captcha solved before it sends more: solve one at {page}, copy the link of “Open Signal”, "
    "and run: {command}",
)
HEARING_UNPOSTED = Sentence(
    "HEARING_UNPOSTED",
    "messages come over the websocket, but nothing to the webhook: start signal-cli-rest-api with {assignment}, the "
    "secret being SIGNAL__WEBHOOK_SECRET",
)
WAITING_SIGNAL = Sentence("WAITING_SIGNAL", "waiting for Signal: {error}")
WAITING_ACCOUNT = Sentence("WAITING_ACCOUNT", "no account is linked yet; link one with: {command}")
