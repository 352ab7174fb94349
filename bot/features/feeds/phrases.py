"""The sentences about feeds."""

from bot.i18n.catalogues import Sentence

ABOUT_FEEDS = Sentence("ABOUT_FEEDS", "shows the news feeds I read; admins add and remove them.")
FEEDS_OFF = Sentence("FEEDS_OFF", "I'm not reading news feeds here: that's switched off, or this machine can't do it.")
NO_FEEDS = Sentence("NO_FEEDS", "I'm not reading any news feeds yet. An admin can add one with `/feeds add URL`.")
FEED_LINE = Sentence("FEED_LINE", "- {number}: {name}: read on {when} (articles kept: {count})")
FEED_LINE_WAITING = Sentence("FEED_LINE_WAITING", "- {number}: {name}: not read yet")
FEED_LINE_TROUBLE = Sentence(
    "FEED_LINE_TROUBLE", "- {number}: {name}: last read on {when} (articles kept: {count}). {why}"
)
FEED_LINE_USELESS = Sentence("FEED_LINE_USELESS", "- {number}: {name}: never read so far. {why}")
FEED_ADDED = Sentence("FEED_ADDED", "I'm reading {name} from now on. `/feeds` shows in a minute whether it works.")
FEED_KNOWN = Sentence("FEED_KNOWN", "I'm already reading that feed, or as many as I can.")
FEED_NO_ADDRESS = Sentence(
    "FEED_NO_ADDRESS", "That isn't a web address. It has to begin with https:// and mustn't contain a password."
)
FEED_REMOVED = Sentence("FEED_REMOVED", "I've stopped reading {name} and deleted its articles.")
FEED_IS_SET = Sentence("FEED_IS_SET", "{name} is in my settings. The person who runs me can remove it there.")
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
