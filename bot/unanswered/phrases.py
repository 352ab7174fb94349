"""Why a message is not answered, and what the operator can do about it: sentences for the operator.

The log and the metrics say them in English, the administration pages in the language of whoever reads them.
"""

from bot.i18n.catalogues import Sentence

UNANSWERED_NOT_ALLOWED = Sentence("UNANSWERED_NOT_ALLOWED", "its author is not on the list (not allowed)")
UNANSWERED_NOT_ALLOWED_DO = Sentence(
    "UNANSWERED_NOT_ALLOWED_DO",
    "ACCESS__ALLOWED, ACCESS__GROUPS or an admin's `/allow` lets people in",
)
UNANSWERED_NOT_ADDRESSED = Sentence(
    "UNANSWERED_NOT_ADDRESSED",
    "it was written in a group and not addressed to Aldis (no mention)",
)
UNANSWERED_NOT_ADDRESSED_DO = Sentence(
    "UNANSWERED_NOT_ADDRESSED_DO",
    "people mention Aldis, quote it or begin with its name; `/always on` makes it answer everything there",
)
UNANSWERED_NOT_ASKER = Sentence("UNANSWERED_NOT_ASKER", "its author may not ask in that group (`/who`)")
UNANSWERED_NOT_ASKER_DO = Sentence("UNANSWERED_NOT_ASKER_DO", "an admin writes `/who all` there, or `/who list`")
UNANSWERED_PAUSED = Sentence("UNANSWERED_PAUSED", "Aldis is paused in its conversation, or an admin has taken it over")
UNANSWERED_PAUSED_DO = Sentence("UNANSWERED_PAUSED_DO", "`/resume` there")
UNANSWERED_TOO_MANY = Sentence(
    "UNANSWERED_TOO_MANY", "too many messages came from its author or in its conversation within a minute"
)
UNANSWERED_QUEUE_FULL = Sentence("UNANSWERED_QUEUE_FULL", "too many messages were already waiting in its conversation")
UNANSWERED_TOO_OLD = Sentence("UNANSWERED_TOO_OLD", "it had waited too long, and its author was told so")
UNANSWERED_TOO_OLD_DO = Sentence("UNANSWERED_TOO_OLD_DO", "INTAKE__MAX_AGE says how long that is")
UNANSWERED_EXPIRED = Sentence(
    "UNANSWERED_EXPIRED",
    "its timer had made it disappear before its turn came, and its author was told so",
)
UNANSWERED_UNDECRYPTABLE = Sentence("UNANSWERED_UNDECRYPTABLE", "it could not be decrypted")
UNANSWERED_UNDECRYPTABLE_DO = Sentence(
    "UNANSWERED_UNDECRYPTABLE_DO",
    "its author has to send it again; if it keeps happening, look in the bridge's log",
)
UNANSWERED_NOT_A_NOTE = Sentence(
    "UNANSWERED_NOT_A_NOTE",
    "somebody else wrote it, and SIGNAL__NOTE_TO_SELF answers only what the account writes to itself",
)
UNANSWERED_NOT_A_NOTE_DO = Sentence(
    "UNANSWERED_NOT_A_NOTE_DO",
    "without SIGNAL__NOTE_TO_SELF the people on the list are answered",
)
UNANSWERED_NOT_A_FRAME = Sentence(
    "UNANSWERED_NOT_A_FRAME",
    "what the bridge sent was not an envelope for this account, or was too long",
)
UNANSWERED_NOT_A_FRAME_DO = Sentence(
    "UNANSWERED_NOT_A_FRAME_DO",
    "a bridge with several accounts sends those of the others, too",
)
UNANSWERED_UNREADABLE = Sentence("UNANSWERED_UNREADABLE", "nothing in it could be read")
UNANSWERED_DUPLICATE = Sentence("UNANSWERED_DUPLICATE", "it came a second time")
UNANSWERED_ECHO = Sentence("UNANSWERED_ECHO", "Aldis had written it itself")
UNANSWERED_OWN = Sentence("UNANSWERED_OWN", "the account itself did it, on another device")
UNANSWERED_OTHER_KIND = Sentence(
    "UNANSWERED_OTHER_KIND", "it was not a message but a call, a story, a typing indicator ..."
)
UNANSWERED_EMPTY = Sentence("UNANSWERED_EMPTY", "it had neither words nor files")
UNANSWERED_REACTED = Sentence("UNANSWERED_REACTED", "it was an emoji on a message, and asked for nothing")
UNANSWERED_TIMER = Sentence("UNANSWERED_TIMER", "it was a change of the conversation's timer")
UNANSWERED_OTHER_BOT = Sentence(
    "UNANSWERED_OTHER_BOT",
    "it was a command that Aldis does not have, in a group and not addressed to it",
)
UNANSWERED_OTHER = Sentence("UNANSWERED_OTHER", "there is nothing to answer in it")
