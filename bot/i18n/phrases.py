"""Every sentence that people hear from Aldis itself, in one place. Plain words that say what to do.

They stand here in English, as constants; those with places to fill in have a function beside them that does. The other
languages are gettext catalogues (`bot.i18n.catalogues`), where each is found by its name. The functions speak the
language that is spoken now (`bot.i18n.locale`); a constant is put into it by `say`.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal

from bot.errors import BadKey, ContextTooLong, NoSuchModel, Overloaded, ProviderError, Rejected, Unavailable
from bot.i18n.catalogues import Sentence, say
from bot.i18n.locale import amount, day, join_list, moment, number, quotation, short_weekday
from bot.labels import Source, SourceKind

_MAX_EXAMPLES = 3
_MAX_CAUSES = 3
"""So many causes are named in a question; of more it is only said that there are."""

OVERLOADED = Sentence("OVERLOADED", "The language model is too busy right now. Please ask again in a minute.")
UNAVAILABLE = Sentence("UNAVAILABLE", "I can't reach the language model right now. Please ask again in a few minutes.")
BAD_KEY = Sentence(
    "BAD_KEY",
    "The language model won't let me in. Whoever runs me needs to check the key or the account; nothing "
    "else will help.",
)
NO_SUCH_MODEL = Sentence(
    "NO_SUCH_MODEL",
    "I can't find the language model I'm set up to use. Whoever runs me has to fix that in my settings; "
    "there's nothing wrong with your message.",
)
REJECTED = Sentence(
    "REJECTED",
    "The language model refused this request. Please rephrase it, or ask for something shorter.",
)
TOO_LONG = Sentence(
    "TOO_LONG",
    "That's more text than the language model can take at once. Please send a shorter message, or start "
    "over with `/new`.",
)
REFUSED = Sentence("REFUSED", "The language model declined to answer that.")
NOTHING_SAID = Sentence("NOTHING_SAID", "I have nothing to say to that. Please put it another way.")
OFFLINE_NOT_UNDERSTOOD = Sentence("OFFLINE_NOT_UNDERSTOOD", "I didn't understand “{words}”.")
OFFLINE_WAY_OUT = Sentence(
    "OFFLINE_WAY_OUT",
    "That takes a language model, and none is set up. Ask “what can you do?” to see what works without one.",
)
_OFFLINE_HELLO = Sentence("OFFLINE_HELLO", "Hello!")
OFFLINE_WELCOME = Sentence("OFFLINE_WELCOME", "You're welcome.")
_OFFLINE_SELF = Sentence(
    "OFFLINE_SELF",
    "No language model is set up, so I can't hold a conversation. Simple requests work, though:",
)
_OFFLINE_HOW_TO = Sentence(
    "OFFLINE_HOW_TO",
    "`/help` shows the commands. For real answers, whoever runs me sets `ANTHROPIC_API_KEY`, "
    "`OPENAI_API_KEY` or, for a compatible server such as Ollama, `OPENAI_BASE_URL`, and starts me again.",
)
OFFLINE_PRIVACY = Sentence(
    "OFFLINE_PRIVACY",
    "`/forget` deletes what was said in this chat, `/forget everything` all that you ever asked, and "
    "`/export` shows what I keep.",
)
OFFLINE_NO_TOOLS = Sentence("OFFLINE_NO_TOOLS", "Right now all my tools are switched off, so even those don't work.")
OFFLINE_WHICH_PLACE = Sentence("OFFLINE_WHICH_PLACE", "For which place? Ask for “weather in Paris tomorrow”, say.")
OFFLINE_NO_MORE_TOOLS = Sentence(
    "OFFLINE_NO_MORE_TOOLS",
    "I can't use my tools for this message, so I can't answer that.",
)
OFFLINE_BLIND = Sentence("OFFLINE_BLIND", "I can't look at pictures or read documents: that takes a language model.")
OFFLINE_TOOL_OFF = Sentence(
    "OFFLINE_TOOL_OFF",
    "My tool for {topic} is switched off here; `/tools` shows how things stand.",
)
_TOPIC_CALCULATE = Sentence("TOPIC_CALCULATE", "arithmetic")
_TOPIC_CONVERT = Sentence("TOPIC_CONVERT", "units and money")
_TOPIC_WEATHER = Sentence("TOPIC_WEATHER", "the weather")
_TOPIC_TIME = Sentence("TOPIC_TIME", "the time")
_TOPIC_SEARCH = Sentence("TOPIC_SEARCH", "searching the web")
_TOPIC_REMIND = Sentence("TOPIC_REMIND", "reminders")
_TOPIC_REMEMBER = Sentence("TOPIC_REMEMBER", "remembering things")
OFFLINE_TIME = Sentence("OFFLINE_TIME", "It's **{time}** in {place} ({day}, {zone}).")
OFFLINE_TIME_HERE = Sentence("OFFLINE_TIME_HERE", "It's **{time}** ({day}, {zone}).")
OFFLINE_NOW = Sentence("OFFLINE_NOW", "**{place}** now: {conditions}")
OFFLINE_FEELS = Sentence("OFFLINE_FEELS", "{temperature} (feels like {felt})")
OFFLINE_HUMIDITY = Sentence("OFFLINE_HUMIDITY", "humidity {value}")
OFFLINE_WIND = Sentence("OFFLINE_WIND", "wind {value}")
OFFLINE_RANGE = Sentence("OFFLINE_RANGE", "{low} to {high}")
OFFLINE_RAIN = Sentence("OFFLINE_RAIN", "{value} of rain or snow")
OFFLINE_LIKELY = Sentence("OFFLINE_LIKELY", "{value} likely")
OFFLINE_OTHER_PLACES = Sentence("OFFLINE_OTHER_PLACES", "Other places of that name: {places}.")
OFFLINE_SEVERAL = Sentence("OFFLINE_SEVERAL", "There are several places called “{place}”:")
OFFLINE_REGION = Sentence("OFFLINE_REGION", "Ask again with the region or the country behind the name.")
OFFLINE_FOUND = Sentence("OFFLINE_FOUND", "{source} on “{query}”:")
OFFLINE_NO_HITS = Sentence("OFFLINE_NO_HITS", "I found nothing about “{query}”; try other words.")
_OFFLINE_THE_SEARCH = Sentence("OFFLINE_THE_SEARCH", "The search")
OFFLINE_RATE = Sentence("OFFLINE_RATE", "{rate} on {day}. {source}")
OFFLINE_ANSWERS = Sentence("OFFLINE_ANSWERS", "`{name}` answers: {content}")
OFFLINE_FORGOTTEN = Sentence("OFFLINE_FORGOTTEN", "Forgotten.")
OFFLINE_NO_SUM = Sentence("OFFLINE_NO_SUM", "I can't calculate `{value}`.")
OFFLINE_NO_CONVERSION = Sentence("OFFLINE_NO_CONVERSION", "I can't convert {value}.")
OFFLINE_NO_TIME = Sentence("OFFLINE_NO_TIME", "I can't tell the time in {value}.")
OFFLINE_NO_WEATHER = Sentence("OFFLINE_NO_WEATHER", "I have no weather for {value}.")
OFFLINE_NO_SEARCH = Sentence("OFFLINE_NO_SEARCH", "The search for “{value}” failed.")
OFFLINE_FAILED = Sentence("OFFLINE_FAILED", "`{value}` failed.")
FOUND_ALONE = Sentence("FOUND_ALONE", "The language model couldn't put it into words, so here's what I looked up.")
NO_WORDS_LEFT = Sentence(
    "NO_WORDS_LEFT",
    "The answer was too long for me to send. Please ask for something shorter, or for one part of it.",
)
CUT_OFF = Sentence("CUT_OFF", "… (cut off here: the answer got too long)")
CUT_PARTS = Sentence("CUT_PARTS", "… (cut: the answer was too long for a chat; ask for the rest)")
FILES_NOT_SENT = Sentence("FILES_NOT_SENT", "(There was a file to go with this, but Signal wouldn't take it.)")
SHORTENED_IN_FILE = Sentence("SHORTENED_IN_FILE", "(What is shortened here stands in the file in full.)")
REST_IN_FILE = Sentence("REST_IN_FILE", "… (too long for one message: it's all in the file)")
TOOK_TOO_LONG = Sentence(
    "TOOK_TOO_LONG",
    "That was taking too long, so I stopped. Please try again, or ask for a smaller step.",
)
STOPPED = Sentence("STOPPED", "Stopped.")
FAILED = Sentence("FAILED", "Something went wrong on my end and I couldn't answer. It's been noted; please ask again.")
GAVE_UP = Sentence(
    "GAVE_UP",
    "I tried several times to answer your last message and couldn't. It's been noted; please ask again.",
)
MESSAGE_EXPIRED = Sentence(
    "MESSAGE_EXPIRED",
    "Your message disappeared before I could answer it: its timer ran out. Please ask again.",
)
ANSWER_EXPIRED = Sentence(
    "ANSWER_EXPIRED",
    "My answer disappeared before it could be sent: the timer of your message ran out. Please ask again.",
)
TOO_OLD = Sentence(
    "TOO_OLD",
    "I was offline when you wrote this, and it's too old now to answer as if it were new. Please send it "
    "again if it still matters.",
)
TOO_MANY = Sentence(
    "TOO_MANY",
    "That's more messages in a minute than I can take from you. I'm skipping the next ones; please wait a minute.",
)
QUEUE_FULL = Sentence(
    "QUEUE_FULL",
    "Too many messages are waiting here already. I'm skipping the next ones until I've caught up.",
)

BUDGET_PERSON_DAY = Sentence("BUDGET_PERSON_DAY", "You've used up today's budget. It renews tomorrow.")
BUDGET_PERSON_MONTH = Sentence("BUDGET_PERSON_MONTH", "You've used up this month's budget. It renews on the first.")
BUDGET_PERSON_NONE = Sentence(
    "BUDGET_PERSON_NONE",
    "There's no budget for you, so I can't ask the language model. Whoever runs me can change that.",
)
BUDGET_GROUP_DAY = Sentence("BUDGET_GROUP_DAY", "This group has used up today's budget. It renews tomorrow.")
BUDGET_GROUP_MONTH = Sentence(
    "BUDGET_GROUP_MONTH",
    "This group has used up this month's budget. It renews on the first.",
)
BUDGET_GROUP_NONE = Sentence(
    "BUDGET_GROUP_NONE",
    "There's no budget for this group, so I can't ask the language model. Whoever runs me can change that.",
)
BUDGET_ALL_DAY = Sentence("BUDGET_ALL_DAY", "My budget is used up for today. It renews tomorrow.")
BUDGET_ALL_MONTH = Sentence("BUDGET_ALL_MONTH", "My budget for this month is used up. It renews on the first.")
BUDGET_ALL_NONE = Sentence(
    "BUDGET_ALL_NONE",
    "I have no budget at all, so I can't ask the language model. Whoever runs me can change that.",
)
HELP = Sentence(
    "HELP",
    "Just write to me as you would to a person. There are commands, too; `/help remind` explains one of them.",
)
UNATTENDED = Sentence("UNATTENDED", "Nobody was around to say yes, so I haven't done this. Message me if you want it.")
TAKES_PLACE = Sentence("TAKES_PLACE", "(This replaces what I asked you before.)")
WHICH_QUESTION = Sentence(
    "WHICH_QUESTION",
    "I've asked you several things. Put 👍 or 👎 on the one you mean, or quote it.",
)
NOTHING_TO_STOP = Sentence("NOTHING_TO_STOP", "I'm not working on anything here.")
UNKNOWN_CODE = Sentence(
    "UNKNOWN_CODE",
    "I don't know that code; it may have expired after an hour. Whoever wants in can message me again for a new one.",
)
UNKNOWN_PERSON = Sentence("UNKNOWN_PERSON", "I haven't let in anybody with that label; `/people` shows whom I have.")
NOBODY_LET_IN = Sentence("NOBODY_LET_IN", "Nobody has been let in with a code yet.")
BEGUN_ANEW = Sentence(
    "BEGUN_ANEW",
    "New conversation: I won't read anything from before. It's kept until you delete it with `/forget`.",
)
NOTHING_TO_REPEAT = Sentence("NOTHING_TO_REPEAT", "There's no question of yours here to answer again.")
STILL_ANSWERING = Sentence("STILL_ANSWERING", "I'm still working on that one. `/stop` cancels it.")
NOTHING_TO_UNDO = Sentence("NOTHING_TO_UNDO", "There's nothing to undo.")
NO_TRANSCRIPT = Sentence("NO_TRANSCRIPT", "I haven't had a voice note here.")
NO_PERSONA = Sentence("NO_PERSONA", "No persona is set here. `/persona TEXT` sets one.")
PERSONA_OFF = Sentence("PERSONA_OFF", "Done, I'm back to my usual self.")
NO_MODEL_CHOICE = Sentence("NO_MODEL_CHOICE", "There's only one model here, so there's nothing to choose.")
NO_TOOLS = Sentence("NO_TOOLS", "I have no tools here.")
LANGUAGE_BY_MESSAGE = Sentence(
    "LANGUAGE_BY_MESSAGE",
    "I'll speak whatever language you write in, as long as I know it.",
)
ONLY_IN_GROUPS = Sentence("ONLY_IN_GROUPS", "That only works in groups.")
ONLY_DIRECTLY = Sentence("ONLY_DIRECTLY", "I only do that in our own chat, not in a group.")
ALWAYS_ON = Sentence("ALWAYS_ON", "From now on I'll answer every message here.")
ALWAYS_OFF = Sentence("ALWAYS_OFF", "From now on I'll only answer here when you address me.")
ASKERS_ALL = Sentence("ASKERS_ALL", "Everybody in this group can ask me.")
ASKERS_ADMINS = Sentence("ASKERS_ADMINS", "In this group only my admins can ask me.")
ASKERS_LIST = Sentence("ASKERS_LIST", "In this group only people who can also write to me directly can ask me.")
PAUSED = Sentence(
    "PAUSED",
    "Paused. Until `/resume` I only react to commands here; what's asked meanwhile stays unanswered.",
)
IS_PAUSED = Sentence("IS_PAUSED", "I'm paused here, so I'm not answering. An admin can write `/resume`.")
IS_TAKEN_OVER = Sentence("IS_TAKEN_OVER", "Somebody is answering here in person at the moment, so I'm keeping quiet.")
RESUMED = Sentence("RESUMED", "Resumed.")
NO_GROUPS = Sentence("NO_GROUPS", "I'm not in any group.")
BRIDGE_SILENT = Sentence(
    "BRIDGE_SILENT",
    "The bridge to Signal isn't answering, so I can't check that right now. Please try again in a minute.",
)
NOBODY_TO_TELL = Sentence("NOBODY_TO_TELL", "There's nobody to send that to.")
UNKNOWN_LABEL = Sentence(
    "UNKNOWN_LABEL",
    "I don't know anybody with that label or id. People see theirs with `/whoami`.",
)
NO_BROADCAST = Sentence("NO_BROADCAST", "There's nothing to send; write `/broadcast TEXT` first.")
WHO_DIRECTLY = Sentence("WHO_DIRECTLY", "This is our own chat.")
STATUS_ANSWERING = Sentence("STATUS_ANSWERING", "I'm working on an answer here.")
STATUS_PAUSED = Sentence("STATUS_PAUSED", "I'm paused here.")
STATUS_ALWAYS = Sentence("STATUS_ALWAYS", "I answer every message here.")
STATUS_PERSONA = Sentence("STATUS_PERSONA", "A persona is set.")

ABOUT_HELP = Sentence("ABOUT_HELP", "lists the commands, or explains one.")
_HELP_CHAT = Sentence("HELP_CHAT", "**Answers:** {names}")
_HELP_LATER = Sentence("HELP_LATER", "**Reminders and memory:** {names}")
_HELP_SETTINGS = Sentence("HELP_SETTINGS", "**This chat:** {names}")
_HELP_DATA = Sentence("HELP_DATA", "**You and your data:** {names}")
_HELP_ADMINS = Sentence("HELP_ADMINS", "**Admins:** {names}")
_GREETING = Sentence(
    "GREETING",
    "Hello! I'm {name}, your assistant here on Signal. Just write to me as you would to a person.",
)
_GREETING_TRY = Sentence("GREETING_TRY", "Try {examples}")
GREETING_MORE = Sentence("GREETING_MORE", "`/help` shows what else I can do, and `/forget` deletes what we said.")
_TRY_WEATHER = Sentence("TRY_WEATHER", "Will it rain in Paris tomorrow?")
_TRY_REMIND = Sentence("TRY_REMIND", "Remind me in 10 minutes to turn off the oven")
_TRY_SEARCH = Sentence("TRY_SEARCH", "Search for lighthouses")
_TRY_CONVERT = Sentence("TRY_CONVERT", "How many km are 26 miles?")
_TRY_CALCULATE = Sentence("TRY_CALCULATE", "What is 17*23?")
_TRY_TIME = Sentence("TRY_TIME", "What time is it in Tokyo?")
_TRY_REMEMBER = Sentence("TRY_REMEMBER", "Remember that I live in Lyon")
_TRY_IMAGE = Sentence("TRY_IMAGE", "Draw a lighthouse in the fog")
ABOUT_STOP = Sentence("ABOUT_STOP", "stops the answer I'm working on.")
ABOUT_FORGET = Sentence("ABOUT_FORGET", "deletes what was said here, or everything of yours everywhere, for good.")
ABOUT_EXPORT = Sentence("ABOUT_EXPORT", "shows what I keep about you.")
ABOUT_USAGE = Sentence("ABOUT_USAGE", "shows what has been spent, and what is left.")
ABOUT_NEW = Sentence("ABOUT_NEW", "starts a new conversation: I won't read what was said before.")
ABOUT_RETRY = Sentence("ABOUT_RETRY", "answers your last question again.")
ABOUT_UNDO = Sentence("ABOUT_UNDO", "takes back your last question and its answer.")
ABOUT_TRANSCRIPT = Sentence("ABOUT_TRANSCRIPT", "shows the last voice note as text.")
ABOUT_MODEL = Sentence("ABOUT_MODEL", "shows the models, or chooses one for this chat.")
ABOUT_PERSONA = Sentence("ABOUT_PERSONA", "tells me what to be like in this chat, or shows it.")
ABOUT_TOOLS = Sentence("ABOUT_TOOLS", "shows my tools, or switches one on or off for this chat.")
ABOUT_LANGUAGE = Sentence("ABOUT_LANGUAGE", "chooses the language I speak here.")
ABOUT_STATUS = Sentence("ABOUT_STATUS", "shows what I'm doing here and what is set.")
ABOUT_WHOAMI = Sentence("ABOUT_WHOAMI", "shows who you are to me.")
ABOUT_ALWAYS = Sentence("ABOUT_ALWAYS", "makes me answer every message in a group, or only those addressed to me.")
ABOUT_WHO = Sentence(
    "ABOUT_WHO",
    "says who may ask me in this group: everybody in it, only the admins, or only those who may write to me directly.",
)
ABOUT_PAUSE = Sentence("ABOUT_PAUSE", "pauses me in this chat: I only react to commands.")
ABOUT_RESUME = Sentence("ABOUT_RESUME", "ends the pause.")
ABOUT_TAKEOVER = Sentence(
    "ABOUT_TAKEOVER",
    "lets you answer in person for a while: I drop the answer I'm working on and keep quiet.",
)
ABOUT_ALLOW = Sentence("ABOUT_ALLOW", "lets in the person who was given this code.")
ABOUT_DENY = Sentence("ABOUT_DENY", "shuts somebody out again; `/people` shows the labels.")
ABOUT_PEOPLE = Sentence("ABOUT_PEOPLE", "shows who was let in with a code.")
ABOUT_GROUPS = Sentence("ABOUT_GROUPS", "shows the groups I'm in, with their ids for the settings.")
ABOUT_BUDGET = Sentence("ABOUT_BUDGET", "shows the budgets and what has been spent, by everybody or by one person.")
ABOUT_BROADCAST = Sentence("ABOUT_BROADCAST", "sends a message to every chat, after you confirm it.")

_ALL_FORGOTTEN = Sentence("ALL_FORGOTTEN", "Deleted: {what}. What it cost stays in my books, without any words.")
_ALL_OF_NOTHING = Sentence("ALL_OF_NOTHING", "nothing, as there was nothing")
_ALL_OF_SOME = Sentence("ALL_OF_SOME", "{answers}, everything you ever asked here and elsewhere")
_YES_OR_NO = Sentence("YES_OR_NO", "Just say yes or no, or put 👍 or 👎 on this message.")
_BROADCAST_ASKS = Sentence(
    "BROADCAST_ASKS",
    "That goes to {people} direct chats and {groups} groups. `/broadcast yes` within ten minutes sends it: {text}",
)
_BROADCAST_DONE = Sentence("BROADCAST_DONE", "On its way to {count} chats.")
_BUDGET_LINE = Sentence("BUDGET_LINE", "{spent} of {limit} USD")
_CALLS_COST = Sentence("CALLS_COST", "That costs {cost} USD.")
_FORGOT = Sentence(
    "FORGOT",
    "Deleted: {answers} from this conversation, along with the key. Nobody can read them again.",
)
_INVITATION = Sentence(
    "INVITATION",
    "To use me, ask the person who runs this bot to confirm this code: {code}. It's good for an hour.",
)
_GUEST = Sentence("GUEST", "{label}: since {day}, by {by}")
_KEPT_FACT = Sentence("KEPT_FACT", "I remember: {fact}")
_KEPT_REMINDER = Sentence("KEPT_REMINDER", "A reminder, next on {when}: {text}")
_KEPT_PREDICTION = Sentence("KEPT_PREDICTION", "You predicted, {percent} % likely by {day}: {statement}")
_KEPT_IN_FILE = Sentence(
    "KEPT_IN_FILE",
    "I've kept {answers}, encrypted. The page is for reading; the other file has the same for programs.",
)
_KEPT_PARTLY_IN_FILE = Sentence(
    "KEPT_PARTLY_IN_FILE",
    "I've kept {answers}, encrypted. The newest {count} are in the files; whoever runs me can give you all of them.",
)
_KEPT_UNANSWERED = Sentence("KEPT_UNANSWERED", "You asked, and I couldn't answer: {question}")
_KEPT_NOTHING = Sentence("KEPT_NOTHING", "I've kept nothing of what you asked.")
_KEPT_SOME = Sentence("KEPT_SOME", "I've kept {answers}, encrypted. Newest first:")
_EXPORT_TITLE = Sentence("EXPORT_TITLE", "What {name} keeps about you")
_PICTURE_LEFT_OUT = Sentence("PICTURE_LEFT_OUT", "(a picture, left out because the page would be too large)")
_LANGUAGE_SET = Sentence("LANGUAGE_SET", "I'll speak English here from now on.")
_LET_IN = Sentence("LET_IN", "Done, {label} can write to me now. `/deny {label}` takes it back.")
_MAY_I = Sentence("MAY_I", "May I do this?")
_BECAUSE = Sentence("BECAUSE", "I'm asking because of {causes}.")
_CAUSE_PAGE = Sentence("CAUSE_PAGE", "the page at {name} that I read earlier")
_CAUSE_SEARCH = Sentence("CAUSE_SEARCH", "what I found on the web earlier")
_CAUSE_TOOL = Sentence("CAUSE_TOOL", "what {name} told me earlier")
_CAUSE_FILE = Sentence("CAUSE_FILE", "your file {name}")
_CAUSE_UNNAMED_FILE = Sentence("CAUSE_UNNAMED_FILE", "a file of yours")
_CAUSE_VOICE = Sentence("CAUSE_VOICE", "your voice message, which anybody may have recorded")
_CAUSE_PERSON = Sentence("CAUSE_PERSON", "what {name} wrote")
_CAUSE_SOMEBODY = Sentence("CAUSE_SOMEBODY", "what somebody else wrote")
_CAUSE_TALK = Sentence("CAUSE_TALK", "what others said here")
_CAUSE_UNKNOWN = Sentence("CAUSE_UNKNOWN", "what I read some time ago")
_FROM_WEB = Sentence("FROM_WEB", "from the web")
_FROM_FILE = Sentence("FROM_FILE", "from your file")
_FROM_VOICE = Sentence("FROM_VOICE", "from a voice message")
_FROM_OTHERS = Sentence("FROM_OTHERS", "from what others wrote")
_FROM_TOOL = Sentence("FROM_TOOL", "from {name}")
_FROM_UNKNOWN = Sentence("FROM_UNKNOWN", "source no longer known")
_MODEL_NOW = Sentence("MODEL_NOW", "{model} answers here.")
_MODEL_OTHERS = Sentence(
    "MODEL_OTHERS",
    "To choose from:\n{models}\n\n`/model 2` or a part of the name chooses; `/model default` goes back to the first.",
)
_NO_SUCH_MODEL_HERE = Sentence("NO_SUCH_MODEL_HERE", "There is no model “{name}” here; `/model` shows them all.")
_NEARLY_PERSON_DAY = Sentence("NEARLY_PERSON_DAY", "(You've used {percent} % of today's budget.)")
_NEARLY_PERSON_MONTH = Sentence("NEARLY_PERSON_MONTH", "(You've used {percent} % of this month's budget.)")
_NEARLY_GROUP_DAY = Sentence("NEARLY_GROUP_DAY", "(This group has used {percent} % of today's budget.)")
_NEARLY_GROUP_MONTH = Sentence("NEARLY_GROUP_MONTH", "(This group has used {percent} % of this month's budget.)")
_NEARLY_ALL_DAY = Sentence("NEARLY_ALL_DAY", "(I've used {percent} % of today's budget.)")
_NEARLY_ALL_MONTH = Sentence("NEARLY_ALL_MONTH", "(I've used {percent} % of this month's budget.)")
_NO_LIMIT = Sentence("NO_LIMIT", "{spent} USD, no limit")
_ANSWERS = Sentence("ANSWERS", "{count} question and its answer", "{count} questions and their answers")
_PERSONA_NOW = Sentence("PERSONA_NOW", "My persona here: {text}")
_PERSONA_SET = Sentence("PERSONA_SET", "Done. From your next message on I'll be like that. `/persona off` ends it.")
_PERSONA_TIMED = Sentence("PERSONA_TIMED", "Done, until your message disappears. `/persona off` ends it sooner.")
_SHUT_OUT = Sentence("SHUT_OUT", "Done, {label} can't write to me anymore.")
_SPENT_BY_DAY = Sentence("SPENT_BY_DAY", "Spent by day, {month} (USD)")
_SPENT_PERSON = Sentence("SPENT_PERSON", "You")
_SPENT_GROUP = Sentence("SPENT_GROUP", "This group")
_SPENT_ALL = Sentence("SPENT_ALL", "Everybody")
_SPENT_PERSON_DAY = Sentence("SPENT_PERSON_DAY", "You, today: {amount}")
_SPENT_PERSON_MONTH = Sentence("SPENT_PERSON_MONTH", "You, this month: {amount}")
_SPENT_GROUP_DAY = Sentence("SPENT_GROUP_DAY", "This group, today: {amount}")
_SPENT_GROUP_MONTH = Sentence("SPENT_GROUP_MONTH", "This group, this month: {amount}")
_SPENT_ALL_DAY = Sentence("SPENT_ALL_DAY", "Everybody, today: {amount}")
_SPENT_ALL_MONTH = Sentence("SPENT_ALL_MONTH", "Everybody, this month: {amount}")
_SPENT_FREELY = Sentence("SPENT_FREELY", "{cost} USD")
_SPENT_OF = Sentence("SPENT_OF", "{cost} of {limit} USD, {left} left")
_AMOUNT_ALL_DAY = Sentence("AMOUNT_ALL_DAY", "All together, today: {amount}")
_AMOUNT_ALL_MONTH = Sentence("AMOUNT_ALL_MONTH", "All together, this month: {amount}")
_AMOUNT_PERSON_DAY = Sentence("AMOUNT_PERSON_DAY", "{label}, today: {amount}")
_AMOUNT_PERSON_MONTH = Sentence("AMOUNT_PERSON_MONTH", "{label}, this month: {amount}")
_BUDGET_EACH = Sentence(
    "BUDGET_EACH",
    "Each person: {day} a day, {month} a month. Each group: {group_day} a day, {group_month} a month.",
)
_LIMIT = Sentence("LIMIT", "{limit} USD")
_UNLIMITED = Sentence("UNLIMITED", "unlimited")
_PREDICTION_CAME_TRUE = Sentence("PREDICTION_CAME_TRUE", "It came true.")
_PREDICTION_DID_NOT = Sentence("PREDICTION_DID_NOT", "It did not come true.")
_PREDICTION_VOID = Sentence("PREDICTION_VOID", "Nobody can tell.")
_STATUS_MODEL = Sentence("STATUS_MODEL", "Model: {model}")
_STATUS_TAKEN = Sentence("STATUS_TAKEN", "An admin is answering here in person for another {duration}.")
_STATUS_ANSWERED = Sentence("STATUS_ANSWERED", "The last answer came from {model}.")
_STATUS_TOOLS = Sentence("STATUS_TOOLS", "Switched off: {tools}")
_TAKEN_OVER = Sentence(
    "TAKEN_OVER",
    "It's all yours for {duration}: I'm keeping quiet here. `/takeover off` brings me back.",
)
_TAKEN_OVER_OF = Sentence(
    "TAKEN_OVER_OF",
    "The chat with {label} is all yours for {duration}: I'm keeping quiet there. `/takeover {label} off` "
    "brings me back.",
)
_STATUS_WAITING = Sentence("STATUS_WAITING", "Waiting for an answer: {count}")
_STATUS_WORDS = Sentence("STATUS_WORDS", "Waiting for your yes or no: {count}")
_TOO_LONG_PERSONA = Sentence("TOO_LONG_PERSONA", "That's too long: a persona can have at most {most} characters.")
_TOOL_OFF = Sentence("TOOL_OFF", "{name} is switched off here.")
_TOOL_ON = Sentence("TOOL_ON", "{name} is switched on here.")
_TOOLS_OFF_NOW = Sentence("TOOLS_OFF_NOW", "Switched off here: {names}.")
_TOOLS_ON_NOW = Sentence("TOOLS_ON_NOW", "Switched on here: {names}.")
_NO_SUCH_TOOL = Sentence("NO_SUCH_TOOL", "I have no tool called “{name}”; `/tools` shows them all.")
_LIST_ON = Sentence("LIST_ON", "- {name}: on")
_LIST_OFF = Sentence("LIST_OFF", "- {name}: off")
_LIST_ABSENT = Sentence("LIST_ABSENT", "- {name} (several tools): does not answer at the moment")
_UNKNOWN_COMMAND = Sentence("UNKNOWN_COMMAND", "I don't know the command `/{name}`. `/help` shows those I do.")
_DID_YOU_MEAN = Sentence("DID_YOU_MEAN", "I don't know the command `/{name}`. Did you mean {names}?")
_WHICH = Sentence("WHICH", "“{word}” could mean {names}. Please write which one.")
_UNDONE = Sentence("UNDONE", "Taken back: “{question}”")
UNDONE_WORDLESS = Sentence("UNDONE_WORDLESS", "Taken back: your last message.")
_FROM_CACHE = Sentence("FROM_CACHE", "{percent} % of what the model read here in the last 30 days came from its cache.")
_UNPRICED = Sentence("UNPRICED", "{calls} calls this month have no known price and aren't included.")
_WHO_ADMIN = Sentence("WHO_ADMIN", "You're one of my admins.")
_WHO_IN_GROUP = Sentence("WHO_IN_GROUP", "We're in the group {group}.")
_WHO_LABEL = Sentence("WHO_LABEL", "Your label: {label}")
_WHO_NAME = Sentence("WHO_NAME", "Your name here: {name}")
_WHO_NOT_ADMIN = Sentence("WHO_NOT_ADMIN", "You're not one of my admins.")
_WHO_UUID = Sentence("WHO_UUID", "Your id, for the lists of who may write: `{person}`")
_WRONG_FORM = Sentence("WRONG_FORM", "Please write it like this: `{form}`")

ABOUT_TRUST = Sentence("ABOUT_TRUST", "shows whose safety number has changed, or trusts the new one.")
NO_SUSPECTS = Sentence("NO_SUSPECTS", "All safety numbers are trusted.")
NOT_SUSPECT = Sentence("NOT_SUSPECT", "Nobody with that label has a new safety number; `/trust` shows who does.")
TRUST_CHANGED_AGAIN = Sentence(
    "TRUST_CHANGED_AGAIN",
    "The safety number has changed again since I told you. `/trust` shows the newest one.",
)
TRUST_OWN = Sentence("TRUST_OWN", "That's your own safety number; somebody else has to trust it.")
TRUST_REFUSED = Sentence(
    "TRUST_REFUSED",
    "The bridge to Signal refused. If you gave me the number, it isn't the one I see.",
)
_IDENTITY_CHANGED = Sentence(
    "IDENTITY_CHANGED",
    "{name} has a new safety number. Usually that's a new phone; it can also be somebody who has taken "
    "over their phone number. Until it is trusted I can't read or answer them, and my answers wait. "
    "Check with them some other way, then write `/trust {label}`. `/trust` alone shows the new number, "
    "to compare.",
)
_PERSON_NAMED = Sentence("PERSON_NAMED", "{name} ({label})")
_SUSPECT = Sentence("SUSPECT", "{name}, since {when}: {number}")
_TRUSTED = Sentence("TRUSTED", "The new safety number of {name} is trusted now. What was waiting is on its way.")

ABOUT_MEMORY = Sentence("ABOUT_MEMORY", "shows what I remember about you, or deletes it.")
FACT = Sentence("FACT", "{number}. {fact}")
NOTHING_REMEMBERED = Sentence(
    "NOTHING_REMEMBERED",
    "I don't remember anything about you yet. Just ask me to remember something.",
)
FACT_FROM = Sentence("FACT_FROM", "{number}. {fact} ({origin})")
NO_SUCH_FACT = Sentence("NO_SUCH_FACT", "There's nothing with that number; `/memory` alone shows what I remember.")
FACTS_FORGOTTEN = Sentence("FACTS_FORGOTTEN", "Deleted from what I remember: {count}")

ABOUT_FEEDS = Sentence("ABOUT_FEEDS", "shows the news feeds I read; admins add and remove them.")
FEEDS_OFF = Sentence("FEEDS_OFF", "I'm not reading news feeds here: that's switched off, or this machine can't do it.")
NO_FEEDS = Sentence("NO_FEEDS", "I'm not reading any news feeds yet. An admin can add one with `/feeds add URL`.")
FEED_LINE = Sentence("FEED_LINE", "- {number}: {name}: read on {when} (articles kept: {count})")
FEED_LINE_WAITING = Sentence("FEED_LINE_WAITING", "- {number}: {name}: not read yet")
FEED_LINE_TROUBLE = Sentence(
    "FEED_LINE_TROUBLE",
    "- {number}: {name}: last read on {when} (articles kept: {count}). {why}",
)
FEED_LINE_USELESS = Sentence("FEED_LINE_USELESS", "- {number}: {name}: never read so far. {why}")
FEED_ADDED = Sentence("FEED_ADDED", "I'm reading {name} from now on. `/feeds` shows in a minute whether it works.")
FEED_KNOWN = Sentence("FEED_KNOWN", "I'm already reading that feed, or as many as I can.")
FEED_NO_ADDRESS = Sentence(
    "FEED_NO_ADDRESS",
    "That isn't a web address. It has to begin with https:// and mustn't contain a password.",
)
FEED_REMOVED = Sentence("FEED_REMOVED", "I've stopped reading {name} and deleted its articles.")
FEED_IS_SET = Sentence(
    "FEED_IS_SET",
    "{name} is in my settings. Whoever runs me can remove it there (TOOLS__NEWS__FEEDS).",
)
FEED_ONLY_ADMINS = Sentence("FEED_ONLY_ADMINS", "Only my admins can change which feeds I read.")
NO_SUCH_FEED = Sentence("NO_SUCH_FEED", "There's no feed with that number; `/feeds` alone shows them all.")
FEED_DENIED = Sentence("FEED_DENIED", "Its address leads somewhere I don't go, such as a private network.")
FEED_NO_HOST = Sentence("FEED_NO_HOST", "There's no site of that name.")
FEED_SLOW = Sentence("FEED_SLOW", "It takes too long to answer.")
FEED_TOO_LARGE = Sentence("FEED_TOO_LARGE", "It's too large for me.")
FEED_UNREADABLE = Sentence("FEED_UNREADABLE", "That isn't a feed I can read.")
FEED_UNREACHABLE = Sentence("FEED_UNREACHABLE", "It can't be reached.")
FEED_GONE = Sentence("FEED_GONE", "Its server says it's gone for good.")
FEED_STATUS = Sentence("FEED_STATUS", "Its server refuses it (status {status}).")
ABOUT_REMIND = Sentence(
    "ABOUT_REMIND",
    "reminds you later; on its own it shows your reminders. A TEXT that starts with `ask:` is asked as a "
    "question then.",
)
ABOUT_TIMEZONE = Sentence("ABOUT_TIMEZONE", "shows which time zone I use for you, or changes it.")
REMINDER = Sentence("REMINDER", "⏰ {text}")
REMINDER_LATE = Sentence("REMINDER_LATE", "⏰ {text}\n\n({late} late: I was offline.)")
REMINDER_WORDLESS = Sentence(
    "REMINDER_WORDLESS",
    "⏰ You wanted a reminder now. What it was about disappeared with your message.",
)
REMINDER_SET = Sentence("REMINDER_SET", "I'll remind you on {when}: {text}\n\n`/remind cancel {number}` cancels it.")
REMINDER_SET_AGAIN = Sentence(
    "REMINDER_SET_AGAIN",
    "I'll remind you {repeats}, next on {when}: {text}\n\n`/remind cancel {number}` cancels it.",
)
REMINDER_SHIFTED = Sentence("REMINDER_SHIFTED", "(The clocks skip that hour on that day, so it comes later.)")
REMINDER_LOSES_WORDS = Sentence(
    "REMINDER_LOSES_WORDS",
    "(Messages here disappear before then: I'll remind you, but won't know what about.)",
)
REMINDER_ZONE = Sentence("REMINDER_ZONE", "(I assumed your time zone is {zone}; `/timezone NAME` changes that.)")
REMINDER_LINE = Sentence("REMINDER_LINE", "- {number}: {when}: {text}")
REMINDER_LINE_AGAIN = Sentence("REMINDER_LINE_AGAIN", "- {number}: {when}, {repeats}: {text}")
REMINDER_NO_WORDS = Sentence("REMINDER_NO_WORDS", "(its text has disappeared)")
REMINDER_CANCELLED = Sentence("REMINDER_CANCELLED", "Cancelled: {text}")
NO_REMINDERS = Sentence("NO_REMINDERS", "You have no reminders here.")
NO_SUCH_REMINDER = Sentence(
    "NO_SUCH_REMINDER",
    "You have no reminder with that number here; `/remind` alone shows them all.",
)
TOO_MANY_REMINDERS = Sentence(
    "TOO_MANY_REMINDERS",
    "You have as many reminders as I can keep for one person. Please cancel one first.",
)
TIME_IS_OVER = Sentence("TIME_IS_OVER", "That time has already passed: it's {now}.")
TIME_TOO_FAR = Sentence("TIME_TOO_FAR", "That is more than five years away.")
NO_SUCH_TIME = Sentence("NO_SUCH_TIME", "That time doesn't exist.")
NO_SUCH_ZONE = Sentence(
    "NO_SUCH_ZONE",
    "I don't know that time zone. Name the nearest big city, like Berlin or New York.",
)
TIMEZONE = Sentence("TIMEZONE", "Your time zone is {zone}: it's {now}.")
EVERY_HOUR = Sentence("EVERY_HOUR", "every hour", "every {count} hours")
EVERY_DAY = Sentence("EVERY_DAY", "every day", "every {count} days")
EVERY_WEEK = Sentence("EVERY_WEEK", "every week", "every {count} weeks")
EVERY_MONTH = Sentence("EVERY_MONTH", "every month", "every {count} months")
EVERY_YEAR = Sentence("EVERY_YEAR", "every year", "every {count} years")

DEED_CALCULATE = Sentence("DEED_CALCULATE", "calculate {expression}")
DEED_CLOCK = Sentence("DEED_CLOCK", "look at the clock")
DEED_CONVERT = Sentence("DEED_CONVERT", "convert {amount} {unit} to {to}")
DEED_WEATHER = Sentence("DEED_WEATHER", "look up the weather in {place}")
DEED_SEARCH_WEB = Sentence("DEED_SEARCH_WEB", "search the web for {query}")
DEED_VERIFY = Sentence("DEED_VERIFY", "search the web for evidence on {claim}")
DEED_SEARCH_POSTS = Sentence("DEED_SEARCH_POSTS", "search X (Twitter) for {query}")
DEED_ENCYCLOPAEDIA = Sentence("DEED_ENCYCLOPAEDIA", "look up {article} in Wikipedia")
DEED_SEARCH_MARKETS = Sentence("DEED_SEARCH_MARKETS", "search prediction markets for {query}")
DEED_MARKET = Sentence("DEED_MARKET", "look up the prediction market {market}")
DEED_SEARCH_FEEDS = Sentence("DEED_SEARCH_FEEDS", "search the news feeds for {query}")
DEED_FEEDS = Sentence("DEED_FEEDS", "look through the news feeds")
DEED_PAGE = Sentence("DEED_PAGE", "read the page {url}")
DEED_DRAW = Sentence("DEED_DRAW", "have the image service draw {prompt}")
DEED_ROWS = Sentence("DEED_ROWS", "read the table {table} of the database {database}")
DEED_TABLES = Sentence("DEED_TABLES", "see which tables the databases have")
DEED_PREDICT = Sentence("DEED_PREDICT", "record your prediction, {percent} % likely by {due}: {statement}")
DEED_PREDICTION_CAME_TRUE = Sentence("DEED_PREDICTION_CAME_TRUE", "record that your prediction {number} came true")
DEED_PREDICTION_DID_NOT = Sentence("DEED_PREDICTION_DID_NOT", "record that your prediction {number} did not come true")
DEED_PREDICTION_VOID = Sentence(
    "DEED_PREDICTION_VOID",
    "record that nobody can tell how your prediction {number} turned out",
)
DEED_PREDICTION_OPEN = Sentence("DEED_PREDICTION_OPEN", "open your prediction {number} again")
DEED_PREDICTION_STRUCK = Sentence("DEED_PREDICTION_STRUCK", "strike your prediction {number} off the record")
DEED_PREDICTIONS = Sentence("DEED_PREDICTIONS", "look through your predictions")
DEED_CALIBRATION = Sentence("DEED_CALIBRATION", "work out how good your predictions were")
DEED_REMIND = Sentence("DEED_REMIND", "remind you {when}: {text}")
DEED_REMIND_ASK = Sentence("DEED_REMIND_ASK", "do this for you {when}: {prompt} (reminder: {text})")
DEED_REMIND_LIST = Sentence("DEED_REMIND_LIST", "look through your reminders")
DEED_REMIND_CANCEL = Sentence("DEED_REMIND_CANCEL", "cancel your reminder {number} (`/remind` shows it)")
DEED_REMIND_TIMEZONE = Sentence("DEED_REMIND_TIMEZONE", "change your time zone to {zone}")
DEED_REMEMBER = Sentence("DEED_REMEMBER", "remember this about you: {fact}")
DEED_FORGET = Sentence("DEED_FORGET", "delete number {number} of what I remember about you (`/memory` shows it)")
DEED_TOOL = Sentence("DEED_TOOL", "use {name}")
DEED_TOOL_OF_SERVER = Sentence("DEED_TOOL_OF_SERVER", "use {name} (server: {server})")
VALUE_CUT = Sentence("VALUE_CUT", "{value} (shortened; {count} characters in all)")
VALUES_LEFT_OUT = Sentence("VALUES_LEFT_OUT", "… and {count} more")
WHEN_AT = Sentence("WHEN_AT", "on {day} at {time}")
WHEN_IN = Sentence("WHEN_IN", "in {duration}")
WHEN_ON_DAYS = Sentence("WHEN_ON_DAYS", "every {days} at {time}, from {day}")
WHEN_AGAIN = Sentence("WHEN_AGAIN", "{repeats} at {time}, from {day}")
WHEN_HOURLY = Sentence("WHEN_HOURLY", "{repeats}, from {day} at {time}")
WHEN_AGAIN_IN = Sentence("WHEN_AGAIN_IN", "{repeats}, for the first time in {duration}")
WHEN_COUNTED = Sentence("WHEN_COUNTED", "{when}, {count} times in all")
WHEN_UNTIL = Sentence("WHEN_UNTIL", "{when}, until {day}")
EVERY_FIRST = Sentence("EVERY_FIRST", "{repeats} (the first {weekday})")
EVERY_SECOND = Sentence("EVERY_SECOND", "{repeats} (the second {weekday})")
EVERY_THIRD = Sentence("EVERY_THIRD", "{repeats} (the third {weekday})")
EVERY_FOURTH = Sentence("EVERY_FOURTH", "{repeats} (the fourth {weekday})")
EVERY_LAST = Sentence("EVERY_LAST", "{repeats} (the last {weekday})")
_MAY_I_DO = Sentence("MAY_I_DO", "May I {deed}?")

_YES_NO_ALWAYS = Sentence(
    "YES_NO_ALWAYS",
    "Just say yes, no or always, or put 👍 (once), ✅ (always, for {tool} when you ask here) or 👎 on this message.",
)
_ALWAYS_ALLOWED = Sentence(
    "ALWAYS_ALLOWED",
    "(From now on I'll use {tool} without asking when you ask here. `/tools revoke {tool}` ends that.)",
)
_ALLOWED_SINCE = Sentence(
    "ALLOWED_SINCE",
    "{tool}: allowed without asking when you ask here, since {day}; `/tools revoke {tool}` ends that.",
)
_NO_LONGER_ALLOWED = Sentence("NO_LONGER_ALLOWED", "I'll ask you about {tool} again.")
NOT_ALLOWED = Sentence("NOT_ALLOWED", "You haven't allowed any tool of that name here.")

STATUS_THINKING = Sentence("STATUS_THINKING", "Thinking …")
STATUS_CALCULATE = Sentence("STATUS_CALCULATE", "Calculating …")
STATUS_CONVERT = Sentence("STATUS_CONVERT", "Converting …")
STATUS_CURRENT_TIME = Sentence("STATUS_CURRENT_TIME", "Checking the time …")
STATUS_WEATHER = Sentence("STATUS_WEATHER", "Checking the weather …")
STATUS_WEB_SEARCH = Sentence("STATUS_WEB_SEARCH", "Searching the web …")
STATUS_VERIFY_NEWS = Sentence("STATUS_VERIFY_NEWS", "Checking sources …")
STATUS_READ = Sentence("STATUS_READ", "Reading a page …")
STATUS_POSTS = Sentence("STATUS_POSTS", "Searching posts on X …")
STATUS_IMAGE = Sentence("STATUS_IMAGE", "Drawing a picture …")
STATUS_NEWS = Sentence("STATUS_NEWS", "Looking through the news …")
STATUS_REMIND = Sentence("STATUS_REMIND", "Setting a reminder …")
STATUS_REMEMBER = Sentence("STATUS_REMEMBER", "Making a note …")
STATUS_TOOL = Sentence("STATUS_TOOL", "Using a tool …")

_NOTICE_KEY = Sentence(
    "NOTICE_KEY",
    "{subject} no longer accepts the key I was given, or the account is out of credit. Please check "
    "both; `python -m bot doctor` says which setting it is.",
)
_NOTICE_MODEL = Sentence(
    "NOTICE_MODEL",
    "The model “{subject}” that I am set up to use does not exist at its service. Please correct its "
    "name; `python -m bot doctor` says what there is.",
)
_NOTICE_DISK = Sentence(
    "NOTICE_DISK",
    "My disk is nearly full. Please make room: once it is full, I can no longer take in messages. "
    "`python -m bot doctor` says how much is left.",
)
_NOTICE_DEAF = Sentence(
    "NOTICE_DEAF",
    "I have not received any messages for ten minutes, although the bridge to Signal is running. If "
    "people write to me now, I may not see it. Please look at the bridge; `python -m bot doctor` helps.",
)
_NOTICES: Mapping[str, Sentence] = {
    "key": _NOTICE_KEY,
    "model": _NOTICE_MODEL,
    "disk": _NOTICE_DISK,
    "deaf": _NOTICE_DEAF,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Deed:
    """Something that a person may be asked about, in the language that is spoken."""

    words: str
    """What follows "May I", in Markdown, on one line."""
    details: tuple[str, ...] = ()
    """What is listed below it, likewise."""
    whole: str = ""
    """All of it as plain text, where something is shortened above; empty: nothing is."""


EXAMPLES: Mapping[str, Sentence] = {
    "get_weather": _TRY_WEATHER,
    "remind": _TRY_REMIND,
    "web_search": _TRY_SEARCH,
    "convert": _TRY_CONVERT,
    "calculate": _TRY_CALCULATE,
    "current_time": _TRY_TIME,
    "remember": _TRY_REMEMBER,
    "image_generate": _TRY_IMAGE,
}
"""What can be asked of a tool, the most useful first."""
OFFLINE_TOPICS: Mapping[str, Sentence] = {
    "calculate": _TOPIC_CALCULATE,
    "convert": _TOPIC_CONVERT,
    "get_weather": _TOPIC_WEATHER,
    "current_time": _TOPIC_TIME,
    "web_search": _TOPIC_SEARCH,
    "remind": _TOPIC_REMIND,
    "remember": _TOPIC_REMEMBER,
}
"""What can be asked without a language model, by the tool that does it."""
_HELP_SECTIONS: Mapping[str, Sentence] = {
    "chat": _HELP_CHAT,
    "later": _HELP_LATER,
    "settings": _HELP_SETTINGS,
    "data": _HELP_DATA,
    "admins": _HELP_ADMINS,
}

_BY_ERROR: tuple[tuple[type[ProviderError], Sentence], ...] = (
    (Overloaded, OVERLOADED),
    (Unavailable, UNAVAILABLE),
    (ContextTooLong, TOO_LONG),
    (BadKey, BAD_KEY),
    (NoSuchModel, NO_SUCH_MODEL),
    (Rejected, REJECTED),
)


_STATUSES: Mapping[str, Sentence] = {
    "calculate": STATUS_CALCULATE,
    "convert": STATUS_CONVERT,
    "current_time": STATUS_CURRENT_TIME,
    "get_weather": STATUS_WEATHER,
    "web_search": STATUS_WEB_SEARCH,
    "verify_news": STATUS_VERIFY_NEWS,
    "twitter_search": STATUS_POSTS,
    "web_fetch": STATUS_READ,
    "image_generate": STATUS_IMAGE,
    "intel_search": STATUS_NEWS,
    "intel_recent": STATUS_NEWS,
    "wikipedia": STATUS_READ,
    "remind": STATUS_REMIND,
    "remember": STATUS_REMEMBER,
    "predict": STATUS_REMEMBER,
    "resolve_prediction": STATUS_REMEMBER,
}


_CAUSES: Mapping[SourceKind, Sentence] = {
    "page": _CAUSE_PAGE,
    "search": _CAUSE_SEARCH,
    "tool": _CAUSE_TOOL,
    "file": _CAUSE_FILE,
    "voice": _CAUSE_VOICE,
    "person": _CAUSE_PERSON,
    "talk": _CAUSE_TALK,
    "unknown": _CAUSE_UNKNOWN,
}
_UNNAMED_CAUSES: Mapping[SourceKind, Sentence] = {
    "page": _CAUSE_SEARCH,
    "tool": _CAUSE_UNKNOWN,
    "file": _CAUSE_UNNAMED_FILE,
    "person": _CAUSE_SOMEBODY,
}
_ORIGINS: Mapping[SourceKind, Sentence] = {
    "page": _FROM_WEB,
    "search": _FROM_WEB,
    "tool": _FROM_TOOL,
    "file": _FROM_FILE,
    "voice": _FROM_VOICE,
    "person": _FROM_OTHERS,
    "talk": _FROM_OTHERS,
    "unknown": _FROM_UNKNOWN,
}


# What stands on the pages for set-up and administration.
PAGE_SKIP = Sentence("PAGE_SKIP", "Skip to the content")
PAGE_MENU = Sentence("PAGE_MENU", "Menu")
PAGE_OVERVIEW = Sentence("PAGE_OVERVIEW", "Overview")
PAGE_SETUP = Sentence("PAGE_SETUP", "Set-up")
PAGE_SIGN_OUT = Sentence("PAGE_SIGN_OUT", "Sign out")
PAGE_LOST = Sentence("PAGE_LOST", "The connection to Aldis is lost. What you see here may be old.")
PAGE_LANGUAGE = Sentence("PAGE_LANGUAGE", "Language")
PAGE_CHANGE = Sentence("PAGE_CHANGE", "Change")
PAGE_WELCOME = Sentence("PAGE_WELCOME", "Welcome to Aldis")
PAGE_ENTER_WHY = Sentence(
    "PAGE_ENTER_WHY",
    "This link opens the pages for set-up and administration, once and in this browser.",
)
PAGE_ENTER = Sentence("PAGE_ENTER", "Open")
PAGE_SIGNED_OUT = Sentence("PAGE_SIGNED_OUT", "You need a link")
PAGE_SIGNED_OUT_WHY = Sentence(
    "PAGE_SIGNED_OUT_WHY",
    "These pages open with a link that works once and for ten minutes. On the machine where Aldis runs, "
    "this prints one:",
)
PAGE_SIGNED_OUT_DOCKER = Sentence("PAGE_SIGNED_OUT_DOCKER", "With Docker:")
PAGE_CODE = Sentence("PAGE_CODE", "Second factor")
PAGE_CODE_LABEL = Sentence("PAGE_CODE_LABEL", "Code")
PAGE_CODE_WHY = Sentence("PAGE_CODE_WHY", "The six digits that your authenticator app shows for Aldis.")
PAGE_CODE_WRONG = Sentence("PAGE_CODE_WRONG", "That code is wrong, or was used already. Wait for the next one.")
PAGE_NOT_DONE = Sentence("PAGE_NOT_DONE", "That did not work")
PAGE_NOT_DONE_WHY = Sentence(
    "PAGE_NOT_DONE_WHY",
    "Nothing was changed (error {status}). Go back, reload the page, and try again.",
)
PAGE_NOT_RUNNING = Sentence(
    "PAGE_NOT_RUNNING",
    "Aldis is not running yet: it has no account so far, or waits for the bridge to Signal.",
)
PAGE_REFUSED = Sentence("PAGE_REFUSED", "It was refused: {words}")
PAGE_HEALTH = Sentence("PAGE_HEALTH", "How Aldis is")
PAGE_WELL = Sentence("PAGE_WELL", "All is well")
PAGE_NOT_WELL = Sentence("PAGE_NOT_WELL", "Something is wrong")
PAGE_WAITS = Sentence("PAGE_WAITS", "Waiting")
PAGE_FINDINGS = Sentence("PAGE_FINDINGS", "To be mended")
PAGE_QUEUE_IN = Sentence("PAGE_QUEUE_IN", "Messages to be answered")
PAGE_QUEUE_OUT = Sentence("PAGE_QUEUE_OUT", "Answers to be sent")
PAGE_GIVEN_UP = Sentence("PAGE_GIVEN_UP", "Given up")
PAGE_SAFETY_NUMBERS = Sentence("PAGE_SAFETY_NUMBERS", "New safety numbers")
PAGE_SAFETY_NUMBERS_WHY = Sentence(
    "PAGE_SAFETY_NUMBERS_WHY",
    "These people have a new phone, or somebody has taken over their number. Until you trust the new "
    "number, nothing of them is read and answers to them wait. Ask them in some other way first.",
)
PAGE_SAFETY_NUMBER_UNKNOWN = Sentence("PAGE_SAFETY_NUMBER_UNKNOWN", "The bridge does not tell the new number.")
PAGE_SAFETY_NUMBER_SINCE = Sentence("PAGE_SAFETY_NUMBER_SINCE", "since {when}")
PAGE_SAFETY_NUMBER_COMPARED = Sentence(
    "PAGE_SAFETY_NUMBER_COMPARED",
    "The number on their phone, if you have compared it (optional)",
)
PAGE_TRUST = Sentence("PAGE_TRUST", "Trust this number")
PAGE_TRUSTED = Sentence("PAGE_TRUSTED", "The new number is trusted. What was waiting is on its way.")
PAGE_TRUST_CHANGED = Sentence("PAGE_TRUST_CHANGED", "That number is not the newest one any more. Look at it again.")
PAGE_BRIDGE_SILENT = Sentence("PAGE_BRIDGE_SILENT", "The bridge to Signal does not answer right now.")
PAGE_CAPTCHA = Sentence("PAGE_CAPTCHA", "Captcha")
PAGE_CAPTCHA_WANTED = Sentence(
    "PAGE_CAPTCHA_WANTED",
    "Signal sends nothing more before somebody has solved a captcha. Open this page, solve it, and copy "
    "the link of “Open Signal”:",
)
PAGE_CAPTCHA_NOT_WANTED = Sentence(
    "PAGE_CAPTCHA_NOT_WANTED",
    "Signal wants none at the moment. If it does, the box for it appears here.",
)
PAGE_CAPTCHA_LABEL = Sentence("PAGE_CAPTCHA_LABEL", "Link of the solved captcha")
PAGE_CAPTCHA_HINT = Sentence("PAGE_CAPTCHA_HINT", "It begins with signalcaptcha:// and is long.")
PAGE_CAPTCHA_SEND = Sentence("PAGE_CAPTCHA_SEND", "Hand it in")
PAGE_CAPTCHA_NONE = Sentence(
    "PAGE_CAPTCHA_NONE",
    "That is no solved captcha. Copy the whole link of “Open Signal”; it begins with signalcaptcha://",
)
PAGE_CAPTCHA_TAKEN = Sentence("PAGE_CAPTCHA_TAKEN", "Signal took it. What was waiting is on its way.")
PAGE_ACCOUNT = Sentence("PAGE_ACCOUNT", "The account")
PAGE_LINK = Sentence("PAGE_LINK", "Link it to your phone")
PAGE_LINK_WHY = Sentence(
    "PAGE_LINK_WHY",
    "Aldis becomes a further device of a Signal account, as Signal Desktop would. Best take an account "
    "of its own; yours works, too.",
)
PAGE_LINK_BEGIN = Sentence("PAGE_LINK_BEGIN", "Show the QR code")
PAGE_LINK_STOP = Sentence("PAGE_LINK_STOP", "Stop")
PAGE_LINKED = Sentence("PAGE_LINKED", "Linked")
PAGE_LINKED_STARTS = Sentence("PAGE_LINKED_STARTS", "The phone has agreed. Aldis is starting.")
PAGE_NOT_LINKED = Sentence("PAGE_NOT_LINKED", "No account yet")
PAGE_ANSWERS_FOR = Sentence("PAGE_ANSWERS_FOR", "Aldis answers for {account}.")
PAGE_ACCOUNTS_THERE = Sentence("PAGE_ACCOUNTS_THERE", "The bridge has already: {names}")
PAGE_LINK_LOOKING = Sentence("PAGE_LINK_LOOKING", "Asking the bridge …")
PAGE_LINK_REFUSED = Sentence("PAGE_LINK_REFUSED", "The bridge refuses")
PAGE_SCAN = Sentence("PAGE_SCAN", "Scan this code")
PAGE_SCAN_1 = Sentence("PAGE_SCAN_1", "Open Signal on your phone.")
PAGE_SCAN_2 = Sentence("PAGE_SCAN_2", "Go to Settings, Linked devices, Link new device.")
PAGE_SCAN_3 = Sentence("PAGE_SCAN_3", "Point the camera at the code, and confirm.")
PAGE_SCAN_ALT = Sentence("PAGE_SCAN_ALT", "QR code for linking; its address stands below.")
PAGE_SCAN_ADDRESS = Sentence("PAGE_SCAN_ADDRESS", "The address in the code")
PAGE_SCAN_RENEWS = Sentence(
    "PAGE_SCAN_RENEWS",
    "Code {number}. Each is good for about a minute; the next one comes by itself.",
)
PAGE_STEPS = Sentence("PAGE_STEPS", "Steps of the set-up")
PAGE_STEP_DONE = Sentence("PAGE_STEP_DONE", "done")
PAGE_NEXT = Sentence("PAGE_NEXT", "Next: {step}")
PAGE_MODEL = Sentence("PAGE_MODEL", "The model")
PAGE_YOU = Sentence("PAGE_YOU", "Who you are")
PAGE_TOOLS = Sentence("PAGE_TOOLS", "What it may do")
PAGE_DONE = Sentence("PAGE_DONE", "Finish")
PAGE_PEOPLE = Sentence("PAGE_PEOPLE", "People")
PAGE_USAGE = Sentence("PAGE_USAGE", "Usage")
PAGE_UPKEEP = Sentence("PAGE_UPKEEP", "Upkeep")
PAGE_SAVE = Sentence("PAGE_SAVE", "Save")
PAGE_SAVED = Sentence("PAGE_SAVED", "Saved. Aldis begins again with it, which takes a moment.")
PAGE_SET_ELSEWHERE = Sentence(
    "PAGE_SET_ELSEWHERE",
    "{name} is set in: {where}. That wins over what is set here; change it there.",
)
PAGE_USE = Sentence("PAGE_USE", "Use this")
PAGE_ADD = Sentence("PAGE_ADD", "Add")
PAGE_REMOVE = Sentence("PAGE_REMOVE", "Remove")
PAGE_REMOVE_WHOM = Sentence("PAGE_REMOVE_WHOM", "Remove {name}")
PAGE_ON = Sentence("PAGE_ON", "on")
PAGE_OFF = Sentence("PAGE_OFF", "off")
PAGE_SWITCH_ON = Sentence("PAGE_SWITCH_ON", "Switch on")
PAGE_SWITCH_OFF = Sentence("PAGE_SWITCH_OFF", "Switch off")
PAGE_IS_SET = Sentence("PAGE_IS_SET", "set")
PAGE_ADDRESS = Sentence("PAGE_ADDRESS", "Address")
PAGE_NAME = Sentence("PAGE_NAME", "Name")
PAGE_SOMEBODY = Sentence("PAGE_SOMEBODY", "somebody")
PAGE_EVERYBODY = Sentence("PAGE_EVERYBODY", "everybody")
PAGE_BRIDGE = Sentence("PAGE_BRIDGE", "Bridge to Signal")
PAGE_BRIDGE_NONE = Sentence(
    "PAGE_BRIDGE_NONE",
    "Nothing answers at {url}. Aldis needs signal-cli or signal-cli-rest-api; with Docker it comes along "
    "and takes up to half a minute to start.",
)
PAGE_BRIDGE_FOUND = Sentence("PAGE_BRIDGE_FOUND", "One answers at {url}.")
PAGE_BRIDGE_OTHER = Sentence("PAGE_BRIDGE_OTHER", "It is somewhere else")
PAGE_ACCOUNT_CHOOSE = Sentence("PAGE_ACCOUNT_CHOOSE", "Which account?")
PAGE_OWN = Sentence("PAGE_OWN", "Your own account")
PAGE_OWN_WHY = Sentence(
    "PAGE_OWN_WHY",
    "If you link your own account, Aldis can answer your “Note to Self” and read nothing else of what comes.",
)
PAGE_OWN_BEGIN = Sentence("PAGE_OWN_BEGIN", "Answer my Note to Self alone")
PAGE_OWN_END = Sentence("PAGE_OWN_END", "Answer other people, too")
PAGE_REGISTER = Sentence("PAGE_REGISTER", "A number of its own")
PAGE_REGISTER_WHY = Sentence(
    "PAGE_REGISTER_WHY",
    "Any number that can get an SMS or a call, and that no Signal app uses: whoever uses it now would be signed out.",
)
PAGE_REGISTER_BEGIN = Sentence("PAGE_REGISTER_BEGIN", "Register a number")
PAGE_REGISTER_CAPTCHA = Sentence(
    "PAGE_REGISTER_CAPTCHA",
    "Signal wants a captcha first. Solve it here, and copy the link of “Open Signal”:",
)
PAGE_REGISTER_HOW = Sentence("PAGE_REGISTER_HOW", "How the code comes")
PAGE_REGISTER_SEND = Sentence("PAGE_REGISTER_SEND", "Send the code")
PAGE_REGISTERED = Sentence("PAGE_REGISTERED", "The number is an account now. Aldis is starting.")
PAGE_BY_SMS = Sentence("PAGE_BY_SMS", "by SMS")
PAGE_BY_CALL = Sentence("PAGE_BY_CALL", "by a call")
PAGE_NUMBER = Sentence("PAGE_NUMBER", "Phone number")
PAGE_NUMBER_HINT = Sentence("PAGE_NUMBER_HINT", "With the code of the country, such as +49 151 23456789.")
PAGE_NUMBER_WRONG = Sentence("PAGE_NUMBER_WRONG", "That is no phone number with the code of its country.")
PAGE_CODE_SENT = Sentence("PAGE_CODE_SENT", "Signal sends a code to {number}. Type it in here.")
PAGE_CODE_MISSING = Sentence("PAGE_CODE_MISSING", "There is no code to check yet: have one sent first.")
PAGE_VERIFY = Sentence("PAGE_VERIFY", "Check the code")
PAGE_VERIFY_CODE_HINT = Sentence("PAGE_VERIFY_CODE_HINT", "The six digits of the SMS or call.")
PAGE_PIN = Sentence("PAGE_PIN", "PIN")
PAGE_PIN_HINT = Sentence("PAGE_PIN_HINT", "Only where the number has a registration lock.")
PAGE_MODEL_NOW = Sentence("PAGE_MODEL_NOW", "What answers now")
PAGE_MODEL_OFFLINE = Sentence("PAGE_MODEL_OFFLINE", "No language model")
PAGE_MODEL_OFFLINE_WHY = Sentence(
    "PAGE_MODEL_OFFLINE_WHY",
    "Aldis answers sums, units, the weather, reminders and commands by itself; everything else takes a model.",
)
PAGE_MODEL_FIRST = Sentence("PAGE_MODEL_FIRST", "the first that the server lists")
PAGE_MODEL_CHOOSE = Sentence("PAGE_MODEL_CHOOSE", "Another model of this server")
PAGE_MODEL_PRICES = Sentence(
    "PAGE_MODEL_PRICES",
    "Behind the name: US dollars for a million tokens read and written, where the price is known.",
)
PAGE_MODEL_CHOSEN = Sentence("PAGE_MODEL_CHOSEN", "{model} answers from now on.")
PAGE_MODEL_TAKEN = Sentence(
    "PAGE_MODEL_TAKEN",
    "The server answers and the settings are saved. Aldis begins again with it.",
)
PAGE_MODEL_NONE = Sentence("PAGE_MODEL_NONE", "For now Aldis answers without a model.")
PAGE_MODEL_TEST = Sentence("PAGE_MODEL_TEST", "Ask it something")
PAGE_MODEL_TEST_WHY = Sentence(
    "PAGE_MODEL_TEST_WHY",
    "A real question of a few words shows that it answers, and what that costs: a fraction of a cent.",
)
PAGE_MODEL_ANSWERS = Sentence("PAGE_MODEL_ANSWERS", "It answers: {words}")
PAGE_KEY = Sentence("PAGE_KEY", "A key")
PAGE_KEY_WHY = Sentence(
    "PAGE_KEY_WHY",
    "You get one in the vendor’s console. What is asked goes to the vendor, who charges for it.",
)
PAGE_VENDOR = Sentence("PAGE_VENDOR", "Vendor")
PAGE_KEY_LABEL = Sentence("PAGE_KEY_LABEL", "The key")
PAGE_KEY_HINT = Sentence("PAGE_KEY_HINT", "It is tried at once, for nothing, and never shown again.")
PAGE_KEY_TAKE = Sentence("PAGE_KEY_TAKE", "Try and save")
PAGE_KEY_MISSING = Sentence("PAGE_KEY_MISSING", "Something is missing: choose, and fill in the field.")
PAGE_KEY_OPTIONAL = Sentence("PAGE_KEY_OPTIONAL", "Key, if the server wants one")
PAGE_SERVER = Sentence("PAGE_SERVER", "A server of your own")
PAGE_SERVER_WHY = Sentence(
    "PAGE_SERVER_WHY",
    "Ollama, LM Studio, vLLM or llama.cpp on this machine or in your network: nothing that is asked leaves the house.",
)
PAGE_SERVER_LOOK = Sentence("PAGE_SERVER_LOOK", "Look for one")
PAGE_SERVER_NONE = Sentence("PAGE_SERVER_NONE", "None answers at its usual address.")
PAGE_SERVER_OTHER = Sentence("PAGE_SERVER_OTHER", "It is at another address")
PAGE_WITHOUT = Sentence("PAGE_WITHOUT", "Without a model for now")
PAGE_WITHOUT_WHY = Sentence(
    "PAGE_WITHOUT_WHY",
    "You can take this step later; until then Aldis does what it can by itself.",
)
PAGE_WITHOUT_DO = Sentence("PAGE_WITHOUT_DO", "Go on without")
PAGE_ADMIN = Sentence("PAGE_ADMIN", "Who may say what happens")
PAGE_ADMIN_THERE = Sentence("PAGE_ADMIN_THERE", "Admin")
PAGE_ADMIN_NEXT = Sentence("PAGE_ADMIN_NEXT", "Write to Aldis again: now it answers.")
PAGE_ADMIN_OTHERS = Sentence("PAGE_ADMIN_OTHERS", "Let others in")
PAGE_ADMIN_MADE = Sentence("PAGE_ADMIN_MADE", "That is you. Write to Aldis again: now it answers.")
PAGE_WRITE_NOW = Sentence("PAGE_WRITE_NOW", "Write to Aldis now")
PAGE_WRITE_NOW_NUMBER = Sentence(
    "PAGE_WRITE_NOW_NUMBER",
    "Write any message to {number} in Signal, from your own phone. You appear here.",
)
PAGE_WRITE_NOW_HOW = Sentence(
    "PAGE_WRITE_NOW_HOW",
    "Write any message to the account of Aldis in Signal, from your own phone. You appear here.",
)
PAGE_WRITE_NOW_WORDS = Sentence(
    "PAGE_WRITE_NOW_WORDS",
    "Nobody is answered yet. Who writes is shown here for ten minutes; what they write is not kept.",
)
PAGE_CALLERS_NONE = Sentence("PAGE_CALLERS_NONE", "Nobody has written yet")
PAGE_CALLER_AT = Sentence("PAGE_CALLER_AT", "wrote on {when}")
PAGE_CALLER_GONE = Sentence("PAGE_CALLER_GONE", "That person is no longer listed here. Write once more.")
PAGE_THIS_IS_ME = Sentence("PAGE_THIS_IS_ME", "This is me")
PAGE_ADMINS = Sentence("PAGE_ADMINS", "Admins")
PAGE_ADMINS_WHY = Sentence("PAGE_ADMINS_WHY", "They are answered, and may give the operator’s commands.")
PAGE_ALLOWED = Sentence("PAGE_ALLOWED", "Who may write")
PAGE_ALLOWED_WHY = Sentence("PAGE_ALLOWED_WHY", "They are answered in their own chat.")
PAGE_BY_CODE = Sentence("PAGE_BY_CODE", "let in by a code")
PAGE_NOBODY = Sentence("PAGE_NOBODY", "Nobody yet.")
PAGE_PERSON = Sentence("PAGE_PERSON", "Phone number or uuid")
PAGE_PERSON_HINT = Sentence(
    "PAGE_PERSON_HINT",
    "With the code of the country. A number stands for the account that first comes with it.",
)
PAGE_PERSON_ADD = Sentence("PAGE_PERSON_ADD", "Add somebody")
PAGE_PERSON_AS = Sentence("PAGE_PERSON_AS", "As")
PAGE_PERSON_ADDED = Sentence("PAGE_PERSON_ADDED", "They may write from now on.")
PAGE_PERSON_REMOVED = Sentence("PAGE_PERSON_REMOVED", "Removed. They are no longer answered.")
PAGE_PERSON_WRONG = Sentence(
    "PAGE_PERSON_WRONG",
    "That is neither a phone number with the code of its country nor a uuid.",
)
PAGE_PAIRING = Sentence("PAGE_PAIRING", "Codes for others")
PAGE_PAIRING_WHY = Sentence(
    "PAGE_PAIRING_WHY",
    "Strangers who write get a code and nothing else. Whoever tells you theirs can be let in with it, "
    "here or by /allow.",
)
PAGE_PAIRING_CODE = Sentence("PAGE_PAIRING_CODE", "The code that you were told")
PAGE_PAIRING_HINT = Sentence("PAGE_PAIRING_HINT", "Such as ACDE-3467; good for an hour.")
PAGE_PAIRING_UNKNOWN = Sentence("PAGE_PAIRING_UNKNOWN", "That code is unknown, or older than an hour.")
PAGE_LET_IN = Sentence("PAGE_LET_IN", "Let them in")
PAGE_GROUPS = Sentence("PAGE_GROUPS", "Groups")
PAGE_GROUPS_WHY = Sentence(
    "PAGE_GROUPS_WHY",
    "In a group that is ticked, its members may ask Aldis. Invite its account to a group, and the group appears here.",
)
PAGE_GROUPS_NONE = Sentence("PAGE_GROUPS_NONE", "The account is in no group.")
PAGE_BUDGETS = Sentence("PAGE_BUDGETS", "Budgets")
PAGE_BUDGETS_WHY = Sentence(
    "PAGE_BUDGETS_WHY",
    "US dollars by the ledger’s prices. An empty field limits nothing, 0 means nothing at all.",
)
PAGE_BUDGET_PERSON_DAY = Sentence("PAGE_BUDGET_PERSON_DAY", "For one person in a day")
PAGE_BUDGET_PERSON_MONTH = Sentence("PAGE_BUDGET_PERSON_MONTH", "For one person in a month")
PAGE_BUDGET_GROUP_DAY = Sentence("PAGE_BUDGET_GROUP_DAY", "For one group in a day")
PAGE_BUDGET_GROUP_MONTH = Sentence("PAGE_BUDGET_GROUP_MONTH", "For one group in a month")
PAGE_BUDGET_ALL_DAY = Sentence("PAGE_BUDGET_ALL_DAY", "For everybody in a day")
PAGE_BUDGET_ALL_MONTH = Sentence("PAGE_BUDGET_ALL_MONTH", "For everybody in a month")
PAGE_TOOLS_THERE = Sentence("PAGE_TOOLS_THERE", "The tools")
PAGE_TOOLS_WHY = Sentence(
    "PAGE_TOOLS_WHY",
    "What the model may do besides answering: what each costs, and who outside sees what is asked.",
)
PAGE_STATE_ON = Sentence("PAGE_STATE_ON", "in use")
PAGE_STATE_OFF = Sentence("PAGE_STATE_OFF", "switched off")
PAGE_STATE_MISSING = Sentence("PAGE_STATE_MISSING", "lacks something")
PAGE_STATE_FAILED = Sentence("PAGE_STATE_FAILED", "broken")
PAGE_TOOL_COSTS = Sentence("PAGE_TOOL_COSTS", "up to {cost} a call")
PAGE_TOOL_FREE = Sentence("PAGE_TOOL_FREE", "free")
PAGE_TOOL_SEEN = Sentence("PAGE_TOOL_SEEN", "seen by: {names}")
PAGE_TOOL_SEEN_NOBODY = Sentence("PAGE_TOOL_SEEN_NOBODY", "nobody outside sees it")
PAGE_TOOL_SEEN_UNKNOWN = Sentence("PAGE_TOOL_SEEN_UNKNOWN", "it does not tell who sees it")
PAGE_TOOL_ASKS = Sentence("PAGE_TOOL_ASKS", "asks first where it has read what strangers wrote")
PAGE_TOOL_UNKNOWN = Sentence("PAGE_TOOL_UNKNOWN", "There is no such tool.")
PAGE_SEARCH = Sentence("PAGE_SEARCH", "Keys for searching")
PAGE_SEARCH_WHY = Sentence(
    "PAGE_SEARCH_WHY",
    "Without any, Wikipedia is searched. A key is tried at once, for nothing where the service allows "
    "that; an empty field takes it out.",
)
PAGE_RETENTION = Sentence("PAGE_RETENTION", "How long words are kept")
PAGE_RETENTION_WHY = Sentence(
    "PAGE_RETENTION_WHY",
    "What is said is kept sealed on this machine, so that the model can read it again. After these days "
    "it is destroyed.",
)
PAGE_RETENTION_DAYS = Sentence("PAGE_RETENTION_DAYS", "Days")
PAGE_RETENTION_HINT = Sentence("PAGE_RETENTION_HINT", "Empty: until somebody says /forget.")
PAGE_LEVEL_OK = Sentence("PAGE_LEVEL_OK", "well")
PAGE_LEVEL_WARNING = Sentence("PAGE_LEVEL_WARNING", "look")
PAGE_LEVEL_PROBLEM = Sentence("PAGE_LEVEL_PROBLEM", "problem")
PAGE_ALL_DONE = Sentence("PAGE_ALL_DONE", "Aldis is set up")
PAGE_ALL_DONE_WHY = Sentence("PAGE_ALL_DONE_WHY", "Write to it in Signal: ask something, or say /help.")
PAGE_NOT_ALL_DONE = Sentence("PAGE_NOT_ALL_DONE", "Not finished yet. These steps are left:")
PAGE_CHAT_ALT = Sentence("PAGE_CHAT_ALT", "An example of a message and its answer")
PAGE_CHAT_QUESTION = Sentence("PAGE_CHAT_QUESTION", "What is 17 × 23?")
PAGE_CHAT_ANSWER = Sentence("PAGE_CHAT_ANSWER", "17 × 23 = 391")
PAGE_MASTER_KEY = Sentence("PAGE_MASTER_KEY", "The master key")
PAGE_MASTER_KEY_WHY = Sentence(
    "PAGE_MASTER_KEY_WHY",
    "Everything kept is sealed with it, and no backup holds it. Keep a copy somewhere else: without it "
    "nobody can read a backup; with it and a backup, anybody can.",
)
PAGE_MASTER_KEY_GET = Sentence("PAGE_MASTER_KEY_GET", "Download the key")
PAGE_KEY_ELSEWHERE = Sentence(
    "PAGE_KEY_ELSEWHERE",
    "The key is not in a file here: it comes from the settings, or there is nothing kept yet.",
)
PAGE_DOCTOR = Sentence("PAGE_DOCTOR", "The doctor")
PAGE_DOCTOR_WHY = Sentence(
    "PAGE_DOCTOR_WHY",
    "Looks at settings, store, bridge, keys, models and tools, for nothing, and says what to do.",
)
PAGE_EXAMINE = Sentence("PAGE_EXAMINE", "Examine everything")
PAGE_EXAMINED = Sentence("PAGE_EXAMINED", "Examined.")
PAGE_SPENT = Sentence("PAGE_SPENT", "Spent in 30 days")
PAGE_MODEL_CALLS = Sentence("PAGE_MODEL_CALLS", "Calls of models")
PAGE_TOKENS = Sentence("PAGE_TOKENS", "Tokens")
PAGE_BY_DAY = Sentence("PAGE_BY_DAY", "By day")
PAGE_BY_DAY_ALT = Sentence(
    "PAGE_BY_DAY_ALT",
    "Bars for what was spent on each of 30 days, {total} in all; a table follows.",
)
PAGE_BY_PERSON = Sentence("PAGE_BY_PERSON", "By person")
PAGE_BY_MODEL = Sentence("PAGE_BY_MODEL", "By model")
PAGE_BY_TOOL = Sentence("PAGE_BY_TOOL", "By tool")
PAGE_AS_TABLE = Sentence("PAGE_AS_TABLE", "As a table")
PAGE_DAY = Sentence("PAGE_DAY", "Day")
PAGE_COST = Sentence("PAGE_COST", "Cost")
PAGE_CALLS = Sentence("PAGE_CALLS", "Calls")
PAGE_USAGE_NONE = Sentence("PAGE_USAGE_NONE", "Nothing so far.")
PAGE_BACKUPS = Sentence("PAGE_BACKUPS", "Backups")
PAGE_BACKUPS_WHY = Sentence(
    "PAGE_BACKUPS_WHY",
    "A copy of all that is kept, made while Aldis runs, in the folder backups beside the store. Take it "
    "to another machine.",
)
PAGE_BACK_UP = Sentence("PAGE_BACK_UP", "Back up now")
PAGE_BACKED_UP = Sentence("PAGE_BACKED_UP", "The backup is made.")
PAGE_VERSIONS = Sentence("PAGE_VERSIONS", "Versions")
PAGE_FEEDS = Sentence("PAGE_FEEDS", "News feeds")
PAGE_FEEDS_NONE = Sentence("PAGE_FEEDS_NONE", "None is read.")
PAGE_REMINDERS = Sentence("PAGE_REMINDERS", "Reminders")
PAGE_REMINDERS_WHY = Sentence("PAGE_REMINDERS_WHY", "By number and time; what they say is for those who planned them.")
PAGE_REMINDERS_NONE = Sentence("PAGE_REMINDERS_NONE", "None is planned.")
PAGE_LOG = Sentence("PAGE_LOG", "The log")
PAGE_LOG_WHY = Sentence("PAGE_LOG_WHY", "The newest lines first. It never has words, names or numbers of people.")
PAGE_AUDIT = Sentence("PAGE_AUDIT", "What was done here")
PAGE_AUDIT_WHY = Sentence("PAGE_AUDIT_WHY", "Every change, with the session that made it; never a value.")
PAGE_WHEN = Sentence("PAGE_WHEN", "When")
PAGE_WHAT = Sentence("PAGE_WHAT", "What")
PAGE_ABOUT = Sentence("PAGE_ABOUT", "About")
PAGE_SESSION = Sentence("PAGE_SESSION", "Session")
PAGE_FROM = Sentence("PAGE_FROM", "From")


def under_way(tool: str | None) -> str:
    """What is going on in a turn that takes long: this tool runs; None: the model is asked."""
    return say(STATUS_THINKING if tool is None else _STATUSES.get(tool, STATUS_TOOL))


def for_error(error: ProviderError) -> str:
    """What a person hears when no model answered."""
    return say(next((phrase for kind, phrase in _BY_ERROR if isinstance(error, kind)), FAILED))


_BUDGETS: Mapping[tuple[str, str], Sentence] = {
    ("person", "day"): BUDGET_PERSON_DAY,
    ("person", "month"): BUDGET_PERSON_MONTH,
    ("person", "none"): BUDGET_PERSON_NONE,
    ("group", "day"): BUDGET_GROUP_DAY,
    ("group", "month"): BUDGET_GROUP_MONTH,
    ("group", "none"): BUDGET_GROUP_NONE,
    ("all", "day"): BUDGET_ALL_DAY,
    ("all", "month"): BUDGET_ALL_MONTH,
    ("all", "none"): BUDGET_ALL_NONE,
}
_NEARLY: Mapping[tuple[str, str], Sentence] = {
    ("person", "day"): _NEARLY_PERSON_DAY,
    ("person", "month"): _NEARLY_PERSON_MONTH,
    ("group", "day"): _NEARLY_GROUP_DAY,
    ("group", "month"): _NEARLY_GROUP_MONTH,
    ("all", "day"): _NEARLY_ALL_DAY,
    ("all", "month"): _NEARLY_ALL_MONTH,
}
_SPENT: Mapping[tuple[str, str], Sentence] = {
    ("person", "day"): _SPENT_PERSON_DAY,
    ("person", "month"): _SPENT_PERSON_MONTH,
    ("group", "day"): _SPENT_GROUP_DAY,
    ("group", "month"): _SPENT_GROUP_MONTH,
    ("all", "day"): _SPENT_ALL_DAY,
    ("all", "month"): _SPENT_ALL_MONTH,
}
_SPENDERS: Mapping[str, Sentence] = {"person": _SPENT_PERSON, "group": _SPENT_GROUP, "all": _SPENT_ALL}
_OUTCOMES: Mapping[str, Sentence] = {
    "came_true": _PREDICTION_CAME_TRUE,
    "did_not": _PREDICTION_DID_NOT,
    "void": _PREDICTION_VOID,
}


def budget_used_up(scope: str, span: str, *, renews: bool) -> str:
    """What a person hears when the budget of a `person`, a `group` or `all` is used up for the `day` or `month`.

    `renews` is whether there is more afterwards.
    """
    return say(_BUDGETS[scope, span if renews else "none"])


def budget_nearly_used_up(scope: str, span: str, percent: int) -> str:
    """The remark below an answer that so much of a budget is used; above 100 percent it says 100."""
    return say(_NEARLY[scope, span], percent=min(percent, 100))


def may_i(deeds: Sequence[Deed], cost_usd: Decimal, causes: Sequence[Source] = (), *, always: str | None = None) -> str:
    """The question whether all this may be done, and because of what it is asked; no causes: because the operator or
    the tool wants it. `always` is the tool that may be allowed for good, None: none may.
    """
    asked = _asked(deeds[0]) if len(deeds) == 1 else [say(_MAY_I), "", *_numbered(deeds)]
    why = ["", say(_BECAUSE, causes=_causes(causes))] if causes else []
    cost = ["", say(_CALLS_COST, cost=number(cost_usd))] if cost_usd else []
    hint = say(_YES_OR_NO) if always is None else say(_YES_NO_ALWAYS, tool=always)
    return "\n".join([*asked, *why, *cost, "", hint])


def always_allowed(tool: str) -> str:
    """The remark below an answer that a tool is used without asking from now on."""
    return say(_ALWAYS_ALLOWED, tool=tool)


def allowed_since(tool: str, at: datetime) -> str:
    """The line of `/tools` and of an export about a tool that is used without asking."""
    return say(_ALLOWED_SINCE, tool=tool, day=day(at))


def no_longer_allowed(tool: str) -> str:
    """What a person hears who wants to be asked about a tool again."""
    return say(_NO_LONGER_ALLOWED, tool=tool)


def left_undone(deeds: Sequence[Deed], causes: Sequence[Source]) -> str:
    """What a scheduled run has left undone."""
    why = ["", say(_BECAUSE, causes=_causes(causes))] if causes else []
    return "\n".join([say(UNATTENDED), "", *_numbered(deeds), *why])


def _asked(deed: Deed) -> list[str]:
    below = ["", *(f"- {line}" for line in deed.details)] if deed.details else []
    return [say(_MAY_I_DO, deed=deed.words), *below]


def _numbered(deeds: Sequence[Deed]) -> list[str]:
    lines: list[str] = []
    for place, deed in enumerate(deeds, 1):
        lines.append(f"{place}. {deed.words[:1].upper()}{deed.words[1:]}")
        lines += [f"   - {line}" for line in deed.details]
    return lines


def origin(sources: Sequence[Source]) -> str:
    """Where something that is kept comes from, in a few words; empty: from the person."""
    return ", ".join(dict.fromkeys(say(_ORIGINS[source.kind], name=source.name) for source in _newest(sources)))


def rests_on(sources: Sequence[Source]) -> str:
    """The line below an answer that tells what it rests on, as Markdown."""
    return f"_({origin(sources)})_"


def _causes(sources: Sequence[Source]) -> str:
    """The newest causes in words, newest first, each once."""
    named = [say(_cause(source), name=source.name) for source in _newest(sources)]
    left_out = len(sources) > len(named)
    return ", ".join(dict.fromkeys(named)) + (", …" if left_out else "")


def _newest(sources: Sequence[Source]) -> Sequence[Source]:
    return list(reversed(sources))[:_MAX_CAUSES]


def _cause(source: Source) -> Sentence:
    return _CAUSES[source.kind] if source.name else _UNNAMED_CAUSES.get(source.kind, _CAUSES[source.kind])


def wrong_form(form: str) -> str:
    """What a person hears whose command was not in the right form."""
    return say(_WRONG_FORM, form=form)


def unknown_command(name: str, near: Sequence[str] = ()) -> str:
    """What a person hears who gave a command that there is not, or not for them; `near` are those that may be meant."""
    if not near:
        return say(_UNKNOWN_COMMAND, name=name)
    return say(_DID_YOU_MEAN, name=name, names=_either([f"`/{one}`" for one in near]))


def which(word: str, near: Sequence[str]) -> str:
    """What a person hears whose word may mean several things."""
    return say(_WHICH, word=word, names=_either([f"`{one}`" for one in near]))


def _either(shown: Sequence[str]) -> str:
    return join_list(shown, "or")


def help_section(section: str, names: Sequence[str]) -> str:
    """A line of `/help`: the commands of one of its parts (`chat`, `later`, `settings`, `data`, `admins`)."""
    return say(_HELP_SECTIONS[section], names=" ".join(f"`{name}`" for name in names))


def turns_forgotten(turns: int) -> str:
    """What a person hears after `/forget`."""
    return say(_FORGOT, answers=_answers(turns))


def forgot_everything(turns: int) -> str:
    """What a person hears after `/forget everything`."""
    what = say(_ALL_OF_SOME, answers=_answers(turns)) if turns else say(_ALL_OF_NOTHING)
    return say(_ALL_FORGOTTEN, what=what)


def kept_about_you(turns: int) -> str:
    """The first line of an export."""
    return say(_KEPT_SOME, answers=_answers(turns)) if turns else say(_KEPT_NOTHING)


def kept_fact(fact: str) -> str:
    """A line of an export: what is remembered."""
    return say(_KEPT_FACT, fact=fact)


def kept_reminder(at: datetime, text: str) -> str:
    """A line of an export: what is to come, by the clock of `at`."""
    return say(_KEPT_REMINDER, when=moment(at), text=text)


def kept_prediction(statement: str, probability: float, due: date, outcome: str | None) -> str:
    """A line of an export: a prediction, and what came of it (`came_true`, `did_not`, `void`); None: it is open."""
    percent = number((Decimal(str(probability)) * 100).normalize())
    told = say(_KEPT_PREDICTION, percent=percent, day=day(due), statement=statement)
    return told if outcome is None else f"{told} ({say(_OUTCOMES[outcome])})"


def kept_in_file(turns: int, shown: int) -> str:
    """What stands beside the file of an export: how many answers are kept, and how many of them it holds."""
    if shown < turns:
        return say(_KEPT_PARTLY_IN_FILE, answers=_answers(turns), count=shown)
    return say(_KEPT_IN_FILE, answers=_answers(turns))


def kept_unanswered(question: str) -> str:
    """A line of an export: a question that is kept to be asked again."""
    return say(_KEPT_UNANSWERED, question=question)


def spent_line(scope: str, cost_usd: Decimal, limit_usd: Decimal | None = None, *, is_day: bool) -> str:
    """A line of `/usage`: what was spent and, where there is a limit, what is left of it."""
    if limit_usd is None:
        amount = say(_SPENT_FREELY, cost=_usd(cost_usd))
    else:
        left = _usd(max(limit_usd - cost_usd, Decimal(0)))
        amount = say(_SPENT_OF, cost=_usd(cost_usd), limit=number(limit_usd), left=left)
    return say(_SPENT[scope, "day" if is_day else "month"], amount=amount)


def export_title(name: str) -> str:
    """The title of the page of an export."""
    return say(_EXPORT_TITLE, name=name)


def picture_left_out() -> str:
    """What stands on that page where a picture does not."""
    return say(_PICTURE_LEFT_OUT)


def spent_by_day(month: str) -> str:
    """The title of the chart of `/usage`; the month as `2026-11`."""
    return say(_SPENT_BY_DAY, month=month)


def spender(scope: str) -> str:
    """Whose spending a part of that chart shows."""
    return say(_SPENDERS[scope])


def from_cache(share: float) -> str:
    """The line of `/usage` about what did not have to be paid in full; `share` is 0 to 1."""
    return say(_FROM_CACHE, percent=round(100 * share))


def unpriced_line(calls: int) -> str:
    """The line of `/usage` about costs that nobody knows."""
    return say(_UNPRICED, calls=calls)


def when(at: datetime, zone: str) -> str:
    """An instant by somebody's clock: `Mon 2026-11-23 08:00 Europe/Berlin`. `at` is in that zone."""
    return f"{moment(at)} {zone}"


def repeats(every: str, interval: int, weekdays: Sequence[int]) -> str:
    """How often something comes again: `hour` ... `year`, each so many of them, on these days (Monday is 0)."""
    words = say(_REPEATS[every], count=interval)
    return f"{words} ({', '.join(map(short_weekday, weekdays))})" if weekdays else words


def duration(seconds: float) -> str:
    """A time that has passed, in its two largest units: `2 h 5 min`."""
    minutes = max(1, round(seconds / 60))
    parts = ((minutes // 1440, "day"), (minutes // 60 % 24, "hour"), (minutes % 60, "minute"))
    return " ".join([amount(count, unit) for count, unit in parts if count][:2])


def let_in(label: str) -> str:
    """What an admin hears after `/allow`."""
    return say(_LET_IN, label=label)


def shut_out(label: str) -> str:
    """What an admin hears after `/deny`."""
    return say(_SHUT_OUT, label=label)


def invitation(code: str) -> str:
    """What a stranger hears who is given a code."""
    return say(_INVITATION, code=code)


def guest(label: str, at: datetime, by: str) -> str:
    """A line of `/people`."""
    return say(_GUEST, label=label, day=day(at), by=by)


def undone(question: str) -> str:
    """What a person hears after `/undo`: the beginning of what was taken back; empty: it had no words."""
    return say(_UNDONE, question=question) if question else say(UNDONE_WORDLESS)


def model(now: str, choices: Sequence[str]) -> str:
    """What `/model` shows: the model that answers, and all that could."""
    if not choices:
        return say(_MODEL_NOW, model=now)
    numbered = "\n".join(f"{place}. {choice}" for place, choice in enumerate(choices, 1))
    return f"{say(_MODEL_NOW, model=now)} {say(_MODEL_OTHERS, models=numbered)}"


def no_such_model(name: str) -> str:
    """What a person hears who has chosen a model that there is not."""
    return say(_NO_SUCH_MODEL_HERE, name=name)


def no_such_tool(name: str) -> str:
    """What a person hears who has switched a tool that there is not."""
    return say(_NO_SUCH_TOOL, name=name)


def persona(text: str) -> str:
    """What `/persona` shows."""
    return say(_PERSONA_NOW, text=text)


def persona_set(*, disappears: bool) -> str:
    """What a person hears who has set a persona, in a message that stays or disappears."""
    return say(_PERSONA_TIMED if disappears else _PERSONA_SET)


def persona_too_long(most: int) -> str:
    """What a person hears whose persona has more than so many characters."""
    return say(_TOO_LONG_PERSONA, most=most)


def tools_switched(names: Sequence[str], *, is_on: bool) -> str:
    """What a person hears who has switched one tool, or several that belong together."""
    if len(names) == 1:
        return say(_TOOL_ON if is_on else _TOOL_OFF, name=names[0])
    return say(_TOOLS_ON_NOW if is_on else _TOOLS_OFF_NOW, names=", ".join(names))


def tool(name: str, *, is_on: bool) -> str:
    """A line of `/tools`."""
    return say(_LIST_ON if is_on else _LIST_OFF, name=name)


def tools_absent(server: str) -> str:
    """The line of `/tools` about a server whose tools are not there now."""
    return say(_LIST_ABSENT, name=server)


def language_set() -> str:
    """What a person hears, in the language that is spoken from now on."""
    return say(_LANGUAGE_SET)


def status(
    *,
    waiting: int,
    words: int,
    model: str,
    tools_off: Sequence[str],
    answered_by: str = "",
    taken_minutes: float = 0,
) -> tuple[str, ...]:
    """The lines of `/status` that have figures and names in them: how many messages wait, how many for a yes or no.

    `answered_by` is the model that answered last, where that is another one; `taken_minutes` is for how long an admin
    still answers in Aldis's place.
    """
    return (
        *([say(_STATUS_TAKEN, duration=duration(60 * taken_minutes))] if taken_minutes else ()),
        *([say(_STATUS_WAITING, count=waiting)] if waiting else ()),
        *([say(_STATUS_WORDS, count=words)] if words else ()),
        *([say(_STATUS_MODEL, model=model)] if model else ()),
        *([say(_STATUS_ANSWERED, model=answered_by)] if answered_by else ()),
        *([say(_STATUS_TOOLS, tools=", ".join(tools_off))] if tools_off else ()),
    )


def taken_over(label: str, length: timedelta) -> str:
    """What an admin hears who has taken over this chat, or that of whoever has the label."""
    how_long = duration(length.total_seconds())
    if label:
        return say(_TAKEN_OVER_OF, label=label, duration=how_long)
    return say(_TAKEN_OVER, duration=how_long)


def offline_introduction(tools: Collection[str], *, says_hello: bool) -> str:
    """What can be done without a language model, as far as these tools go, with an example of each."""
    topics = [
        f"- {say(topic)}: {quotation(say(EXAMPLES[tool]))}" for tool, topic in OFFLINE_TOPICS.items() if tool in tools
    ]
    first = f"{say(_OFFLINE_HELLO)} {say(_OFFLINE_SELF)}" if says_hello else say(_OFFLINE_SELF)
    return "\n".join([first, "", *(topics or [say(OFFLINE_NO_TOOLS)]), "", say(_OFFLINE_HOW_TO)])


def the_search() -> str:
    """What found something, where nobody says its name."""
    return say(_OFFLINE_THE_SEARCH)


def greeting(name: str, tools: Sequence[str]) -> str:
    """What somebody reads first: who is there, what they could ask (as far as there are tools for it), what else."""
    shown = [quotation(say(example)) for tool, example in EXAMPLES.items() if tool in tools][:_MAX_EXAMPLES]
    tries = [say(_GREETING_TRY, examples=_either(shown))] if shown else []
    return "\n".join([say(_GREETING, name=name), *tries, say(GREETING_MORE)])


def who(name: str | None, label: str, person: str, group: str | None, *, is_admin: bool) -> str:
    """What `/whoami` shows: the chosen name, the label, the id, whether they are an admin, and the group's id."""
    return "\n".join(
        [
            *([say(_WHO_NAME, name=name)] if name else ()),
            say(_WHO_LABEL, label=label),
            say(_WHO_UUID, person=person),
            say(_WHO_ADMIN if is_admin else _WHO_NOT_ADMIN),
            *([say(_WHO_IN_GROUP, group=f"`{group}`")] if group else [say(WHO_DIRECTLY)]),
        ]
    )


def broadcast_asks(people: int, groups: int, text: str) -> str:
    """The question before a message goes to so many people and groups."""
    return say(_BROADCAST_ASKS, people=people, groups=groups, text=text)


def broadcast_done(count: int) -> str:
    """What the admin hears who has sent a message to so many conversations."""
    return say(_BROADCAST_DONE, count=count)


def budget_amount(spent_usd: Decimal, limit_usd: Decimal | None) -> str:
    """What was spent of a budget."""
    if limit_usd is None:
        return say(_NO_LIMIT, spent=_usd(spent_usd))
    return say(_BUDGET_LINE, spent=_usd(spent_usd), limit=number(limit_usd))


def budget_line(label: str | None, *, is_day: bool, amount: str) -> str:
    """A line of `/budget`; `label` None: everybody's together."""
    if label is None:
        return say(_AMOUNT_ALL_DAY if is_day else _AMOUNT_ALL_MONTH, amount=amount)
    return say(_AMOUNT_PERSON_DAY if is_day else _AMOUNT_PERSON_MONTH, label=label, amount=amount)


def budget_each(limits: Sequence[Decimal | None]) -> str:
    """The line of `/budget` with what each may spend: a person a day, a month, a group a day, a month."""
    words = [say(_UNLIMITED) if limit is None else say(_LIMIT, limit=number(limit)) for limit in limits]
    names = ("day", "month", "group_day", "group_month")
    return say(_BUDGET_EACH, **dict(zip(names, words, strict=True)))


def identity_changed(name: str | None, label: str) -> str:
    """Somebody's safety number has changed, and what an admin can do about it."""
    return say(_IDENTITY_CHANGED, name=_named(name, label), label=label)


def notice(kind: str, subject: str) -> str:
    """What the admins are told without having asked: a key that is refused, a model that there is not, and the like."""
    return say(_NOTICES[kind], subject=subject)


def suspect(name: str | None, label: str, since: datetime, safety_number: str) -> str:
    """A line of those whose safety number has changed, with the new one."""
    return say(_SUSPECT, name=_named(name, label), when=moment(since), number=safety_number or "?")


def now_trusted(name: str | None, label: str) -> str:
    """A new safety number is trusted."""
    return say(_TRUSTED, name=_named(name, label))


def _named(name: str | None, label: str) -> str:
    return say(_PERSON_NAMED, name=name, label=label) if name else label


def _answers(turns: int) -> str:
    return say(_ANSWERS, count=turns)


def _usd(amount: Decimal) -> str:
    return number(amount.quantize(Decimal("0.0001")))


_REPEATS: Mapping[str, Sentence] = {
    "hour": EVERY_HOUR,
    "day": EVERY_DAY,
    "week": EVERY_WEEK,
    "month": EVERY_MONTH,
    "year": EVERY_YEAR,
}
