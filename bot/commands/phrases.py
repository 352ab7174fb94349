"""The sentences of commands: what they are for, what was done, and why something was not."""

from collections.abc import Mapping, Sequence
from typing import Literal

from bot.chat.phrases import ANSWERS
from bot.i18n.catalogues import Sentence, say
from bot.i18n.locale import join_list
from store import Erasure

HELP = Sentence(
    "HELP", "Just write to me as you would to a person. There are commands, too; `/help remind` explains one of them."
)
NOTHING_TO_STOP = Sentence("NOTHING_TO_STOP", "I'm not working on anything here.")
UNKNOWN_CODE = Sentence("UNKNOWN_CODE", "I don't know that code. Codes expire after an hour; a new message brings one.")
UNKNOWN_PERSON = Sentence("UNKNOWN_PERSON", "I know no one by that name; `/people` shows who was let in.")
NOBODY_LET_IN = Sentence("NOBODY_LET_IN", "No one has been let in yet.")
STRANGER_ASKS = Sentence("STRANGER_ASKS", "{name} would like to write to me: 👍 or 👎")
STRANGER_ASKS_TOO = Sentence(
    "STRANGER_ASKS_TOO", "Someone else who goes by {name} would like to write to me (code {code}): 👍 or 👎"
)
STRANGER_NAMELESS = Sentence(
    "STRANGER_NAMELESS", "Someone without a name would like to write to me (code {code}): 👍 or 👎"
)
STAYS_OUT = Sentence("STAYS_OUT", "OK, {name} stays out.")
BEGUN_ANEW = Sentence(
    "BEGUN_ANEW", "New conversation: I won't read anything from before. It's kept until you delete it with `/forget`."
)
NOTHING_TO_REPEAT = Sentence("NOTHING_TO_REPEAT", "There's no question of yours here to answer again.")
STILL_ANSWERING = Sentence("STILL_ANSWERING", "I'm still working on that one. `/stop` cancels it.")
NOTHING_TO_UNDO = Sentence("NOTHING_TO_UNDO", "There's nothing to undo.")
NO_MODEL_CHOICE = Sentence("NO_MODEL_CHOICE", "There's only one model here.")
NO_TOOLS = Sentence("NO_TOOLS", "I have no tools here.")
LANGUAGE_BY_MESSAGE = Sentence("LANGUAGE_BY_MESSAGE", "I'll speak whatever language you write in, if I know it.")
ONLY_IN_GROUPS = Sentence("ONLY_IN_GROUPS", "That only works in groups.")
ONLY_DIRECTLY = Sentence("ONLY_DIRECTLY", "I only do that in our own chat, not in a group.")
ALWAYS_ON = Sentence("ALWAYS_ON", "From now on I'll answer every message here.")
ALWAYS_OFF = Sentence("ALWAYS_OFF", "From now on I'll only answer here when you address me.")
ASKERS_ALL = Sentence("ASKERS_ALL", "Everybody in this group can ask me.")
PAUSED = Sentence(
    "PAUSED", "Paused. Until `/resume` I only react to commands here; what's asked meanwhile stays unanswered."
)
RESUMED = Sentence("RESUMED", "Resumed.")
NO_GROUPS = Sentence("NO_GROUPS", "I'm not in any group.")
UNKNOWN_GROUP = Sentence("UNKNOWN_GROUP", "I know no group with this id.")
GROUP_INVITATION = Sentence("GROUP_INVITATION", "(an invitation: I accept it once `ACCESS__GROUPS` has this id)")
BRIDGE_SILENT = Sentence("BRIDGE_SILENT", "The bridge to Signal isn't answering. Please try again in a minute.")
NOBODY_TO_TELL = Sentence("NOBODY_TO_TELL", "There's no one to send that to.")
ABOUT_HELP = Sentence("ABOUT_HELP", "lists the commands, or explains one.")
ABOUT_STOP = Sentence("ABOUT_STOP", "stops the answer I'm working on.")
ABOUT_FORGET = Sentence(
    "ABOUT_FORGET", "deletes what was said and planned here, or everything of yours everywhere, for good."
)
ABOUT_NEW = Sentence("ABOUT_NEW", "starts a new conversation: I won't read what was said before.")
ABOUT_RETRY = Sentence("ABOUT_RETRY", "answers your last question again.")
ABOUT_UNDO = Sentence("ABOUT_UNDO", "takes back your last question and its answer.")
ABOUT_MODEL = Sentence("ABOUT_MODEL", "shows the models, or chooses one for this chat.")
ABOUT_TOOLS = Sentence("ABOUT_TOOLS", "shows my tools, or switches one on or off for this chat.")
ABOUT_LANGUAGE = Sentence("ABOUT_LANGUAGE", "chooses the language I speak here.")
ABOUT_WHOAMI = Sentence("ABOUT_WHOAMI", "shows who you are to me.")
ABOUT_ALWAYS = Sentence("ABOUT_ALWAYS", "makes me answer every message in a group, or only those addressed to me.")
ABOUT_WHO = Sentence(
    "ABOUT_WHO",
    "says who may ask me in this group: everybody in it, only the admins, or only those who may write to me directly.",
)
ABOUT_PAUSE = Sentence("ABOUT_PAUSE", "pauses me in this chat: I only react to commands.")
ABOUT_RESUME = Sentence("ABOUT_RESUME", "ends the pause.")
ABOUT_ALLOW = Sentence("ABOUT_ALLOW", "lets in the person who was given this code.")
ABOUT_DENY = Sentence("ABOUT_DENY", "shuts a person out again.")
ABOUT_PEOPLE = Sentence("ABOUT_PEOPLE", "shows who was let in, by whom, and when.")
ABOUT_GROUPS = Sentence(
    "ABOUT_GROUPS", "shows the groups I'm in, with their ids for the settings, or deletes what was said in one."
)
ABOUT_BROADCAST = Sentence("ABOUT_BROADCAST", "sends a message to every chat, after you confirm it.")
_ALL_FORGOTTEN = Sentence(
    "ALL_FORGOTTEN", "Deleted for good, here and elsewhere: {what}. What it cost stays in my books, without any words."
)
BROADCAST_ASKS = Sentence("BROADCAST_ASKS", "That goes to {chats}: {text}\n\nSend it?")
BROADCAST_PEOPLE = Sentence("BROADCAST_PEOPLE", "{count} person", "{count} people")
BROADCAST_GROUPS = Sentence("BROADCAST_GROUPS", "{count} group", "{count} groups")
BROADCAST_DONE = Sentence("BROADCAST_DONE", "On its way to {count} chat.", "On its way to {count} chats.")
_FORGOTTEN = Sentence("FORGOTTEN", "Deleted for good: {what}.")
NOTHING_TO_FORGET = Sentence("NOTHING_TO_FORGET", "There's nothing to delete.")
FORGET_ALL_ADMINS = Sentence(
    "FORGET_ALL_ADMINS", "Only an admin can delete everything in this group. `/forget` deletes what is yours."
)
_FORGET_ASKS_HERE = Sentence("FORGET_ASKS_HERE", "That deletes {what} from this chat, for good. Shall I?")
_FORGET_ASKS_OWN = Sentence("FORGET_ASKS_OWN", "That deletes {what} of yours in this group, for good. Shall I?")
_FORGET_ASKS_EVERYTHING = Sentence(
    "FORGET_ASKS_EVERYTHING", "That deletes {what}, everything of yours here and elsewhere, for good. Shall I?"
)
_SETTINGS_GONE = Sentence("SETTINGS_GONE", "the settings")
_REMINDERS_GONE = Sentence("REMINDERS_GONE", "{count} reminder", "{count} reminders")
_FACTS_GONE = Sentence("FACTS_GONE", "{count} thing I was to remember", "{count} things I was to remember")
_WATCHES_GONE = Sentence("WATCHES_GONE", "{count} watch", "{count} watches")
_PREDICTIONS_GONE = Sentence("PREDICTIONS_GONE", "{count} prediction", "{count} predictions")
GUEST = Sentence("GUEST", "{name}: let in by {by} on {day}")
GUEST_BY_PAGE = Sentence("GUEST_BY_PAGE", "{name}: let in on the page on {day}")
LANGUAGE_SET = Sentence("LANGUAGE_SET", "I'll speak English here from now on.")
LET_IN = Sentence("LET_IN", "{name} can write to me now. (`/deny {word}` undoes it.)")
MODEL_NOW = Sentence("MODEL_NOW", "{model} answers here.")
MODEL_OTHERS = Sentence(
    "MODEL_OTHERS",
    "To choose from:\n{models}\n\n`/model 2` or a part of the name chooses; `/model default` goes back to the first.",
)
NO_SUCH_MODEL_HERE = Sentence("NO_SUCH_MODEL_HERE", "There is no model “{name}” here; `/model` shows them all.")
SHUT_OUT = Sentence("SHUT_OUT", "{name} can't write to me anymore.")
TOOLS_OFF_NOW = Sentence("TOOLS_OFF_NOW", "Switched off here: {names}.")
TOOLS_ON_NOW = Sentence("TOOLS_ON_NOW", "Switched on here: {names}.")
NO_SUCH_TOOL = Sentence("NO_SUCH_TOOL", "I have no tool called “{name}”; `/tools` shows them all.")
LIST_ON = Sentence("LIST_ON", "- {name}: on")
LIST_OFF = Sentence("LIST_OFF", "- {name}: off")
LIST_UNABLE = Sentence("LIST_UNABLE", "- {name}: can't run on this machine")
LIST_ABSENT = Sentence("LIST_ABSENT", "- {name} (several tools): does not answer at the moment")
_UNKNOWN_COMMAND = Sentence(
    "UNKNOWN_COMMAND",
    "I don't know the command `/{name}`. Just ask me in your own words; `/help` shows the commands that I know.",
)
_DID_YOU_MEAN = Sentence("DID_YOU_MEAN", "I don't know the command `/{name}`. Did you mean {names}?")
_WHICH = Sentence("WHICH", "“{word}” could mean {names}. Please write which one.")
UNDONE = Sentence("UNDONE", "Undone: “{question}”")
WHO_ADMIN = Sentence("WHO_ADMIN", "You're one of my admins.")
WHO_IN_GROUP = Sentence("WHO_IN_GROUP", "We're in the group {group}.")
WHO_NAME = Sentence("WHO_NAME", "Your name here: {name}")
WHO_UUID = Sentence("WHO_UUID", "Your id, for the lists of who may write: `{person}`")
WRONG_FORM = Sentence("WRONG_FORM", "Please write it like this: {examples}")
NO_LONGER_ALLOWED = Sentence("NO_LONGER_ALLOWED", "I'll ask you about {tool} again.")
NOT_ALLOWED = Sentence("NOT_ALLOWED", "You haven't allowed any tool of that name here.")
HELP_SECTIONS: Mapping[str, Sentence] = {
    "chat": Sentence("HELP_CHAT", "**Answers:** {names}"),
    "later": Sentence("HELP_LATER", "**Reminders and memory:** {names}"),
    "settings": Sentence("HELP_SETTINGS", "**This chat:** {names}"),
    "data": Sentence("HELP_DATA", "**You and your data:** {names}"),
    "admins": Sentence("HELP_ADMINS", "**Admins:** {names}"),
}


def unknown_command(name: str, near: Sequence[str] = ()) -> str:
    """The reply to a command that does not exist, or not for this person; `near` are the ones that may be meant."""
    if not near:
        return say(_UNKNOWN_COMMAND, name=name)
    return say(_DID_YOU_MEAN, name=name, names=join_list([f"`/{one}`" for one in near], "or"))


def which(word: str, near: Sequence[str]) -> str:
    """The reply to a word that can mean several things."""
    return say(_WHICH, word=word, names=join_list([f"`{one}`" for one in near], "or"))


def forget_asks(what: Literal["here", "own", "everything"], erased: Erasure) -> str:
    """The question before what cannot be taken back; `erased` is what would go."""
    asks = {"here": _FORGET_ASKS_HERE, "own": _FORGET_ASKS_OWN, "everything": _FORGET_ASKS_EVERYTHING}
    return say(asks[what], what=_destroyed(erased))


def forget_reply(erased: Erasure, *, everywhere: bool = False) -> str:
    """The reply to `/forget` and `/groups forget`."""
    return say(_ALL_FORGOTTEN if everywhere else _FORGOTTEN, what=_destroyed(erased))


def _destroyed(erased: Erasure) -> str:
    """What was destroyed; if nothing was said or planned, the settings."""
    counts = (
        (ANSWERS, erased.turns),
        (_REMINDERS_GONE, erased.reminders),
        (_FACTS_GONE, erased.facts),
        (_PREDICTIONS_GONE, erased.predictions),
        (_WATCHES_GONE, erased.watches),
    )
    parts = [say(sentence, count=count) for sentence, count in counts if count]
    return join_list(parts) or say(_SETTINGS_GONE)
