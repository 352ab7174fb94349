"""Every sentence that people hear from Aldis itself, in one place. Plain words that say what to do.

They stand here in English, as constants; those with places to fill in have a function beside them that does. In the
other languages they stand in `bot.languages`, by the same names. The functions speak the language that is spoken now
(`bot.i18n.locale`); a constant is put into it by `said`, by whoever says it.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from bot.errors import BadKey, ContextTooLong, NoSuchModel, Overloaded, ProviderError, Rejected, Unavailable
from bot.i18n.locale import day, moment, number, quotation, sentence
from bot.labels import Source, SourceKind

_MAX_EXAMPLES = 3
_MAX_CAUSES = 3
"""So many causes are named in a question; of more it is only said that there are."""

OVERLOADED = "The language model is too busy right now. Please ask again in a minute."
UNAVAILABLE = "I can't reach the language model right now. Please ask again in a few minutes."
BAD_KEY = (
    "The language model won't let me in. Whoever runs me needs to check the key or the account; nothing else will help."
)
NO_SUCH_MODEL = (
    "I can't find the language model I'm set up to use. Whoever runs me has to fix that in my "
    "settings; there's nothing wrong with your message."
)
REJECTED = "The language model refused this request. Please rephrase it, or ask for something shorter."
TOO_LONG = (
    "That's more text than the language model can take at once. Please send a shorter message, or "
    "start over with `/new`."
)
REFUSED = "The language model declined to answer that."
NOTHING_SAID = "I have nothing to say to that. Please put it another way."
OFFLINE_NOT_UNDERSTOOD = "I didn't understand “{words}”."
OFFLINE_WAY_OUT = (
    "That takes a language model, and none is set up. Ask “what can you do?” to see what works without one."
)
_OFFLINE_HELLO = "Hello!"
OFFLINE_WELCOME = "You're welcome."
_OFFLINE_SELF = "No language model is set up, so I can't hold a conversation. Simple requests work, though:"
_OFFLINE_HOW_TO = (
    "`/help` shows the commands. For real answers, whoever runs me sets `ANTHROPIC_API_KEY`, "
    "`OPENAI_API_KEY` or, for a compatible server such as Ollama, `OPENAI_BASE_URL`, and starts me "
    "again."
)
OFFLINE_PRIVACY = (
    "`/forget` deletes what was said in this chat, `/forget everything` all that you ever "
    "asked, and `/export` shows what I keep."
)
OFFLINE_NO_TOOLS = "Right now all my tools are switched off, so even those don't work."
OFFLINE_WHICH_PLACE = "For which place? Ask for “weather in Paris tomorrow”, say."
OFFLINE_NO_MORE_TOOLS = "I can't use my tools for this message, so I can't answer that."
OFFLINE_BLIND = "I can't look at pictures or read documents: that takes a language model."
OFFLINE_TOOL_OFF = "My tool for {topic} is switched off here; `/tools` shows how things stand."
_TOPIC_CALCULATE = "arithmetic"
_TOPIC_CONVERT = "units and money"
_TOPIC_WEATHER = "the weather"
_TOPIC_TIME = "the time"
_TOPIC_SEARCH = "searching the web"
_TOPIC_REMIND = "reminders"
_TOPIC_REMEMBER = "remembering things"
OFFLINE_TIME = "It's **{time}** in {place} ({day}, {zone})."
OFFLINE_TIME_HERE = "It's **{time}** ({day}, {zone})."
OFFLINE_NOW = "**{place}** now: {conditions}"
OFFLINE_FEELS = "{temperature} (feels like {felt})"
OFFLINE_HUMIDITY = "humidity {value}"
OFFLINE_WIND = "wind {value}"
OFFLINE_RANGE = "{low} to {high}"
OFFLINE_RAIN = "{value} of rain or snow"
OFFLINE_LIKELY = "{value} likely"
OFFLINE_OTHER_PLACES = "Other places of that name: {places}."
OFFLINE_SEVERAL = "There are several places called “{place}”:"
OFFLINE_REGION = "Ask again with the region or the country behind the name."
OFFLINE_FOUND = "{source} on “{query}”:"
OFFLINE_NO_HITS = "I found nothing about “{query}”; try other words."
_OFFLINE_THE_SEARCH = "The search"
OFFLINE_RATE = "{rate} on {day}. {source}"
OFFLINE_ANSWERS = "`{name}` answers: {content}"
OFFLINE_FORGOTTEN = "Forgotten."
OFFLINE_NO_SUM = "I can't calculate `{value}`."
OFFLINE_NO_CONVERSION = "I can't convert {value}."
OFFLINE_NO_TIME = "I can't tell the time in {value}."
OFFLINE_NO_WEATHER = "I have no weather for {value}."
OFFLINE_NO_SEARCH = "The search for “{value}” failed."
OFFLINE_FAILED = "`{value}` failed."
FOUND_ALONE = "The language model couldn't put it into words, so here's what I looked up."
NO_WORDS_LEFT = "The answer was too long for me to send. Please ask for something shorter, or for one part of it."
CUT_OFF = "… (cut off here: the answer got too long)"
CUT_PARTS = "… (cut: the answer was too long for a chat; ask for the rest)"
FILES_NOT_SENT = "(There was a file to go with this, but Signal wouldn't take it.)"
SHORTENED_IN_FILE = "(What is shortened here stands in the file in full.)"
REST_IN_FILE = "… (too long for one message: it's all in the file)"
TOOK_TOO_LONG = "That was taking too long, so I stopped. Please try again, or ask for a smaller step."
STOPPED = "Stopped."
FAILED = "Something went wrong on my end and I couldn't answer. It's been noted; please ask again."
GAVE_UP = "I tried several times to answer your last message and couldn't. It's been noted; please ask again."
MESSAGE_EXPIRED = "Your message disappeared before I could answer it: its timer ran out. Please ask again."
ANSWER_EXPIRED = "My answer disappeared before it could be sent: the timer of your message ran out. Please ask again."
TOO_OLD = (
    "I was offline when you wrote this, and it's too old now to answer as if it were new. Please "
    "send it again if it still matters."
)
TOO_MANY = (
    "That's more messages in a minute than I can take from you. I'm skipping the next ones; please wait a minute."
)
QUEUE_FULL = "Too many messages are waiting here already. I'm skipping the next ones until I've caught up."

BUDGET_PERSON_DAY = "You've used up today's budget. It renews tomorrow."
BUDGET_PERSON_MONTH = "You've used up this month's budget. It renews on the first."
BUDGET_PERSON_NONE = "There's no budget for you, so I can't ask the language model. Whoever runs me can change that."
BUDGET_GROUP_DAY = "This group has used up today's budget. It renews tomorrow."
BUDGET_GROUP_MONTH = "This group has used up this month's budget. It renews on the first."
BUDGET_GROUP_NONE = (
    "There's no budget for this group, so I can't ask the language model. Whoever runs me can change that."
)
BUDGET_ALL_DAY = "My budget is used up for today. It renews tomorrow."
BUDGET_ALL_MONTH = "My budget for this month is used up. It renews on the first."
BUDGET_ALL_NONE = "I have no budget at all, so I can't ask the language model. Whoever runs me can change that."
HELP = "Just write to me as you would to a person. There are commands, too; `/help remind` explains one of them."
UNATTENDED = "Nobody was around to say yes, so I haven't done this. Message me if you want it."
TAKES_PLACE = "(This replaces what I asked you before.)"
WHICH_QUESTION = "I've asked you several things. Put 👍 or 👎 on the one you mean, or quote it."
NOTHING_TO_STOP = "I'm not working on anything here."
UNKNOWN_CODE = (
    "I don't know that code; it may have expired after an hour. Whoever wants in can message me again for a new one."
)
UNKNOWN_PERSON = "I haven't let in anybody with that label; `/people` shows whom I have."
NOBODY_LET_IN = "Nobody has been let in with a code yet."
BEGUN_ANEW = "New conversation: I won't read anything from before. It's kept until you delete it with `/forget`."
NOTHING_TO_REPEAT = "There's no question of yours here to answer again."
STILL_ANSWERING = "I'm still working on that one. `/stop` cancels it."
NOTHING_TO_UNDO = "There's nothing to undo."
NO_TRANSCRIPT = "I haven't had a voice note here."
NO_PERSONA = "No persona is set here. `/persona TEXT` sets one."
PERSONA_OFF = "Done, I'm back to my usual self."
NO_MODEL_CHOICE = "There's only one model here, so there's nothing to choose."
NO_TOOLS = "I have no tools here."
LANGUAGE_BY_MESSAGE = "I'll speak whatever language you write in, as long as I know it."
ONLY_IN_GROUPS = "That only works in groups."
ONLY_DIRECTLY = "I only do that in our own chat, not in a group."
ALWAYS_ON = "From now on I'll answer every message here."
ALWAYS_OFF = "From now on I'll only answer here when you address me."
ASKERS_ALL = "Everybody in this group can ask me."
ASKERS_ADMINS = "In this group only my admins can ask me."
ASKERS_LIST = "In this group only people who can also write to me directly can ask me."
PAUSED = "Paused. Until `/resume` I only react to commands here; what's asked meanwhile stays unanswered."
IS_PAUSED = "I'm paused here, so I'm not answering. An admin can write `/resume`."
IS_TAKEN_OVER = "Somebody is answering here in person at the moment, so I'm keeping quiet."
RESUMED = "Resumed."
NO_GROUPS = "I'm not in any group."
BRIDGE_SILENT = "The bridge to Signal isn't answering, so I can't check that right now. Please try again in a minute."
NOBODY_TO_TELL = "There's nobody to send that to."
UNKNOWN_LABEL = "I don't know anybody with that label or id. People see theirs with `/whoami`."
NO_BROADCAST = "There's nothing to send; write `/broadcast TEXT` first."
WHO_DIRECTLY = "This is our own chat."
STATUS_ANSWERING = "I'm working on an answer here."
STATUS_PAUSED = "I'm paused here."
STATUS_ALWAYS = "I answer every message here."
STATUS_PERSONA = "A persona is set."

ABOUT_HELP = "lists the commands, or explains one."
_HELP_CHAT = "**Answers:** {names}"
_HELP_LATER = "**Reminders and memory:** {names}"
_HELP_SETTINGS = "**This chat:** {names}"
_HELP_DATA = "**You and your data:** {names}"
_HELP_ADMINS = "**Admins:** {names}"
_GREETING = "Hello! I'm {name}, your assistant here on Signal. Just write to me as you would to a person."
_GREETING_TRY = "Try {examples}"
GREETING_MORE = "`/help` shows what else I can do, and `/forget` deletes what we said."
_TRY_WEATHER = "Will it rain in Paris tomorrow?"
_TRY_REMIND = "Remind me in 10 minutes to turn off the oven"
_TRY_SEARCH = "Search for lighthouses"
_TRY_CONVERT = "How many km are 26 miles?"
_TRY_CALCULATE = "What is 17*23?"
_TRY_TIME = "What time is it in Tokyo?"
_TRY_REMEMBER = "Remember that I live in Lyon"
_TRY_IMAGE = "Draw a lighthouse in the fog"
ABOUT_STOP = "stops the answer I'm working on."
ABOUT_FORGET = "deletes what was said here, or everything of yours everywhere, for good."
ABOUT_EXPORT = "shows what I keep about you."
ABOUT_USAGE = "shows what has been spent, and what is left."
ABOUT_NEW = "starts a new conversation: I won't read what was said before."
ABOUT_RETRY = "answers your last question again."
ABOUT_UNDO = "takes back your last question and its answer."
ABOUT_TRANSCRIPT = "shows the last voice note as text."
ABOUT_MODEL = "shows the models, or chooses one for this chat."
ABOUT_PERSONA = "tells me what to be like in this chat, or shows it."
ABOUT_TOOLS = "shows my tools, or switches one on or off for this chat."
ABOUT_LANGUAGE = "chooses the language I speak here."
ABOUT_STATUS = "shows what I'm doing here and what is set."
ABOUT_WHOAMI = "shows who you are to me."
ABOUT_ALWAYS = "makes me answer every message in a group, or only those addressed to me."
ABOUT_WHO = (
    "says who may ask me in this group: everybody in it, only the admins, or only those who may write to me directly."
)
ABOUT_PAUSE = "pauses me in this chat: I only react to commands."
ABOUT_RESUME = "ends the pause."
ABOUT_TAKEOVER = "lets you answer in person for a while: I drop the answer I'm working on and keep quiet."
ABOUT_ALLOW = "lets in the person who was given this code."
ABOUT_DENY = "shuts somebody out again; `/people` shows the labels."
ABOUT_PEOPLE = "shows who was let in with a code."
ABOUT_GROUPS = "shows the groups I'm in, with their ids for the settings."
ABOUT_BUDGET = "shows the budgets and what has been spent, by everybody or by one person."
ABOUT_BROADCAST = "sends a message to every chat, after you confirm it."

_ALL_FORGOTTEN = "Deleted: {what}. What it cost stays in my books, without any words."
_ALL_OF_NOTHING = "nothing, as there was nothing"
_ALL_OF_SOME = "{answers}, everything you ever asked here and elsewhere"
_YES_OR_NO = "Just say yes or no, or put 👍 or 👎 on this message."
_BROADCAST_ASKS = (
    "That goes to {people} direct chats and {groups} groups. `/broadcast yes` within ten minutes sends it: {text}"
)
_BROADCAST_DONE = "On its way to {count} chats."
_BUDGET_LINE = "{spent} of {limit} USD"
_CALLS_COST = "That costs {cost} USD."
_FORGOT = "Deleted: {answers} from this conversation, along with the key. Nobody can read them again."
_INVITATION = "To use me, ask the person who runs this bot to confirm this code: {code}. It's good for an hour."
_GUEST = "{label}: since {day}, by {by}"
_KEPT_FACT = "I remember: {fact}"
_KEPT_REMINDER = "A reminder, next on {when}: {text}"
_KEPT_PREDICTION = "You predicted, {percent} % likely by {day}: {statement}"
_KEPT_IN_FILE = "I've kept {answers}, encrypted. The page is for reading; the other file has the same for programs."
_KEPT_PARTLY_IN_FILE = (
    "I've kept {answers}, encrypted. The newest {count} are in the files; whoever runs me can give you all of them."
)
_KEPT_UNANSWERED = "You asked, and I couldn't answer: {question}"
_KEPT_NOTHING = "I've kept nothing of what you asked."
_KEPT_SOME = "I've kept {answers}, encrypted. Newest first:"
_EXPORT_TITLE = "What {name} keeps about you"
_PICTURE_LEFT_OUT = "(a picture, left out because the page would be too large)"
_LANGUAGE_SET = "I'll speak English here from now on."
_LET_IN = "Done, {label} can write to me now. `/deny {label}` takes it back."
_MAY_I = "May I do this?"
_BECAUSE = "I'm asking because of {causes}."
_CAUSE_PAGE = "the page at {name} that I read earlier"
_CAUSE_SEARCH = "what I found on the web earlier"
_CAUSE_TOOL = "what {name} told me earlier"
_CAUSE_FILE = "your file {name}"
_CAUSE_UNNAMED_FILE = "a file of yours"
_CAUSE_VOICE = "your voice message, which anybody may have recorded"
_CAUSE_PERSON = "what {name} wrote"
_CAUSE_SOMEBODY = "what somebody else wrote"
_CAUSE_TALK = "what others said here"
_CAUSE_UNKNOWN = "what I read some time ago"
_FROM_WEB = "from the web"
_FROM_FILE = "from your file"
_FROM_VOICE = "from a voice message"
_FROM_OTHERS = "from what others wrote"
_FROM_TOOL = "from {name}"
_FROM_UNKNOWN = "source no longer known"
_MODEL_NOW = "{model} answers here."
_MODEL_OTHERS = (
    "To choose from:\n{models}\n\n`/model 2` or a part of the name chooses; `/model default` goes back to the first."
)
_NO_SUCH_MODEL_HERE = "There is no model “{name}” here; `/model` shows them all."
_NEARLY_PERSON_DAY = "(You've used {percent} % of today's budget.)"
_NEARLY_PERSON_MONTH = "(You've used {percent} % of this month's budget.)"
_NEARLY_GROUP_DAY = "(This group has used {percent} % of today's budget.)"
_NEARLY_GROUP_MONTH = "(This group has used {percent} % of this month's budget.)"
_NEARLY_ALL_DAY = "(I've used {percent} % of today's budget.)"
_NEARLY_ALL_MONTH = "(I've used {percent} % of this month's budget.)"
_NO_LIMIT = "{spent} USD, no limit"
_ONE_ANSWER = "1 question and its answer"
_SOME_ANSWERS = "{count} questions and their answers"
_PERSONA_NOW = "My persona here: {text}"
_PERSONA_SET = "Done. From your next message on I'll be like that. `/persona off` ends it."
_PERSONA_TIMED = "Done, until your message disappears. `/persona off` ends it sooner."
_SHUT_OUT = "Done, {label} can't write to me anymore."
_SPENT_BY_DAY = "Spent by day, {month} (USD)"
_SPENT_PERSON = "You"
_SPENT_GROUP = "This group"
_SPENT_ALL = "Everybody"
_SPENT_PERSON_DAY = "You, today: {amount}"
_SPENT_PERSON_MONTH = "You, this month: {amount}"
_SPENT_GROUP_DAY = "This group, today: {amount}"
_SPENT_GROUP_MONTH = "This group, this month: {amount}"
_SPENT_ALL_DAY = "Everybody, today: {amount}"
_SPENT_ALL_MONTH = "Everybody, this month: {amount}"
_SPENT_FREELY = "{cost} USD"
_SPENT_OF = "{cost} of {limit} USD, {left} left"
_AMOUNT_ALL_DAY = "All together, today: {amount}"
_AMOUNT_ALL_MONTH = "All together, this month: {amount}"
_AMOUNT_PERSON_DAY = "{label}, today: {amount}"
_AMOUNT_PERSON_MONTH = "{label}, this month: {amount}"
_BUDGET_EACH = "Each person: {day} a day, {month} a month. Each group: {group_day} a day, {group_month} a month."
_LIMIT = "{limit} USD"
_UNLIMITED = "unlimited"
_PREDICTION_CAME_TRUE = "It came true."
_PREDICTION_DID_NOT = "It did not come true."
_PREDICTION_VOID = "Nobody can tell."
_STATUS_MODEL = "Model: {model}"
_STATUS_TAKEN = "An admin is answering here in person for another {duration}."
_STATUS_ANSWERED = "The last answer came from {model}."
_STATUS_TOOLS = "Switched off: {tools}"
_TAKEN_OVER = "It's all yours for {duration}: I'm keeping quiet here. `/takeover off` brings me back."
_TAKEN_OVER_OF = (
    "The chat with {label} is all yours for {duration}: I'm keeping quiet there. `/takeover "
    "{label} off` brings me back."
)
_STATUS_WAITING = "Waiting for an answer: {count}"
_STATUS_WORDS = "Waiting for your yes or no: {count}"
_TOO_LONG_PERSONA = "That's too long: a persona can have at most {most} characters."
_TOOL_OFF = "{name} is switched off here."
_TOOL_ON = "{name} is switched on here."
_TOOLS_OFF_NOW = "Switched off here: {names}."
_TOOLS_ON_NOW = "Switched on here: {names}."
_NO_SUCH_TOOL = "I have no tool called “{name}”; `/tools` shows them all."
_LIST_ON = "- {name}: on"
_LIST_OFF = "- {name}: off"
_LIST_ABSENT = "- {name} (several tools): does not answer at the moment"
_UNKNOWN_COMMAND = "I don't know the command `/{name}`. `/help` shows those I do."
_DID_YOU_MEAN = "I don't know the command `/{name}`. Did you mean {names}?"
_WHICH = "“{word}” could mean {names}. Please write which one."
OR_LAST = "{some} or {last}"
_UNDONE = "Taken back: “{question}”"
UNDONE_WORDLESS = "Taken back: your last message."
_FROM_CACHE = "{percent} % of what the model read here in the last 30 days came from its cache."
_UNPRICED = "{calls} calls this month have no known price and aren't included."
_WHO_ADMIN = "You're one of my admins."
_WHO_IN_GROUP = "We're in the group {group}."
_WHO_LABEL = "Your label: {label}"
_WHO_NAME = "Your name here: {name}"
_WHO_NOT_ADMIN = "You're not one of my admins."
_WHO_UUID = "Your id, for the lists of who may write: `{person}`"
_WRONG_FORM = "Please write it like this: `{form}`"

ABOUT_TRUST = "shows whose safety number has changed, or trusts the new one."
NO_SUSPECTS = "All safety numbers are trusted."
NOT_SUSPECT = "Nobody with that label has a new safety number; `/trust` shows who does."
TRUST_CHANGED_AGAIN = "The safety number has changed again since I told you. `/trust` shows the newest one."
TRUST_OWN = "That's your own safety number; somebody else has to trust it."
TRUST_REFUSED = "The bridge to Signal refused. If you gave me the number, it isn't the one I see."
_IDENTITY_CHANGED = (
    "{name} has a new safety number. Usually that's a new phone; it can also be somebody "
    "who has taken over their phone number. Until it is trusted I can't read or answer them, and my "
    "answers wait. Check with them some other way, then write `/trust {label}`. `/trust` alone shows "
    "the new number, to compare."
)
_PERSON_NAMED = "{name} ({label})"
_SUSPECT = "{name}, since {when}: {number}"
_TRUSTED = "The new safety number of {name} is trusted now. What was waiting is on its way."

ABOUT_MEMORY = "shows what I remember about you, or deletes it."
FACT = "{number}. {fact}"
NOTHING_REMEMBERED = "I don't remember anything about you yet. Just ask me to remember something."
FACT_FROM = "{number}. {fact} ({origin})"
NO_SUCH_FACT = "There's nothing with that number; `/memory` alone shows what I remember."
FACTS_FORGOTTEN = "Deleted from what I remember: {count}"

ABOUT_FEEDS = "shows the news feeds I read; admins add and remove them."
FEEDS_OFF = "I'm not reading news feeds here: that's switched off, or this machine can't do it."
NO_FEEDS = "I'm not reading any news feeds yet. An admin can add one with `/feeds add URL`."
FEED_LINE = "- {number}: {name}: read on {when} (articles kept: {count})"
FEED_LINE_WAITING = "- {number}: {name}: not read yet"
FEED_LINE_TROUBLE = "- {number}: {name}: last read on {when} (articles kept: {count}). {why}"
FEED_LINE_USELESS = "- {number}: {name}: never read so far. {why}"
FEED_ADDED = "I'm reading {name} from now on. `/feeds` shows in a minute whether it works."
FEED_KNOWN = "I'm already reading that feed, or as many as I can."
FEED_NO_ADDRESS = "That isn't a web address. It has to begin with https:// and mustn't contain a password."
FEED_REMOVED = "I've stopped reading {name} and deleted its articles."
FEED_IS_SET = "{name} is in my settings. Whoever runs me can remove it there (TOOLS__NEWS__FEEDS)."
FEED_ONLY_ADMINS = "Only my admins can change which feeds I read."
NO_SUCH_FEED = "There's no feed with that number; `/feeds` alone shows them all."
FEED_DENIED = "Its address leads somewhere I don't go, such as a private network."
FEED_NO_HOST = "There's no site of that name."
FEED_SLOW = "It takes too long to answer."
FEED_TOO_LARGE = "It's too large for me."
FEED_UNREADABLE = "That isn't a feed I can read."
FEED_UNREACHABLE = "It can't be reached."
FEED_GONE = "Its server says it's gone for good."
FEED_STATUS = "Its server refuses it (status {status})."
ABOUT_REMIND = (
    "reminds you later; on its own it shows your reminders. A TEXT that starts with `ask:` is asked as a question then."
)
ABOUT_TIMEZONE = "shows which time zone I use for you, or changes it."
REMINDER = "⏰ {text}"
REMINDER_LATE = "⏰ {text}\n\n({late} late: I was offline.)"
REMINDER_WORDLESS = "⏰ You wanted a reminder now. What it was about disappeared with your message."
REMINDER_SET = "I'll remind you on {when}: {text}\n\n`/remind cancel {number}` cancels it."
REMINDER_SET_AGAIN = "I'll remind you {repeats}, next on {when}: {text}\n\n`/remind cancel {number}` cancels it."
REMINDER_SHIFTED = "(The clocks skip that hour on that day, so it comes later.)"
REMINDER_LOSES_WORDS = "(Messages here disappear before then: I'll remind you, but won't know what about.)"
REMINDER_ZONE = "(I assumed your time zone is {zone}; `/timezone NAME` changes that.)"
REMINDER_LINE = "- {number}: {when}: {text}"
REMINDER_LINE_AGAIN = "- {number}: {when}, {repeats}: {text}"
REMINDER_NO_WORDS = "(its text has disappeared)"
REMINDER_CANCELLED = "Cancelled: {text}"
NO_REMINDERS = "You have no reminders here."
NO_SUCH_REMINDER = "You have no reminder with that number here; `/remind` alone shows them all."
TOO_MANY_REMINDERS = "You have as many reminders as I can keep for one person. Please cancel one first."
TIME_IS_OVER = "That time has already passed: it's {now}."
TIME_TOO_FAR = "That is more than five years away."
NO_SUCH_TIME = "That time doesn't exist."
NO_SUCH_ZONE = "I don't know that time zone. Name the nearest big city, like Berlin or New York."
TIMEZONE = "Your time zone is {zone}: it's {now}."
EVERY_HOUR = "every hour"
EVERY_HOURS = "every {count} hours"
EVERY_DAY = "every day"
EVERY_DAYS = "every {count} days"
EVERY_WEEK = "every week"
EVERY_WEEKS = "every {count} weeks"
EVERY_MONTH = "every month"
EVERY_MONTHS = "every {count} months"
EVERY_YEAR = "every year"
EVERY_YEARS = "every {count} years"

DEED_CALCULATE = "calculate {expression}"
DEED_CLOCK = "look at the clock"
DEED_CONVERT = "convert {amount} {unit} to {to}"
DEED_WEATHER = "look up the weather in {place}"
DEED_SEARCH_WEB = "search the web for {query}"
DEED_VERIFY = "search the web for evidence on {claim}"
DEED_SEARCH_POSTS = "search X (Twitter) for {query}"
DEED_ENCYCLOPAEDIA = "look up {article} in Wikipedia"
DEED_SEARCH_MARKETS = "search prediction markets for {query}"
DEED_MARKET = "look up the prediction market {market}"
DEED_SEARCH_FEEDS = "search the news feeds for {query}"
DEED_FEEDS = "look through the news feeds"
DEED_PAGE = "read the page {url}"
DEED_DRAW = "have the image service draw {prompt}"
DEED_ROWS = "read the table {table} of the database {database}"
DEED_TABLES = "see which tables the databases have"
DEED_PREDICT = "record your prediction, {percent} % likely by {due}: {statement}"
DEED_PREDICTION_CAME_TRUE = "record that your prediction {number} came true"
DEED_PREDICTION_DID_NOT = "record that your prediction {number} did not come true"
DEED_PREDICTION_VOID = "record that nobody can tell how your prediction {number} turned out"
DEED_PREDICTION_OPEN = "open your prediction {number} again"
DEED_PREDICTION_STRUCK = "strike your prediction {number} off the record"
DEED_PREDICTIONS = "look through your predictions"
DEED_CALIBRATION = "work out how good your predictions were"
DEED_REMIND = "remind you {when}: {text}"
DEED_REMIND_ASK = "do this for you {when}: {prompt} (reminder: {text})"
DEED_REMIND_LIST = "look through your reminders"
DEED_REMIND_CANCEL = "cancel your reminder {number} (`/remind` shows it)"
DEED_REMIND_TIMEZONE = "change your time zone to {zone}"
DEED_REMEMBER = "remember this about you: {fact}"
DEED_FORGET = "delete number {number} of what I remember about you (`/memory` shows it)"
DEED_TOOL = "use {name}"
DEED_TOOL_OF_SERVER = "use {name} (server: {server})"
VALUE_CUT = "{value} (shortened; {count} characters in all)"
VALUES_LEFT_OUT = "… and {count} more"
WHEN_AT = "on {day} at {time}"
WHEN_IN = "in {duration}"
WHEN_ON_DAYS = "every {days} at {time}, from {day}"
WHEN_AGAIN = "{repeats} at {time}, from {day}"
WHEN_HOURLY = "{repeats}, from {day} at {time}"
WHEN_AGAIN_IN = "{repeats}, for the first time in {duration}"
WHEN_COUNTED = "{when}, {count} times in all"
WHEN_UNTIL = "{when}, until {day}"
EVERY_FIRST = "{repeats} (the first {weekday})"
EVERY_SECOND = "{repeats} (the second {weekday})"
EVERY_THIRD = "{repeats} (the third {weekday})"
EVERY_FOURTH = "{repeats} (the fourth {weekday})"
EVERY_LAST = "{repeats} (the last {weekday})"
AND_LAST = "{some} and {last}"
_MAY_I_DO = "May I {deed}?"

_YES_NO_ALWAYS = (
    "Just say yes, no or always, or put 👍 (once), ✅ (always, for {tool} when you ask here) or 👎 on this message."
)
_ALWAYS_ALLOWED = "(From now on I'll use {tool} without asking when you ask here. `/tools revoke {tool}` ends that.)"
_ALLOWED_SINCE = "{tool}: allowed without asking when you ask here, since {day}; `/tools revoke {tool}` ends that."
_NO_LONGER_ALLOWED = "I'll ask you about {tool} again."
NOT_ALLOWED = "You haven't allowed any tool of that name here."

STATUS_THINKING = "Thinking …"
STATUS_CALCULATE = "Calculating …"
STATUS_CONVERT = "Converting …"
STATUS_CURRENT_TIME = "Checking the time …"
STATUS_WEATHER = "Checking the weather …"
STATUS_WEB_SEARCH = "Searching the web …"
STATUS_VERIFY_NEWS = "Checking sources …"
STATUS_READ = "Reading a page …"
STATUS_POSTS = "Searching posts on X …"
STATUS_IMAGE = "Drawing a picture …"
STATUS_NEWS = "Looking through the news …"
STATUS_REMIND = "Setting a reminder …"
STATUS_REMEMBER = "Making a note …"
STATUS_TOOL = "Using a tool …"

_NOTICE_KEY = (
    "{subject} no longer accepts the key I was given, or the account is out of credit. Please check both; "
    "`python -m bot doctor` says which setting it is."
)
_NOTICE_MODEL = (
    "The model “{subject}” that I am set up to use does not exist at its service. Please correct its name; "
    "`python -m bot doctor` says what there is."
)
_NOTICE_DISK = (
    "My disk is nearly full. Please make room: once it is full, I can no longer take in messages. "
    "`python -m bot doctor` says how much is left."
)
_NOTICE_DEAF = (
    "I have not received any messages for ten minutes, although the bridge to Signal is running. If people write to me "
    "now, I may not see it. Please look at the bridge; `python -m bot doctor` helps."
)
_NOTICES: Mapping[str, str] = {
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


EXAMPLES: Mapping[str, str] = {
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
OFFLINE_TOPICS: Mapping[str, str] = {
    "calculate": _TOPIC_CALCULATE,
    "convert": _TOPIC_CONVERT,
    "get_weather": _TOPIC_WEATHER,
    "current_time": _TOPIC_TIME,
    "web_search": _TOPIC_SEARCH,
    "remind": _TOPIC_REMIND,
    "remember": _TOPIC_REMEMBER,
}
"""What can be asked without a language model, by the tool that does it."""
_HELP_SECTIONS: Mapping[str, str] = {
    "chat": _HELP_CHAT,
    "later": _HELP_LATER,
    "settings": _HELP_SETTINGS,
    "data": _HELP_DATA,
    "admins": _HELP_ADMINS,
}

_BY_ERROR: tuple[tuple[type[ProviderError], str], ...] = (
    (Overloaded, OVERLOADED),
    (Unavailable, UNAVAILABLE),
    (ContextTooLong, TOO_LONG),
    (BadKey, BAD_KEY),
    (NoSuchModel, NO_SUCH_MODEL),
    (Rejected, REJECTED),
)


_STATUSES: Mapping[str, str] = {
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


_CAUSES: Mapping[SourceKind, str] = {
    "page": _CAUSE_PAGE,
    "search": _CAUSE_SEARCH,
    "tool": _CAUSE_TOOL,
    "file": _CAUSE_FILE,
    "voice": _CAUSE_VOICE,
    "person": _CAUSE_PERSON,
    "talk": _CAUSE_TALK,
    "unknown": _CAUSE_UNKNOWN,
}
_UNNAMED_CAUSES: Mapping[SourceKind, str] = {
    "page": _CAUSE_SEARCH,
    "tool": _CAUSE_UNKNOWN,
    "file": _CAUSE_UNNAMED_FILE,
    "person": _CAUSE_SOMEBODY,
}
_ORIGINS: Mapping[SourceKind, str] = {
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
PAGE_SKIP = "Skip to the content"
PAGE_MENU = "Menu"
PAGE_OVERVIEW = "Overview"
PAGE_SETUP = "Set-up"
PAGE_SIGN_OUT = "Sign out"
PAGE_LOST = "The connection to Aldis is lost. What you see here may be old."
PAGE_LANGUAGE = "Language"
PAGE_CHANGE = "Change"
PAGE_WELCOME = "Welcome to Aldis"
PAGE_ENTER_WHY = "This link opens the pages for set-up and administration, once and in this browser."
PAGE_ENTER = "Open"
PAGE_SIGNED_OUT = "You need a link"
PAGE_SIGNED_OUT_WHY = (
    "These pages open with a link that works once and for ten minutes. On the machine where Aldis runs, this "
    "prints one:"
)
PAGE_SIGNED_OUT_DOCKER = "With Docker:"
PAGE_CODE = "Second factor"
PAGE_CODE_LABEL = "Code"
PAGE_CODE_WHY = "The six digits that your authenticator app shows for Aldis."
PAGE_CODE_WRONG = "That code is wrong, or was used already. Wait for the next one."
PAGE_NOT_DONE = "That did not work"
PAGE_NOT_DONE_WHY = "Nothing was changed (error {status}). Go back, reload the page, and try again."
PAGE_NOT_RUNNING = "Aldis is not running yet: it has no account so far, or waits for the bridge to Signal."
PAGE_REFUSED = "It was refused: {words}"
PAGE_HEALTH = "How Aldis is"
PAGE_WELL = "All is well"
PAGE_NOT_WELL = "Something is wrong"
PAGE_WAITS = "Waiting"
PAGE_FINDINGS = "To be mended"
PAGE_QUEUE_IN = "Messages to be answered"
PAGE_QUEUE_OUT = "Answers to be sent"
PAGE_GIVEN_UP = "Given up"
PAGE_SAFETY_NUMBERS = "New safety numbers"
PAGE_SAFETY_NUMBERS_WHY = (
    "These people have a new phone, or somebody has taken over their number. Until you trust the new number, "
    "nothing of them is read and answers to them wait. Ask them in some other way first."
)
PAGE_SAFETY_NUMBER_UNKNOWN = "The bridge does not tell the new number."
PAGE_SAFETY_NUMBER_SINCE = "since {when}"
PAGE_SAFETY_NUMBER_COMPARED = "The number on their phone, if you have compared it (optional)"
PAGE_TRUST = "Trust this number"
PAGE_TRUSTED = "The new number is trusted. What was waiting is on its way."
PAGE_TRUST_CHANGED = "That number is not the newest one any more. Look at it again."
PAGE_BRIDGE_SILENT = "The bridge to Signal does not answer right now."
PAGE_CAPTCHA = "Captcha"
PAGE_CAPTCHA_WANTED = (
    "Signal sends nothing more before somebody has solved a captcha. Open this page, solve it, and copy the "
    "link of “Open Signal”:"
)
PAGE_CAPTCHA_NOT_WANTED = "Signal wants none at the moment. If it does, the box for it appears here."
PAGE_CAPTCHA_LABEL = "Link of the solved captcha"
PAGE_CAPTCHA_HINT = "It begins with signalcaptcha:// and is long."
PAGE_CAPTCHA_SEND = "Hand it in"
PAGE_CAPTCHA_NONE = "That is no solved captcha. Copy the whole link of “Open Signal”; it begins with signalcaptcha://"
PAGE_CAPTCHA_TAKEN = "Signal took it. What was waiting is on its way."
PAGE_ACCOUNT = "The account"
PAGE_LINK = "Link it to your phone"
PAGE_LINK_WHY = (
    "Aldis becomes a further device of a Signal account, as Signal Desktop would. Best take an account of its "
    "own; yours works, too."
)
PAGE_LINK_BEGIN = "Show the QR code"
PAGE_LINK_STOP = "Stop"
PAGE_LINKED = "Linked"
PAGE_LINKED_STARTS = "The phone has agreed. Aldis is starting."
PAGE_NOT_LINKED = "No account yet"
PAGE_ANSWERS_FOR = "Aldis answers for {account}."
PAGE_ACCOUNTS_THERE = "The bridge has already: {names}"
PAGE_LINK_LOOKING = "Asking the bridge …"
PAGE_LINK_REFUSED = "The bridge refuses"
PAGE_SCAN = "Scan this code"
PAGE_SCAN_1 = "Open Signal on your phone."
PAGE_SCAN_2 = "Go to Settings, Linked devices, Link new device."
PAGE_SCAN_3 = "Point the camera at the code, and confirm."
PAGE_SCAN_ALT = "QR code for linking; its address stands below."
PAGE_SCAN_ADDRESS = "The address in the code"
PAGE_SCAN_RENEWS = "Code {number}. Each is good for about a minute; the next one comes by itself."
PAGE_STEPS = "Steps of the set-up"
PAGE_STEP_DONE = "done"
PAGE_NEXT = "Next: {step}"
PAGE_MODEL = "The model"
PAGE_YOU = "Who you are"
PAGE_TOOLS = "What it may do"
PAGE_DONE = "Finish"
PAGE_PEOPLE = "People"
PAGE_USAGE = "Usage"
PAGE_UPKEEP = "Upkeep"
PAGE_SAVE = "Save"
PAGE_SAVED = "Saved. Aldis begins again with it, which takes a moment."
PAGE_SET_ELSEWHERE = "{name} is set in: {where}. That wins over what is set here; change it there."
PAGE_USE = "Use this"
PAGE_ADD = "Add"
PAGE_REMOVE = "Remove"
PAGE_REMOVE_WHOM = "Remove {name}"
PAGE_ON = "on"
PAGE_OFF = "off"
PAGE_SWITCH_ON = "Switch on"
PAGE_SWITCH_OFF = "Switch off"
PAGE_IS_SET = "set"
PAGE_ADDRESS = "Address"
PAGE_NAME = "Name"
PAGE_SOMEBODY = "somebody"
PAGE_EVERYBODY = "everybody"
PAGE_BRIDGE = "Bridge to Signal"
PAGE_BRIDGE_NONE = (
    "Nothing answers at {url}. Aldis needs signal-cli or signal-cli-rest-api; with Docker it comes along and "
    "takes up to half a minute to start."
)
PAGE_BRIDGE_FOUND = "One answers at {url}."
PAGE_BRIDGE_OTHER = "It is somewhere else"
PAGE_ACCOUNT_CHOOSE = "Which account?"
PAGE_OWN = "Your own account"
PAGE_OWN_WHY = "If you link your own account, Aldis can answer your “Note to Self” and read nothing else of what comes."
PAGE_OWN_BEGIN = "Answer my Note to Self alone"
PAGE_OWN_END = "Answer other people, too"
PAGE_REGISTER = "A number of its own"
PAGE_REGISTER_WHY = (
    "Any number that can get an SMS or a call, and that no Signal app uses: whoever uses it now would be signed out."
)
PAGE_REGISTER_BEGIN = "Register a number"
PAGE_REGISTER_CAPTCHA = "Signal wants a captcha first. Solve it here, and copy the link of “Open Signal”:"
PAGE_REGISTER_HOW = "How the code comes"
PAGE_REGISTER_SEND = "Send the code"
PAGE_REGISTERED = "The number is an account now. Aldis is starting."
PAGE_BY_SMS = "by SMS"
PAGE_BY_CALL = "by a call"
PAGE_NUMBER = "Phone number"
PAGE_NUMBER_HINT = "With the code of the country, such as +49 151 23456789."
PAGE_NUMBER_WRONG = "That is no phone number with the code of its country."
PAGE_CODE_SENT = "Signal sends a code to {number}. Type it in here."
PAGE_CODE_MISSING = "There is no code to check yet: have one sent first."
PAGE_VERIFY = "Check the code"
PAGE_VERIFY_CODE_HINT = "The six digits of the SMS or call."
PAGE_PIN = "PIN"
PAGE_PIN_HINT = "Only where the number has a registration lock."
PAGE_MODEL_NOW = "What answers now"
PAGE_MODEL_OFFLINE = "No language model"
PAGE_MODEL_OFFLINE_WHY = (
    "Aldis answers sums, units, the weather, reminders and commands by itself; everything else takes a model."
)
PAGE_MODEL_FIRST = "the first that the server lists"
PAGE_MODEL_CHOOSE = "Another model of this server"
PAGE_MODEL_PRICES = "Behind the name: US dollars for a million tokens read and written, where the price is known."
PAGE_MODEL_CHOSEN = "{model} answers from now on."
PAGE_MODEL_TAKEN = "The server answers and the settings are saved. Aldis begins again with it."
PAGE_MODEL_NONE = "For now Aldis answers without a model."
PAGE_MODEL_TEST = "Ask it something"
PAGE_MODEL_TEST_WHY = "A real question of a few words shows that it answers, and what that costs: a fraction of a cent."
PAGE_MODEL_ANSWERS = "It answers: {words}"
PAGE_KEY = "A key"
PAGE_KEY_WHY = "You get one in the vendor’s console. What is asked goes to the vendor, who charges for it."
PAGE_VENDOR = "Vendor"
PAGE_KEY_LABEL = "The key"
PAGE_KEY_HINT = "It is tried at once, for nothing, and never shown again."
PAGE_KEY_TAKE = "Try and save"
PAGE_KEY_MISSING = "Something is missing: choose, and fill in the field."
PAGE_KEY_OPTIONAL = "Key, if the server wants one"
PAGE_SERVER = "A server of your own"
PAGE_SERVER_WHY = (
    "Ollama, LM Studio, vLLM or llama.cpp on this machine or in your network: nothing that is asked leaves the house."
)
PAGE_SERVER_LOOK = "Look for one"
PAGE_SERVER_NONE = "None answers at its usual address."
PAGE_SERVER_OTHER = "It is at another address"
PAGE_WITHOUT = "Without a model for now"
PAGE_WITHOUT_WHY = "You can take this step later; until then Aldis does what it can by itself."
PAGE_WITHOUT_DO = "Go on without"
PAGE_ADMIN = "Who may say what happens"
PAGE_ADMIN_THERE = "Admin"
PAGE_ADMIN_NEXT = "Write to Aldis again: now it answers."
PAGE_ADMIN_OTHERS = "Let others in"
PAGE_ADMIN_MADE = "That is you. Write to Aldis again: now it answers."
PAGE_WRITE_NOW = "Write to Aldis now"
PAGE_WRITE_NOW_NUMBER = "Write any message to {number} in Signal, from your own phone. You appear here."
PAGE_WRITE_NOW_HOW = "Write any message to the account of Aldis in Signal, from your own phone. You appear here."
PAGE_WRITE_NOW_WORDS = "Nobody is answered yet. Who writes is shown here for ten minutes; what they write is not kept."
PAGE_CALLERS_NONE = "Nobody has written yet"
PAGE_CALLER_AT = "wrote on {when}"
PAGE_CALLER_GONE = "That person is no longer listed here. Write once more."
PAGE_THIS_IS_ME = "This is me"
PAGE_ADMINS = "Admins"
PAGE_ADMINS_WHY = "They are answered, and may give the operator’s commands."
PAGE_ALLOWED = "Who may write"
PAGE_ALLOWED_WHY = "They are answered in their own chat."
PAGE_BY_CODE = "let in by a code"
PAGE_NOBODY = "Nobody yet."
PAGE_PERSON = "Phone number or uuid"
PAGE_PERSON_HINT = "With the code of the country. A number stands for the account that first comes with it."
PAGE_PERSON_ADD = "Add somebody"
PAGE_PERSON_AS = "As"
PAGE_PERSON_ADDED = "They may write from now on."
PAGE_PERSON_REMOVED = "Removed. They are no longer answered."
PAGE_PERSON_WRONG = "That is neither a phone number with the code of its country nor a uuid."
PAGE_PAIRING = "Codes for others"
PAGE_PAIRING_WHY = (
    "Strangers who write get a code and nothing else. Whoever tells you theirs can be let in with it, here or "
    "by /allow."
)
PAGE_PAIRING_CODE = "The code that you were told"
PAGE_PAIRING_HINT = "Such as ACDE-3467; good for an hour."
PAGE_PAIRING_UNKNOWN = "That code is unknown, or older than an hour."
PAGE_LET_IN = "Let them in"
PAGE_GROUPS = "Groups"
PAGE_GROUPS_WHY = (
    "In a group that is ticked, its members may ask Aldis. Invite its account to a group, and the group appears here."
)
PAGE_GROUPS_NONE = "The account is in no group."
PAGE_BUDGETS = "Budgets"
PAGE_BUDGETS_WHY = "US dollars by the ledger’s prices. An empty field limits nothing, 0 means nothing at all."
PAGE_BUDGET_PERSON_DAY = "For one person in a day"
PAGE_BUDGET_PERSON_MONTH = "For one person in a month"
PAGE_BUDGET_GROUP_DAY = "For one group in a day"
PAGE_BUDGET_GROUP_MONTH = "For one group in a month"
PAGE_BUDGET_ALL_DAY = "For everybody in a day"
PAGE_BUDGET_ALL_MONTH = "For everybody in a month"
PAGE_TOOLS_THERE = "The tools"
PAGE_TOOLS_WHY = "What the model may do besides answering: what each costs, and who outside sees what is asked."
PAGE_STATE_ON = "in use"
PAGE_STATE_OFF = "switched off"
PAGE_STATE_MISSING = "lacks something"
PAGE_STATE_FAILED = "broken"
PAGE_TOOL_COSTS = "up to {cost} a call"
PAGE_TOOL_FREE = "free"
PAGE_TOOL_SEEN = "seen by: {names}"
PAGE_TOOL_SEEN_NOBODY = "nobody outside sees it"
PAGE_TOOL_SEEN_UNKNOWN = "it does not tell who sees it"
PAGE_TOOL_ASKS = "asks first where it has read what strangers wrote"
PAGE_TOOL_UNKNOWN = "There is no such tool."
PAGE_SEARCH = "Keys for searching"
PAGE_SEARCH_WHY = (
    "Without any, Wikipedia is searched. A key is tried at once, for nothing where the service allows that; "
    "an empty field takes it out."
)
PAGE_RETENTION = "How long words are kept"
PAGE_RETENTION_WHY = (
    "What is said is kept sealed on this machine, so that the model can read it again. After these days it is "
    "destroyed."
)
PAGE_RETENTION_DAYS = "Days"
PAGE_RETENTION_HINT = "Empty: until somebody says /forget."
PAGE_LEVEL_OK = "well"
PAGE_LEVEL_WARNING = "look"
PAGE_LEVEL_PROBLEM = "problem"
PAGE_ALL_DONE = "Aldis is set up"
PAGE_ALL_DONE_WHY = "Write to it in Signal: ask something, or say /help."
PAGE_NOT_ALL_DONE = "Not finished yet. These steps are left:"
PAGE_CHAT_ALT = "An example of a message and its answer"
PAGE_CHAT_QUESTION = "What is 17 × 23?"
PAGE_CHAT_ANSWER = "17 × 23 = 391"
PAGE_MASTER_KEY = "The master key"
PAGE_MASTER_KEY_WHY = (
    "Everything kept is sealed with it, and no backup holds it. Keep a copy somewhere else: without it nobody "
    "can read a backup; with it and a backup, anybody can."
)
PAGE_MASTER_KEY_GET = "Download the key"
PAGE_KEY_ELSEWHERE = "The key is not in a file here: it comes from the settings, or there is nothing kept yet."
PAGE_DOCTOR = "The doctor"
PAGE_DOCTOR_WHY = "Looks at settings, store, bridge, keys, models and tools, for nothing, and says what to do."
PAGE_EXAMINE = "Examine everything"
PAGE_EXAMINED = "Examined."
PAGE_SPENT = "Spent in 30 days"
PAGE_MODEL_CALLS = "Calls of models"
PAGE_TOKENS = "Tokens"
PAGE_BY_DAY = "By day"
PAGE_BY_DAY_ALT = "Bars for what was spent on each of 30 days, {total} in all; a table follows."
PAGE_BY_PERSON = "By person"
PAGE_BY_MODEL = "By model"
PAGE_BY_TOOL = "By tool"
PAGE_AS_TABLE = "As a table"
PAGE_DAY = "Day"
PAGE_COST = "Cost"
PAGE_CALLS = "Calls"
PAGE_USAGE_NONE = "Nothing so far."
PAGE_BACKUPS = "Backups"
PAGE_BACKUPS_WHY = (
    "A copy of all that is kept, made while Aldis runs, in the folder backups beside the store. Take it to "
    "another machine."
)
PAGE_BACK_UP = "Back up now"
PAGE_BACKED_UP = "The backup is made."
PAGE_VERSIONS = "Versions"
PAGE_FEEDS = "News feeds"
PAGE_FEEDS_NONE = "None is read."
PAGE_REMINDERS = "Reminders"
PAGE_REMINDERS_WHY = "By number and time; what they say is for those who planned them."
PAGE_REMINDERS_NONE = "None is planned."
PAGE_LOG = "The log"
PAGE_LOG_WHY = "The newest lines first. It never has words, names or numbers of people."
PAGE_AUDIT = "What was done here"
PAGE_AUDIT_WHY = "Every change, with the session that made it; never a value."
PAGE_WHEN = "When"
PAGE_WHAT = "What"
PAGE_ABOUT = "About"
PAGE_SESSION = "Session"
PAGE_FROM = "From"


def under_way(tool: str | None) -> str:
    """What is going on in a turn that takes long: this tool runs; None: the model is asked."""
    return said(STATUS_THINKING if tool is None else _STATUSES.get(tool, STATUS_TOOL))


def for_error(error: ProviderError) -> str:
    """What a person hears when no model answered."""
    return said(next((phrase for kind, phrase in _BY_ERROR if isinstance(error, kind)), FAILED))


_BUDGETS: Mapping[tuple[str, str], str] = {
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
_NEARLY: Mapping[tuple[str, str], str] = {
    ("person", "day"): _NEARLY_PERSON_DAY,
    ("person", "month"): _NEARLY_PERSON_MONTH,
    ("group", "day"): _NEARLY_GROUP_DAY,
    ("group", "month"): _NEARLY_GROUP_MONTH,
    ("all", "day"): _NEARLY_ALL_DAY,
    ("all", "month"): _NEARLY_ALL_MONTH,
}
_SPENT: Mapping[tuple[str, str], str] = {
    ("person", "day"): _SPENT_PERSON_DAY,
    ("person", "month"): _SPENT_PERSON_MONTH,
    ("group", "day"): _SPENT_GROUP_DAY,
    ("group", "month"): _SPENT_GROUP_MONTH,
    ("all", "day"): _SPENT_ALL_DAY,
    ("all", "month"): _SPENT_ALL_MONTH,
}
_SPENDERS: Mapping[str, str] = {"person": _SPENT_PERSON, "group": _SPENT_GROUP, "all": _SPENT_ALL}
_OUTCOMES: Mapping[str, str] = {
    "came_true": _PREDICTION_CAME_TRUE,
    "did_not": _PREDICTION_DID_NOT,
    "void": _PREDICTION_VOID,
}


def budget_used_up(scope: str, span: str, *, renews: bool) -> str:
    """What a person hears when the budget of a `person`, a `group` or `all` is used up for the `day` or `month`.

    `renews` is whether there is more afterwards.
    """
    return said(_BUDGETS[scope, span if renews else "none"])


def budget_nearly_used_up(scope: str, span: str, percent: int) -> str:
    """The remark below an answer that so much of a budget is used; above 100 percent it says 100."""
    return said(_NEARLY[scope, span], percent=min(percent, 100))


def may_i(deeds: Sequence[Deed], cost_usd: Decimal, causes: Sequence[Source] = (), *, always: str | None = None) -> str:
    """The question whether all this may be done, and because of what it is asked; no causes: because the operator or
    the tool wants it. `always` is the tool that may be allowed for good, None: none may.
    """
    asked = _asked(deeds[0]) if len(deeds) == 1 else [said(_MAY_I), "", *_numbered(deeds)]
    why = ["", said(_BECAUSE, causes=_causes(causes))] if causes else []
    cost = ["", said(_CALLS_COST, cost=number(cost_usd))] if cost_usd else []
    hint = said(_YES_OR_NO) if always is None else said(_YES_NO_ALWAYS, tool=always)
    return "\n".join([*asked, *why, *cost, "", hint])


def always_allowed(tool: str) -> str:
    """The remark below an answer that a tool is used without asking from now on."""
    return said(_ALWAYS_ALLOWED, tool=tool)


def allowed_since(tool: str, at: datetime) -> str:
    """The line of `/tools` and of an export about a tool that is used without asking."""
    return said(_ALLOWED_SINCE, tool=tool, day=day(at))


def no_longer_allowed(tool: str) -> str:
    """What a person hears who wants to be asked about a tool again."""
    return said(_NO_LONGER_ALLOWED, tool=tool)


def unattended(deeds: Sequence[Deed], causes: Sequence[Source]) -> str:
    """What a scheduled run has left undone."""
    why = ["", said(_BECAUSE, causes=_causes(causes))] if causes else []
    return "\n".join([said(UNATTENDED), "", *_numbered(deeds), *why])


def _asked(deed: Deed) -> list[str]:
    below = ["", *(f"- {line}" for line in deed.details)] if deed.details else []
    return [said(_MAY_I_DO, deed=deed.words), *below]


def _numbered(deeds: Sequence[Deed]) -> list[str]:
    lines: list[str] = []
    for place, deed in enumerate(deeds, 1):
        lines.append(f"{place}. {deed.words[:1].upper()}{deed.words[1:]}")
        lines += [f"   - {line}" for line in deed.details]
    return lines


def origin(sources: Sequence[Source]) -> str:
    """Where something that is kept comes from, in a few words; empty: from the person."""
    return ", ".join(dict.fromkeys(said(_ORIGINS[source.kind], name=source.name) for source in _newest(sources)))


def rests_on(sources: Sequence[Source]) -> str:
    """The line below an answer that tells what it rests on, as Markdown."""
    return f"_({origin(sources)})_"


def _causes(sources: Sequence[Source]) -> str:
    """The newest causes in words, newest first, each once."""
    named = [said(_cause(source), name=source.name) for source in _newest(sources)]
    left_out = len(sources) > len(named)
    return ", ".join(dict.fromkeys(named)) + (", …" if left_out else "")


def _newest(sources: Sequence[Source]) -> Sequence[Source]:
    return list(reversed(sources))[:_MAX_CAUSES]


def _cause(source: Source) -> str:
    return _CAUSES[source.kind] if source.name else _UNNAMED_CAUSES.get(source.kind, _CAUSES[source.kind])


def wrong_form(form: str) -> str:
    """What a person hears whose command was not in the right form."""
    return said(_WRONG_FORM, form=form)


def unknown_command(name: str, near: Sequence[str] = ()) -> str:
    """What a person hears who gave a command that there is not, or not for them; `near` are those that may be meant."""
    if not near:
        return said(_UNKNOWN_COMMAND, name=name)
    return said(_DID_YOU_MEAN, name=name, names=_either([f"`/{one}`" for one in near]))


def which(word: str, near: Sequence[str]) -> str:
    """What a person hears whose word may mean several things."""
    return said(_WHICH, word=word, names=_either([f"`{one}`" for one in near]))


def _either(shown: Sequence[str]) -> str:
    return said(OR_LAST, some=", ".join(shown[:-1]), last=shown[-1]) if len(shown) > 1 else shown[0]


def help_section(section: str, names: Sequence[str]) -> str:
    """A line of `/help`: the commands of one of its parts (`chat`, `later`, `settings`, `data`, `admins`)."""
    return said(_HELP_SECTIONS[section], names=" ".join(f"`{name}`" for name in names))


def forgot(turns: int) -> str:
    """What a person hears after `/forget`."""
    return said(_FORGOT, answers=_answers(turns))


def forgot_everything(turns: int) -> str:
    """What a person hears after `/forget everything`."""
    what = said(_ALL_OF_SOME, answers=_answers(turns)) if turns else said(_ALL_OF_NOTHING)
    return said(_ALL_FORGOTTEN, what=what)


def kept_about_you(turns: int) -> str:
    """The first line of an export."""
    return said(_KEPT_SOME, answers=_answers(turns)) if turns else said(_KEPT_NOTHING)


def kept_fact(fact: str) -> str:
    """A line of an export: what is remembered."""
    return said(_KEPT_FACT, fact=fact)


def kept_reminder(at: datetime, text: str) -> str:
    """A line of an export: what is to come, by the clock of `at`."""
    return said(_KEPT_REMINDER, when=moment(at), text=text)


def kept_prediction(statement: str, probability: float, due: date, outcome: str | None) -> str:
    """A line of an export: a prediction, and what came of it (`came_true`, `did_not`, `void`); None: it is open."""
    percent = number((Decimal(str(probability)) * 100).normalize())
    told = said(_KEPT_PREDICTION, percent=percent, day=day(due), statement=statement)
    return told if outcome is None else f"{told} ({said(_OUTCOMES[outcome])})"


def kept_in_file(turns: int, shown: int) -> str:
    """What stands beside the file of an export: how many answers are kept, and how many of them it holds."""
    if shown < turns:
        return said(_KEPT_PARTLY_IN_FILE, answers=_answers(turns), count=shown)
    return said(_KEPT_IN_FILE, answers=_answers(turns))


def kept_unanswered(question: str) -> str:
    """A line of an export: a question that is kept to be asked again."""
    return said(_KEPT_UNANSWERED, question=question)


def spent(scope: str, cost_usd: Decimal, limit_usd: Decimal | None = None, *, is_day: bool) -> str:
    """A line of `/usage`: what was spent and, where there is a limit, what is left of it."""
    if limit_usd is None:
        amount = said(_SPENT_FREELY, cost=_usd(cost_usd))
    else:
        left = _usd(max(limit_usd - cost_usd, Decimal(0)))
        amount = said(_SPENT_OF, cost=_usd(cost_usd), limit=number(limit_usd), left=left)
    return said(_SPENT[scope, "day" if is_day else "month"], amount=amount)


def export_title(name: str) -> str:
    """The title of the page of an export."""
    return said(_EXPORT_TITLE, name=name)


def picture_left_out() -> str:
    """What stands on that page where a picture does not."""
    return said(_PICTURE_LEFT_OUT)


def spent_by_day(month: str) -> str:
    """The title of the chart of `/usage`; the month as `2026-11`."""
    return said(_SPENT_BY_DAY, month=month)


def spender(scope: str) -> str:
    """Whose spending a part of that chart shows."""
    return said(_SPENDERS[scope])


def from_cache(share: float) -> str:
    """The line of `/usage` about what did not have to be paid in full; `share` is 0 to 1."""
    return said(_FROM_CACHE, percent=round(100 * share))


def unpriced(calls: int) -> str:
    """The line of `/usage` about costs that nobody knows."""
    return said(_UNPRICED, calls=calls)


def when(at: datetime, zone: str) -> str:
    """An instant by somebody's clock: `Mon 2026-11-23 08:00 Europe/Berlin`. `at` is in that zone."""
    return f"{moment(at)} {zone}"


def repeats(every: str, interval: int, weekdays: Sequence[int]) -> str:
    """How often something comes again: `hour` ... `year`, each so many of them, on these days (Monday is 0)."""
    one, many = _REPEATS[every]
    words = said(one) if interval == 1 else said(many, count=interval)
    # Any week does: the first day of 2024 was a Monday.
    names = [moment(datetime(2024, 1, 1 + day, tzinfo=UTC)).partition(" ")[0] for day in weekdays]
    return f"{words} ({', '.join(names)})" if names else words


def duration(seconds: float) -> str:
    """A time that has passed, in its two largest units: `2 h 5 min`."""
    minutes = max(1, round(seconds / 60))
    days, hours, rest = minutes // 1440, minutes // 60 % 24, minutes % 60
    parts = [f"{number} {unit}" for number, unit in ((days, "d"), (hours, "h"), (rest, "min")) if number]
    return " ".join(parts[:2])


def let_in(label: str) -> str:
    """What an admin hears after `/allow`."""
    return said(_LET_IN, label=label)


def shut_out(label: str) -> str:
    """What an admin hears after `/deny`."""
    return said(_SHUT_OUT, label=label)


def invitation(code: str) -> str:
    """What a stranger hears who is given a code."""
    return said(_INVITATION, code=code)


def guest(label: str, at: datetime, by: str) -> str:
    """A line of `/people`."""
    return said(_GUEST, label=label, day=day(at), by=by)


def undone(question: str) -> str:
    """What a person hears after `/undo`: the beginning of what was taken back; empty: it had no words."""
    return said(_UNDONE, question=question) if question else said(UNDONE_WORDLESS)


def model(now: str, choices: Sequence[str]) -> str:
    """What `/model` shows: the model that answers, and all that could."""
    if not choices:
        return said(_MODEL_NOW, model=now)
    numbered = "\n".join(f"{place}. {choice}" for place, choice in enumerate(choices, 1))
    return f"{said(_MODEL_NOW, model=now)} {said(_MODEL_OTHERS, models=numbered)}"


def no_such_model(name: str) -> str:
    """What a person hears who has chosen a model that there is not."""
    return said(_NO_SUCH_MODEL_HERE, name=name)


def no_such_tool(name: str) -> str:
    """What a person hears who has switched a tool that there is not."""
    return said(_NO_SUCH_TOOL, name=name)


def persona(text: str) -> str:
    """What `/persona` shows."""
    return said(_PERSONA_NOW, text=text)


def persona_set(*, disappears: bool) -> str:
    """What a person hears who has set a persona, in a message that stays or disappears."""
    return said(_PERSONA_TIMED if disappears else _PERSONA_SET)


def persona_too_long(most: int) -> str:
    """What a person hears whose persona has more than so many characters."""
    return said(_TOO_LONG_PERSONA, most=most)


def tools_switched(names: Sequence[str], *, is_on: bool) -> str:
    """What a person hears who has switched one tool, or several that belong together."""
    if len(names) == 1:
        return said(_TOOL_ON if is_on else _TOOL_OFF, name=names[0])
    return said(_TOOLS_ON_NOW if is_on else _TOOLS_OFF_NOW, names=", ".join(names))


def tool(name: str, *, is_on: bool) -> str:
    """A line of `/tools`."""
    return said(_LIST_ON if is_on else _LIST_OFF, name=name)


def tools_absent(server: str) -> str:
    """The line of `/tools` about a server whose tools are not there now."""
    return said(_LIST_ABSENT, name=server)


def language_set() -> str:
    """What a person hears, in the language that is spoken from now on."""
    return said(_LANGUAGE_SET)


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
        *([said(_STATUS_TAKEN, duration=duration(60 * taken_minutes))] if taken_minutes else ()),
        *([said(_STATUS_WAITING, count=waiting)] if waiting else ()),
        *([said(_STATUS_WORDS, count=words)] if words else ()),
        *([said(_STATUS_MODEL, model=model)] if model else ()),
        *([said(_STATUS_ANSWERED, model=answered_by)] if answered_by else ()),
        *([said(_STATUS_TOOLS, tools=", ".join(tools_off))] if tools_off else ()),
    )


def taken_over(label: str, length: timedelta) -> str:
    """What an admin hears who has taken over this chat, or that of whoever has the label."""
    how_long = duration(length.total_seconds())
    if label:
        return said(_TAKEN_OVER_OF, label=label, duration=how_long)
    return said(_TAKEN_OVER, duration=how_long)


def offline_introduction(tools: Collection[str], *, says_hello: bool) -> str:
    """What can be done without a language model, as far as these tools go, with an example of each."""
    topics = [
        f"- {said(topic)}: {quotation(said(EXAMPLES[tool]))}" for tool, topic in OFFLINE_TOPICS.items() if tool in tools
    ]
    first = f"{said(_OFFLINE_HELLO)} {said(_OFFLINE_SELF)}" if says_hello else said(_OFFLINE_SELF)
    return "\n".join([first, "", *(topics or [said(OFFLINE_NO_TOOLS)]), "", said(_OFFLINE_HOW_TO)])


def the_search() -> str:
    """What found something, where nobody says its name."""
    return said(_OFFLINE_THE_SEARCH)


def greeting(name: str, tools: Sequence[str]) -> str:
    """What somebody reads first: who is there, what they could ask (as far as there are tools for it), what else."""
    shown = [quotation(said(example)) for tool, example in EXAMPLES.items() if tool in tools][:_MAX_EXAMPLES]
    tries = [said(_GREETING_TRY, examples=_either(shown))] if shown else []
    return "\n".join([said(_GREETING, name=name), *tries, said(GREETING_MORE)])


def who(name: str | None, label: str, person: str, group: str | None, *, is_admin: bool) -> str:
    """What `/whoami` shows: the chosen name, the label, the id, whether they are an admin, and the group's id."""
    return "\n".join(
        [
            *([said(_WHO_NAME, name=name)] if name else ()),
            said(_WHO_LABEL, label=label),
            said(_WHO_UUID, person=person),
            said(_WHO_ADMIN if is_admin else _WHO_NOT_ADMIN),
            *([said(_WHO_IN_GROUP, group=f"`{group}`")] if group else [said(WHO_DIRECTLY)]),
        ]
    )


def broadcast_asks(people: int, groups: int, text: str) -> str:
    """The question before a message goes to so many people and groups."""
    return said(_BROADCAST_ASKS, people=people, groups=groups, text=text)


def broadcast_done(count: int) -> str:
    """What the admin hears who has sent a message to so many conversations."""
    return said(_BROADCAST_DONE, count=count)


def budget_amount(spent_usd: Decimal, limit_usd: Decimal | None) -> str:
    """What was spent of a budget."""
    if limit_usd is None:
        return said(_NO_LIMIT, spent=_usd(spent_usd))
    return said(_BUDGET_LINE, spent=_usd(spent_usd), limit=number(limit_usd))


def budget_line(label: str | None, *, is_day: bool, amount: str) -> str:
    """A line of `/budget`; `label` None: everybody's together."""
    if label is None:
        return said(_AMOUNT_ALL_DAY if is_day else _AMOUNT_ALL_MONTH, amount=amount)
    return said(_AMOUNT_PERSON_DAY if is_day else _AMOUNT_PERSON_MONTH, label=label, amount=amount)


def budget_each(limits: Sequence[Decimal | None]) -> str:
    """The line of `/budget` with what each may spend: a person a day, a month, a group a day, a month."""
    words = [said(_UNLIMITED) if limit is None else said(_LIMIT, limit=number(limit)) for limit in limits]
    names = ("day", "month", "group_day", "group_month")
    return said(_BUDGET_EACH, **dict(zip(names, words, strict=True)))


def identity_changed(name: str | None, label: str) -> str:
    """Somebody's safety number has changed, and what an admin can do about it."""
    return said(_IDENTITY_CHANGED, name=_named(name, label), label=label)


def notice(kind: str, subject: str) -> str:
    """What the admins are told without having asked: a key that is refused, a model that there is not, and the like."""
    return said(_NOTICES[kind], subject=subject)


def suspect(name: str | None, label: str, since: datetime, safety_number: str) -> str:
    """A line of those whose safety number has changed, with the new one."""
    return said(_SUSPECT, name=_named(name, label), when=moment(since), number=safety_number or "?")


def trusted(name: str | None, label: str) -> str:
    """A new safety number is trusted."""
    return said(_TRUSTED, name=_named(name, label))


def _named(name: str | None, label: str) -> str:
    return said(_PERSON_NAMED, name=name, label=label) if name else label


def _answers(turns: int) -> str:
    return said(_ONE_ANSWER) if turns == 1 else said(_SOME_ANSWERS, count=turns)


def _usd(amount: Decimal) -> str:
    return number(amount.quantize(Decimal("0.0001")))


def said(phrase: str, /, **values: object) -> str:
    """A sentence of this module in the language that is spoken now, its places filled in.

    A text that is none of them is given back as it is.
    """
    words = sentence(_NAMES.get(phrase, "")) or phrase
    return words.format(**values) if values else words


_REPEATS: Mapping[str, tuple[str, str]] = {
    "hour": (EVERY_HOUR, EVERY_HOURS),
    "day": (EVERY_DAY, EVERY_DAYS),
    "week": (EVERY_WEEK, EVERY_WEEKS),
    "month": (EVERY_MONTH, EVERY_MONTHS),
    "year": (EVERY_YEAR, EVERY_YEARS),
}

_NAMES: Mapping[str, str] = {
    value: name.lstrip("_") for name, value in list(globals().items()) if name.isupper() and isinstance(value, str)
}
