"""What the doctor finds, and what can be done about it; where it was found stands before it (`FOUND_FINDING`).

All of it is English where it is written: a finding keeps the sentence with its values (`bot.i18n.statements`), and is
said in the language of whoever reads it. Names of settings, commands, paths, and what others say stay as they are.
"""

from bot.i18n.catalogues import Sentence

FOUND_FINDING = Sentence("FOUND_FINDING", "{area}: {words}")
AREA_MACHINE = Sentence("AREA_MACHINE", "machine")
AREA_CLOCK = Sentence("AREA_CLOCK", "clock")
AREA_CELLS = Sentence("AREA_CELLS", "cells")
AREA_NETWORK = Sentence("AREA_NETWORK", "network")
AREA_STORE = Sentence("AREA_STORE", "store")
AREA_FILES = Sentence("AREA_FILES", "files")
AREA_DISK = Sentence("AREA_DISK", "disk")
AREA_SETTINGS = Sentence("AREA_SETTINGS", "settings")
AREA_ACCESS = Sentence("AREA_ACCESS", "access")
AREA_BRIDGE = Sentence("AREA_BRIDGE", "bridge")
AREA_ACCOUNT = Sentence("AREA_ACCOUNT", "account")
AREA_MODELS = Sentence("AREA_MODELS", "models")
AREA_AUDIO = Sentence("AREA_AUDIO", "audio")
AREA_IMAGES = Sentence("AREA_IMAGES", "images")
AREA_SEARCH = Sentence("AREA_SEARCH", "search")
AREA_FEEDS = Sentence("AREA_FEEDS", "feeds")
AREA_TOOLS = Sentence("AREA_TOOLS", "tools")
AREA_BUDGETS = Sentence("AREA_BUDGETS", "budgets")
AREA_RUNNING = Sentence("AREA_RUNNING", "running")
AREA_PAGES = Sentence("AREA_PAGES", "pages")
FOUND_SET = Sentence("FOUND_SET", "set {name}")
FOUND_CORRECT = Sentence("FOUND_CORRECT", "correct {name}")
FOUND_LOOK_LOG = Sentence("FOUND_LOOK_LOG", "look in Aldis's log")
FOUND_LOOK_BRIDGE_LOG = Sentence("FOUND_LOOK_BRIDGE_LOG", "look in the bridge's log")
FOUND_LATER = Sentence("FOUND_LATER", "try again later")
FOUND_NOT_ENDED = Sentence("FOUND_NOT_ENDED", "not finished within {seconds} seconds")
FOUND_NAMES_READ = Sentence("FOUND_NAMES_READ", "every variable is understood")
FOUND_NAMES_UNREAD = Sentence("FOUND_NAMES_UNREAD", "not read by Aldis: {names}")
FOUND_NAMES_SEE = Sentence("FOUND_NAMES_SEE", "if one was meant for it, see `{command}`")
FOUND_CLOCK_WRONG = Sentence("FOUND_CLOCK_WRONG", "it is off by months or years")
FOUND_CLOCK_SET = Sentence("FOUND_CLOCK_SET", "set the machine's clock; Signal needs it to be right")
FOUND_CLOCK_ZONE = Sentence("FOUND_CLOCK_ZONE", "{now} UTC, people's time zone is {zone}")
FOUND_CLOCK_ZONE_UNREAD = Sentence(
    "FOUND_CLOCK_ZONE_UNREAD",
    "{now} UTC, people's time zone is {zone}, because TZ ({unread}) is not the name of a time zone",
)
FOUND_CLOCK_ZONE_SET = Sentence(
    "FOUND_CLOCK_ZONE_SET", "set LOCALE__TIMEZONE to theirs, such as Europe/Berlin, or to UTC if you mean that"
)
FOUND_SQLITE_RISK = Sentence(
    "FOUND_SQLITE_RISK", "it can damage a database that several programs have open; Aldis alone is safe"
)
FOUND_SQLITE_ALONE = Sentence(
    "FOUND_SQLITE_ALONE",
    "do not open the database with anything else while Aldis runs (no sqlite3, no litestream), or update SQLite",
)
FOUND_CELLS_DEAD = Sentence("FOUND_CELLS_DEAD", "the process that opens strangers' files and pages does not start")
FOUND_CELLS_LOOK = Sentence(
    "FOUND_CELLS_LOOK", "its output is above; is there enough memory, and room for more processes?"
)
FOUND_CELLS_HOLD = Sentence(
    "FOUND_CELLS_HOLD",
    "strangers' files and pages are opened in processes that cannot open files, use the network or start "
    "anything ({level})",
)
FOUND_CELLS_HALF = Sentence(
    "FOUND_CELLS_HALF",
    "strangers' files and pages are opened in processes that cannot open files, but can use sockets and "
    "start processes ({level})",
)
FOUND_CELLS_HALF_MORE = Sentence(
    "FOUND_CELLS_HALF_MORE", "use a 64-bit system on x86-64 or aarch64; in a container see what its runtime allows"
)
FOUND_CELLS_LIMITS = Sentence(
    "FOUND_CELLS_LIMITS",
    "strangers' files and pages are opened in processes restricted by limits alone ({level}): if a file "
    "takes one over, it can do whatever Aldis's user can",
)
FOUND_CELLS_LIMITS_MORE = Sentence(
    "FOUND_CELLS_LIMITS_MORE",
    "use Linux 5.13 or later on x86-64 or aarch64; in a container see what its runtime allows",
)
FOUND_PROXY_UNUSED = Sentence("FOUND_PROXY_UNUSED", "{names} is set, but Aldis uses no proxy")
FOUND_PROXY_INSTEAD = Sentence(
    "FOUND_PROXY_INSTEAD",
    "route the traffic on the machine itself, or name a gateway as the address of a service (OPENAI_BASE_URL)",
)
FOUND_CERTIFICATES_UNREAD = Sentence(
    "FOUND_CERTIFICATES_UNREAD", "{name} is {path}, but no certificates can be read there"
)
FOUND_CERTIFICATES_NAME = Sentence(
    "FOUND_CERTIFICATES_NAME",
    "name a file in PEM form (SSL_CERT_FILE) or a folder after `openssl rehash` (SSL_CERT_DIR), or remove the variable",
)
FOUND_STORE_NEW = Sentence("FOUND_STORE_NEW", "{path} will be created at the first start")
FOUND_STORE_HELD = Sentence("FOUND_STORE_HELD", "{path} is in use by a running Aldis")
FOUND_STORE_WELL = Sentence("FOUND_STORE_WELL", "{path} opens with its key, is intact, and takes {size} MB")
FOUND_STORE_RIGHT = Sentence("FOUND_STORE_RIGHT", "fix this before the next start")
FOUND_STORE_TAMPERED = Sentence("FOUND_STORE_TAMPERED", "see “Somebody has changed the database” in docs/operating.md")
FOUND_STORE_RESTORED = Sentence(
    "FOUND_STORE_RESTORED",
    "it was restored, and nobody has decided what to do with the work left open in it: Aldis does not start",
)
FOUND_STORE_SETTLE = Sentence("FOUND_STORE_SETTLE", "decide with: {command}, or --replay")
FOUND_STORE_GIVEN_UP = Sentence(
    "FOUND_STORE_GIVEN_UP",
    "{count} message of the last weeks was given up",
    "{count} messages of the last weeks were given up",
)
FOUND_STORE_GUESTS = Sentence(
    "FOUND_STORE_GUESTS",
    "{count} person was let in by a code",
    "{count} people were let in by a code",
)
FOUND_STORE_GUESTS_SEE = Sentence("FOUND_STORE_GUESTS_SEE", "an admin sees them with /people")
FOUND_STORE_UNWRITABLE = Sentence("FOUND_STORE_UNWRITABLE", "user {user} cannot write to {folder}: {error}")
FOUND_STORE_GIVE = Sentence("FOUND_STORE_GIVE", "make that user the folder's owner, or set STORE__PATH (it is {path})")
FOUND_FILES_DELETED = Sentence("FOUND_FILES_DELETED", "files that people send are deleted from {folder} after use")
FOUND_FILES_STAY = Sentence(
    "FOUND_FILES_STAY",
    "SIGNAL__ATTACHMENTS is {folder}, where Aldis cannot delete files: those that people send stay there",
)
FOUND_FILES_FOLDER = Sentence(
    "FOUND_FILES_FOLDER", "set it to signal-cli's attachment folder, and let Aldis write there"
)
FOUND_FILES_EXPOSED = Sentence("FOUND_FILES_EXPOSED", "others on this machine may read {names} in {folder}")
FOUND_FILES_FIX = Sentence("FOUND_FILES_FIX", "`{command}` removes that permission")
FOUND_DISK_FREE = Sentence("FOUND_DISK_FREE", "{free} MB are free where the store is")
FOUND_DISK_FULL = Sentence("FOUND_DISK_FULL", "free some space: without it Aldis takes in no messages")
FOUND_DISK_SOON = Sentence("FOUND_DISK_SOON", "free some space before it is full")
FOUND_WEBHOOK_IDLE = Sentence(
    "FOUND_WEBHOOK_IDLE", "SIGNAL__WEBHOOK_HOST and SIGNAL__WEBHOOK_PORT have no effect without a secret"
)
FOUND_PORT_OTHER = Sentence("FOUND_PORT_OTHER", "set another {name}, or 0 for none")
FOUND_PORT_OTHER_WEBHOOK = Sentence(
    "FOUND_PORT_OTHER_WEBHOOK", "set another SIGNAL__WEBHOOK_PORT, there and in RECEIVE_WEBHOOK_URL"
)
FOUND_PORT_TAKEN = Sentence("FOUND_PORT_TAKEN", "{name} is {port}, which is already in use at {host}")
FOUND_PORT_DENIED = Sentence("FOUND_PORT_DENIED", "{name} is {port}, where Aldis may not listen: {error}")
FOUND_HOST_UNKNOWN = Sentence("FOUND_HOST_UNKNOWN", "{name} is {host}, which does not exist")
FOUND_HOST_ELSEWHERE = Sentence("FOUND_HOST_ELSEWHERE", "{name} is {host}, which is not an address of this machine")
FOUND_HOST_SET = Sentence("FOUND_HOST_SET", "set {name} to 127.0.0.1, or to 0.0.0.0 for every address")
FOUND_PAGES_SAME_PORT = Sentence("FOUND_PAGES_SAME_PORT", "WEB__ADMIN_PORT and WEB__PORT are the same")
FOUND_PAGES_OPEN = Sentence(
    "FOUND_PAGES_OPEN", "WEB__ADMIN_HOST is {host}, so anybody who can reach this machine can reach them"
)
FOUND_PAGES_CLOSE = Sentence(
    "FOUND_PAGES_CLOSE", "set it to 127.0.0.1, or set WEB__ADMIN_TOTP so that they ask for a code, too"
)
FOUND_PAGES_PLAIN = Sentence(
    "FOUND_PAGES_PLAIN", "other machines reach them without https, so what is typed there can be read on the way"
)
FOUND_PAGES_PROXY = Sentence(
    "FOUND_PAGES_PROXY", "put a proxy with https in front, and set WEB__ADMIN_URL to its address"
)
FOUND_ACCESS_NOTES = Sentence("FOUND_ACCESS_NOTES", "only what the account writes to itself is answered")
FOUND_ACCESS_NOBODY = Sentence("FOUND_ACCESS_NOBODY", "nobody may write")
FOUND_ACCESS_ALLOW = Sentence("FOUND_ACCESS_ALLOW", "set ACCESS__ALLOWED to your number or uuid")
FOUND_STRANGERS_IGNORED = Sentence("FOUND_STRANGERS_IGNORED", "strangers get no reply")
FOUND_STRANGERS_CODE = Sentence("FOUND_STRANGERS_CODE", "strangers get a code, with which an admin can let them in")
FOUND_STRANGERS_NO_ADMIN = Sentence(
    "FOUND_STRANGERS_NO_ADMIN", "strangers get a code, but there is no admin who could use it"
)
FOUND_EVERYBODY_WRITES = Sentence("FOUND_EVERYBODY_WRITES", "anybody may write, at your expense")
FOUND_EVERYBODY_BOUND = Sentence("FOUND_EVERYBODY_BOUND", "list the people who may, and set budgets")
FOUND_NOT_LOOKED_UP = Sentence("FOUND_NOT_LOOKED_UP", "{entry} could not be looked up")
FOUND_PERSON_UNKNOWN = Sentence("FOUND_PERSON_UNKNOWN", "{entry} is not known to the account")
FOUND_PERSON_WRITES = Sentence("FOUND_PERSON_WRITES", "ask them to write once")
FOUND_PERSON_WRITES_OR = Sentence("FOUND_PERSON_WRITES_OR", "ask them to write once, or check for a typo")
FOUND_PERSON_IS = Sentence("FOUND_PERSON_IS", "{entry} is {name}, {other}")
FOUND_NUMBER_HIDDEN = Sentence("FOUND_NUMBER_HIDDEN", "who hides their number")
FOUND_PERSON_NAMELESS = Sentence("FOUND_PERSON_NAMELESS", "somebody without a name")
FOUND_GROUPS_EVERY = Sentence("FOUND_GROUPS_EVERY", "in every group, the people listed may write")
FOUND_GROUP_INVITED = Sentence("FOUND_GROUP_INVITED", "the account is invited to {entry}; Aldis joins it while it runs")
FOUND_GROUP_UNKNOWN = Sentence("FOUND_GROUP_UNKNOWN", "the account is not in the group {entry}; it is in: {known}")
FOUND_GROUP_NONE_KNOWN = Sentence("FOUND_GROUP_NONE_KNOWN", "none")
FOUND_GROUP_INVITE = Sentence("FOUND_GROUP_INVITE", "invite it there, or correct the id: upper and lower case matter")
FOUND_GROUP_IS = Sentence("FOUND_GROUP_IS", "{entry} is {name}, {count} member", "{entry} is {name}, {count} members")
FOUND_GROUP_MUTE = Sentence(
    "FOUND_GROUP_MUTE",
    "{entry} is {name}: none of its members may write directly, because the bridge does not say who they are",
)
FOUND_GROUP_NAMELESS = Sentence("FOUND_GROUP_NAMELESS", "a group without a name")
FOUND_NUMBER_CHANGED = Sentence(
    "FOUND_NUMBER_CHANGED",
    "{number} has belonged to one account since {day} and now belongs to another, which is refused",
)
FOUND_NUMBER_DECIDE = Sentence(
    "FOUND_NUMBER_DECIDE",
    "if that is right, add {person} to the list; if not, replace the number with the uuid of the person you mean",
)
FOUND_NUMBER_REFUSED = Sentence("FOUND_NUMBER_REFUSED", "on {day} another account wrote with {number} and was refused")
FOUND_NUMBER_ASK = Sentence("FOUND_NUMBER_ASK", "ask the person whether they have a new phone or account")
FOUND_BRIDGE_LEAVE_OUT = Sentence("FOUND_BRIDGE_LEAVE_OUT", "leave out {path}: the address ends with the port")
FOUND_BRIDGE_URL_IS = Sentence("FOUND_BRIDGE_URL_IS", "SIGNAL__URL is {url}")
FOUND_BRIDGE_LEFT_OVER = Sentence(
    "FOUND_BRIDGE_LEFT_OVER", "{path} is left over from a signal-cli that was killed: remove it, then start signal-cli"
)
FOUND_BRIDGE_START_SOCKET = Sentence(
    "FOUND_BRIDGE_START_SOCKET", "start the bridge, and let user {user} write to its socket: SIGNAL__URL is {url}"
)
FOUND_BRIDGE_START = Sentence("FOUND_BRIDGE_START", "start the bridge, or say where it is: SIGNAL__URL is {url}")
FOUND_BRIDGE_OTHER = Sentence("FOUND_BRIDGE_OTHER", "SIGNAL__TRANSPORT says {wanted}")
FOUND_BRIDGE_OTHER_SET = Sentence("FOUND_BRIDGE_OTHER_SET", "set it to {bridge}, or leave it out")
FOUND_BRIDGE_VERSIONLESS = Sentence("FOUND_BRIDGE_VERSIONLESS", "{bridge} does not report its version ({error})")
FOUND_BRIDGE_IS = Sentence("FOUND_BRIDGE_IS", "{name} at {url}")
FOUND_BRIDGE_CLOCK = Sentence("FOUND_BRIDGE_CLOCK", "{name} at {url}; its clock and ours differ")
FOUND_BRIDGE_CLOCK_SET = Sentence("FOUND_BRIDGE_CLOCK_SET", "set both clocks by NTP")
FOUND_WEBHOOK_FOREIGN = Sentence(
    "FOUND_WEBHOOK_FOREIGN", "SIGNAL__WEBHOOK_SECRET is for signal-cli-rest-api; signal-cli itself posts nothing"
)
FOUND_LEAVE_OUT = Sentence("FOUND_LEAVE_OUT", "leave it out")
FOUND_BRIDGE_DROPS = Sentence("FOUND_BRIDGE_DROPS", "signal-cli-rest-api drops what arrives while Aldis is down")
FOUND_BRIDGE_DROPS_LESS = Sentence(
    "FOUND_BRIDGE_DROPS_LESS", "use signal-cli's own daemon (see docs/operating.md) where nothing may be lost"
)
FOUND_BRIDGE_DROPS_BURSTS = Sentence(
    "FOUND_BRIDGE_DROPS_BURSTS",
    "signal-cli-rest-api drops what arrives while Aldis is not connected, and some of a burst",
)
FOUND_BRIDGE_DROPS_BURSTS_LESS = Sentence(
    "FOUND_BRIDGE_DROPS_BURSTS_LESS",
    "set SIGNAL__WEBHOOK_SECRET, which saves the burst, or use signal-cli's own daemon, which loses neither",
)
FOUND_BRIDGE_HTTP = Sentence(
    "FOUND_BRIDGE_HTTP", "over HTTP signal-cli may lose the first message after Aldis has stopped"
)
FOUND_BRIDGE_HTTP_LESS = Sentence(
    "FOUND_BRIDGE_HTTP_LESS",
    "start its daemon with --socket or --tcp and --receive-mode=manual, and name that in SIGNAL__URL",
)
FOUND_BRIDGE_LISTS_NOT = Sentence("FOUND_BRIDGE_LISTS_NOT", "it does not list its contacts and groups: {error}")
FOUND_BRIDGE_RECEIVES_NOT = Sentence("FOUND_BRIDGE_RECEIVES_NOT", "it does not let Aldis receive: {error}")
FOUND_BRIDGE_RECEIVES = Sentence("FOUND_BRIDGE_RECEIVES", "it lets Aldis receive")
FOUND_ACCOUNT_NO_ID = Sentence("FOUND_ACCOUNT_NO_ID", "{name} is linked, but the bridge does not report its id")
FOUND_ACCOUNT_NO_ID_LOOK = Sentence(
    "FOUND_ACCOUNT_NO_ID_LOOK", "look in the bridge's log: people who hide their number cannot mention Aldis"
)
FOUND_ACCOUNT_LINKED = Sentence("FOUND_ACCOUNT_LINKED", "{name} is linked")
FOUND_ACCOUNT_NUMBERLESS = Sentence("FOUND_ACCOUNT_NUMBERLESS", "{name} is linked, without a phone number")
FOUND_ACCOUNT_NAMELESS = Sentence("FOUND_ACCOUNT_NAMELESS", "one that it cannot name")
FOUND_ACCOUNT_NONE = Sentence("FOUND_ACCOUNT_NONE", "none is linked")
FOUND_ACCOUNT_LINK = Sentence("FOUND_ACCOUNT_LINK", "link one with: {command}")
FOUND_ACCOUNT_NOT_THERE = Sentence(
    "FOUND_ACCOUNT_NOT_THERE", "the bridge does not have {wanted} (SIGNAL__ACCOUNT), but {names}"
)
FOUND_ACCOUNT_LINK_OR_NAME = Sentence("FOUND_ACCOUNT_LINK_OR_NAME", "link it with `{command}`, or name the one it has")
FOUND_ACCOUNT_SEVERAL = Sentence("FOUND_ACCOUNT_SEVERAL", "the bridge has several: {names}")
FOUND_ACCOUNT_CHOOSE = Sentence("FOUND_ACCOUNT_CHOOSE", "name the one that Aldis answers for in SIGNAL__ACCOUNT")
FOUND_ACCOUNT_MISSING = Sentence("FOUND_ACCOUNT_MISSING", "SIGNAL__ACCOUNT is missing")
FOUND_OR_NAME = Sentence("FOUND_OR_NAME", "{name} or {other}")
FOUND_MODELS_NO_KEY = Sentence("FOUND_MODELS_NO_KEY", "no key is set, so only the offline model answers")
FOUND_MODELS_SET_KEY = Sentence(
    "FOUND_MODELS_SET_KEY", "set ANTHROPIC_API_KEY or OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own"
)
FOUND_VENDOR_UNUSED = Sentence("FOUND_VENDOR_UNUSED", "{names} has no effect, because {vendor} is not used")
FOUND_VENDOR_USE = Sentence("FOUND_VENDOR_USE", "set {key}, or LLM__PROVIDERS")
FOUND_MODEL_SAYS = Sentence("FOUND_MODEL_SAYS", "{server} says of {model}: {figures}")
FOUND_FIGURE_WINDOW = Sentence("FOUND_FIGURE_WINDOW", "a window of {tokens} tokens")
FOUND_FIGURE_OUTPUT = Sentence("FOUND_FIGURE_OUTPUT", "answers of up to {tokens} tokens")
FOUND_FIGURE_PRICE = Sentence("FOUND_FIGURE_PRICE", "{input}/{output} USD per million tokens in and out")
FOUND_FIGURE_TOOLS = Sentence("FOUND_FIGURE_TOOLS", "tools")
FOUND_FIGURE_NO_TOOLS = Sentence("FOUND_FIGURE_NO_TOOLS", "no tools")
FOUND_FIGURE_PICTURES = Sentence("FOUND_FIGURE_PICTURES", "pictures")
FOUND_FIGURE_NO_PICTURES = Sentence("FOUND_FIGURE_NO_PICTURES", "no pictures")
FOUND_FIGURE_DOCUMENTS = Sentence("FOUND_FIGURE_DOCUMENTS", "documents")
FOUND_FIGURE_NO_DOCUMENTS = Sentence("FOUND_FIGURE_NO_DOCUMENTS", "no documents")
FOUND_FIGURE_THINKING = Sentence("FOUND_FIGURE_THINKING", "thinking")
FOUND_FIGURE_NO_THINKING = Sentence("FOUND_FIGURE_NO_THINKING", "no thinking")
FOUND_MODEL_SMALL_WINDOW = Sentence(
    "FOUND_MODEL_SMALL_WINDOW", "{server} gives {model} a window of only {tokens} tokens, so it soon forgets"
)
FOUND_MODEL_WIDEN = Sentence(
    "FOUND_MODEL_WIDEN",
    "give it {tokens} or more: OLLAMA_CONTEXT_LENGTH with Ollama, -c with llama.cpp, --max-model-len with "
    "vLLM, Context Length in LM Studio",
)
FOUND_MODEL_NO_EFFORT = Sentence("FOUND_MODEL_NO_EFFORT", "{model} of {server} cannot be told how much to think")
FOUND_MODEL_UNSET_EFFORT = Sentence("FOUND_MODEL_UNSET_EFFORT", "unset LLM__ANTHROPIC__EFFORT")
FOUND_MODELS_NONE_LISTED = Sentence("FOUND_MODELS_NONE_LISTED", "{server} lists no model at all")
FOUND_MODEL_FIRST = Sentence("FOUND_MODEL_FIRST", "{server} is asked for its first model")
FOUND_MODEL_CHOICE = Sentence("FOUND_MODEL_CHOICE", "people may choose {model}")
FOUND_PRICES_KNOWN = Sentence("FOUND_PRICES_KNOWN", "the price of each model is known")
FOUND_MODEL_SILENT = Sentence("FOUND_MODEL_SILENT", "{name} does not answer: {error}")
FOUND_MODEL_ANSWERED = Sentence("FOUND_MODEL_ANSWERED", "{provider} answered as {model} in {seconds} s, for {cost} USD")
FOUND_MODEL_PRICELESS = Sentence(
    "FOUND_MODEL_PRICELESS", "{provider} answered as {model} in {seconds} s, at an unknown cost"
)
FOUND_MODEL_PRICE = Sentence("FOUND_MODEL_PRICE", "set its price in BUDGET__PRICES")
FOUND_AUDIO_UNUSED = Sentence("FOUND_AUDIO_UNUSED", "{names} has no effect without the address of a speech server")
FOUND_AUDIO_OFF = Sentence("FOUND_AUDIO_OFF", "voice notes are not understood")
FOUND_SWITCHES_ON = Sentence("FOUND_SWITCHES_ON", "{name} switches it on")
FOUND_AUDIO_LISTENS = Sentence("FOUND_AUDIO_LISTENS", "{model} at {url} listens")
FOUND_AUDIO_SPEAKS = Sentence("FOUND_AUDIO_SPEAKS", "{model} at {url} listens, and {speaker} speaks")
FOUND_SERVER_OF_AREA = Sentence("FOUND_SERVER_OF_AREA", "the server")
FOUND_SERVER_ELSEWHERE = Sentence(
    "FOUND_SERVER_ELSEWHERE", "{server} at {url}: there is nothing there, but it answers at {elsewhere}"
)
FOUND_SERVER_REDIRECTS = Sentence(
    "FOUND_SERVER_REDIRECTS", "{server} at {url} redirects to {elsewhere}, and redirects are not followed"
)
FOUND_SERVER_MOVE = Sentence("FOUND_SERVER_MOVE", "set {name}={url}")
FOUND_SERVER_MOVE_OR = Sentence("FOUND_SERVER_MOVE_OR", "set {name}={url} (or {other})")
FOUND_SERVER_LISTLESS = Sentence(
    "FOUND_SERVER_LISTLESS",
    "{server} at {url} answers, but lists no models: key and model were not tried, because that would cost money",
)
FOUND_SERVER_ASK = Sentence("FOUND_SERVER_ASK", "`{command}` asks the models themselves")
FOUND_SERVER_SILENT = Sentence("FOUND_SERVER_SILENT", "{server} at {url} does not answer: {why}")
FOUND_WHY_UNREACHABLE = Sentence("FOUND_WHY_UNREACHABLE", "no connection ({why})")
FOUND_WHY_SLOW = Sentence("FOUND_WHY_SLOW", "not in time")
FOUND_WHY_FAILS = Sentence("FOUND_WHY_FAILS", "it returns an error (status {status})")
FOUND_MODEL_HAS = Sentence("FOUND_MODEL_HAS", "{server} has the model {model}")
FOUND_MODEL_HAS_NOT = Sentence("FOUND_MODEL_HAS_NOT", "{server} has no model {model}")
FOUND_MODEL_HAS_NOT_BUT = Sentence("FOUND_MODEL_HAS_NOT_BUT", "{server} has no model {model}; did you mean {near}?")
FOUND_MODEL_UNLISTED = Sentence("FOUND_MODEL_UNLISTED", "{server} does not list the model {model}")
FOUND_MODEL_UNLISTED_BUT = Sentence(
    "FOUND_MODEL_UNLISTED_BUT", "{server} does not list the model {model}; did you mean {near}?"
)
FOUND_ADDRESS_CONTAINED = Sentence(
    "FOUND_ADDRESS_CONTAINED",
    "in a container, {host} is the container itself: set {name} to host.docker.internal, or to the service's "
    "name in compose",
)
FOUND_ADDRESS_RIGHT = Sentence("FOUND_ADDRESS_RIGHT", "is it running, and is {name} its address?")
FOUND_KEY_WANTED = Sentence("FOUND_KEY_WANTED", "{server} requires a key")
FOUND_KEY_REFUSED = Sentence("FOUND_KEY_REFUSED", "{server} refuses the key")
FOUND_KEY_NOT_WANTED = Sentence("FOUND_KEY_NOT_WANTED", "{server} at {url} answers and requires no key")
FOUND_KEY_UNTRIED = Sentence(
    "FOUND_KEY_UNTRIED",
    "{server} at {url} answers; it lists its models to anybody, so the key was not tried: that would cost money",
)
FOUND_KEY_TAKEN = Sentence("FOUND_KEY_TAKEN", "{server} at {url} answers and accepts the key")
FOUND_TROUBLE_KEY = Sentence("FOUND_TROUBLE_KEY", "{provider} refuses the key or the account ({error})")
FOUND_TROUBLE_KEY_LOOK = Sentence("FOUND_TROUBLE_KEY_LOOK", "look at {name}, and at the account's credit")
FOUND_TROUBLE_MODEL = Sentence("FOUND_TROUBLE_MODEL", "{provider} does not have the model {model} ({error})")
FOUND_TROUBLE_MODEL_LOOK = Sentence("FOUND_TROUBLE_MODEL_LOOK", "look at {name} and {other}")
FOUND_SEARCH_ANSWERS = Sentence("FOUND_SEARCH_ANSWERS", "{service} answers")
FOUND_SEARCH_SILENT = Sentence("FOUND_SEARCH_SILENT", "{service} does not answer: {why}")
FOUND_SEARCH_STATUS = Sentence("FOUND_SEARCH_STATUS", "{server} answers {status}")
FOUND_SEARCH_NO_JSON = Sentence(
    "FOUND_SEARCH_NO_JSON", "{server} does not answer in JSON: add `json` to `search.formats` in its settings"
)
FOUND_SEARCH_ADDRESS = Sentence("FOUND_SEARCH_ADDRESS", "is {name} its address?")
FOUND_SEARCH_PASSED_OVER = Sentence("FOUND_SEARCH_PASSED_OVER", "{service} is named in {name}, but skipped")
FOUND_SEARCH_TAKE_OUT = Sentence("FOUND_SEARCH_TAKE_OUT", "set {name}, or take it out")
FOUND_SEARCH_UNTRIED = Sentence(
    "FOUND_SEARCH_UNTRIED", "{service} has a key ({name}), which was not tried: that would cost money"
)
FOUND_FEED_UNREADABLE = Sentence("FOUND_FEED_UNREADABLE", "{url} cannot be read: {why}")
FOUND_FEED_CORRECT = Sentence("FOUND_FEED_CORRECT", "correct it in {name}")
FOUND_FEED_ENDED = Sentence("FOUND_FEED_ENDED", "{url} is gone for good")
FOUND_FEED_TAKE_OUT = Sentence("FOUND_FEED_TAKE_OUT", "take it out of {name}")
FOUND_FEED_WELL = Sentence("FOUND_FEED_WELL", "{url} can be read")
FOUND_FEED_STATUS = Sentence("FOUND_FEED_STATUS", "its server answers {status}")
FOUND_FEED_DENIED = Sentence("FOUND_FEED_DENIED", "it is not on the public web, and Aldis reads nothing else")
FOUND_FEED_NO_HOST = Sentence("FOUND_FEED_NO_HOST", "there is no such host")
FOUND_FEED_SLOW = Sentence("FOUND_FEED_SLOW", "it does not answer in time")
FOUND_FEED_TOO_LARGE = Sentence("FOUND_FEED_TOO_LARGE", "it is too large")
FOUND_FEED_OTHER = Sentence("FOUND_FEED_OTHER", "what is there is not a feed")
FOUND_FEED_BROKEN = Sentence("FOUND_FEED_BROKEN", "what is there is not a readable feed")
FOUND_FEED_UNREACHABLE = Sentence("FOUND_FEED_UNREACHABLE", "it cannot be reached")
FOUND_TOOLS_OFF = Sentence("FOUND_TOOLS_OFF", "all are switched off")
FOUND_TOOL_ON = Sentence("FOUND_TOOL_ON", "{name} is on")
FOUND_TOOL_OFF = Sentence("FOUND_TOOL_OFF", "{name} is off")
FOUND_TOOL_NOT_OFFERED = Sentence("FOUND_TOOL_NOT_OFFERED", "{name} is not offered")
FOUND_TOOL_LACKS = Sentence("FOUND_TOOL_LACKS", "it needs {wanted}")
FOUND_TOOL_LEFT_OUT = Sentence("FOUND_TOOL_LEFT_OUT", "{name} of {origin} is left out: {why}")
FOUND_TOOL_MEND = Sentence("FOUND_TOOL_MEND", "fix it, or remove it")
FOUND_TOOL_EXTRA = Sentence(
    "FOUND_TOOL_EXTRA", "what is set for {name} needs the extra {extra}, which is not installed"
)
FOUND_TOOL_EXTRA_INSTALL = Sentence(
    "FOUND_TOOL_EXTRA_INSTALL", "install it (pip install '.[{extra}]'), or build the image with EXTRAS={extra}"
)
FOUND_TOOLS_NO_CONTACT = Sentence(
    "FOUND_TOOLS_NO_CONTACT", "Wikipedia does not know how to reach you, and allows 10 requests a minute"
)
FOUND_TOOLS_CONTACT = Sentence(
    "FOUND_TOOLS_CONTACT", "it allows 200 if TOOLS__CONTACT is an e-mail address or a page of yours"
)
FOUND_TOOL_SOURCES = Sentence(
    "FOUND_TOOL_SOURCES",
    "the MCP servers offer {count} tool",
    "the MCP servers offer {count} tools",
)
FOUND_TOOL_SOURCE_SILENT = Sentence("FOUND_TOOL_SOURCE_SILENT", "the MCP server {name} does not answer ({why})")
FOUND_TOOL_SOURCE_CHECK = Sentence("FOUND_TOOL_SOURCE_CHECK", "check it in TOOLS__MCP__SERVERS")
FOUND_TOOL_SOURCE_UNFIT = Sentence(
    "FOUND_TOOL_SOURCE_UNFIT", "tools of the MCP server {name} that cannot be offered: {tools}"
)
FOUND_TOOL_SOURCE_MEND = Sentence("FOUND_TOOL_SOURCE_MEND", "the server has to describe them differently")
FOUND_TOOL_WHAT_OTHERS_NEED = Sentence("FOUND_TOOL_WHAT_OTHERS_NEED", "what other tools need, too")
FOUND_TOOL_BESIDES = Sentence("FOUND_TOOL_BESIDES", "it would also ask {services}")
FOUND_TOOL_SERVICE = Sentence("FOUND_TOOL_SERVICE", "{service} with {name}")
FOUND_RUNNING_SWITCHED_OFF = Sentence(
    "FOUND_RUNNING_SWITCHED_OFF", "the health page is switched off, so nothing is known of a running Aldis"
)
FOUND_RUNNING_SILENT = Sentence("FOUND_RUNNING_SILENT", "no health page answers at {address}")
FOUND_RUNNING_NOT = Sentence("FOUND_RUNNING_NOT", "Aldis is not running, or not here")
FOUND_RUNNING_WELL = Sentence("FOUND_RUNNING_WELL", "Aldis is well")
FOUND_RUNNING_COUNT = Sentence("FOUND_RUNNING_COUNT", "{words}: {count} since its start")
FOUND_RUNNING_UNANSWERED = Sentence("FOUND_RUNNING_UNANSWERED", "{count} not answered since its start: {reason}")
FOUND_COUNT_NUMBERS_CHANGED = Sentence("FOUND_COUNT_NUMBERS_CHANGED", "listed numbers with another account than before")
FOUND_COUNT_NUMBERS_CHANGED_DO = Sentence(
    "FOUND_COUNT_NUMBERS_CHANGED_DO", "stop Aldis and run the doctor: it says which"
)
FOUND_COUNT_UNREGISTERED = Sentence("FOUND_COUNT_UNREGISTERED", "answers to people who have left Signal")
FOUND_COUNT_NOT_IN_GROUP = Sentence(
    "FOUND_COUNT_NOT_IN_GROUP", "answers to groups that Aldis is not in, or may not write to"
)
FOUND_COUNT_NOT_IN_GROUP_DO = Sentence("FOUND_COUNT_NOT_IN_GROUP_DO", "add it again")
FOUND_COUNT_NO_KEYS = Sentence(
    "FOUND_COUNT_NO_KEYS", "answers to people with a device that has been offline for too long"
)
FOUND_COUNT_NO_KEYS_DO = Sentence("FOUND_COUNT_NO_KEYS_DO", "they have to unlink it, or switch it on")
FOUND_COUNT_REFUSED = Sentence("FOUND_COUNT_REFUSED", "answers that the bridge refused as malformed")
FOUND_COUNT_TOO_LARGE = Sentence("FOUND_COUNT_TOO_LARGE", "answers that the bridge refused as too large")
FOUND_COUNT_FILES_REFUSED = Sentence(
    "FOUND_COUNT_FILES_REFUSED", "files that Signal did not accept, so only the words went out"
)
FOUND_COUNT_FILES_REFUSED_DO = Sentence(
    "FOUND_COUNT_FILES_REFUSED_DO",
    "look in Aldis's log, and for a limit on the size of requests in a proxy in front of the bridge",
)
FOUND_COUNT_UNTRUSTED = Sentence(
    "FOUND_COUNT_UNTRUSTED", "group members whom a message did not reach, because their safety number has changed"
)
FOUND_COUNT_UNTRUSTED_DO = Sentence("FOUND_COUNT_UNTRUSTED_DO", "see who it is: {command}")
FOUND_COUNT_MISSED_UNREGISTERED = Sentence("FOUND_COUNT_MISSED_UNREGISTERED", "group members who have left Signal")
FOUND_COUNT_GIVEN_UP = Sentence("FOUND_COUNT_GIVEN_UP", "answers that were given up")
FOUND_HEARD = Sentence("FOUND_HEARD", "something is heard")
FOUND_HEARD_NOTHING = Sentence("FOUND_HEARD_NOTHING", "nothing is heard over it")
FOUND_NAMES_UNREAD_SEE = Sentence(
    "FOUND_NAMES_UNREAD_SEE", "not read by Aldis: {names}; if one was meant for it, see `{command}`"
)
FOUND_FORMER_SETTINGS = Sentence("FOUND_FORMER_SETTINGS", "the previous ones are still in use: {why}")
FOUND_CORRECT_SETTINGS = Sentence("FOUND_CORRECT_SETTINGS", "correct them, then restart it: {command}")
FOUND_LEVEL_BOTH = Sentence("FOUND_LEVEL_BOTH", "Landlock {version} and seccomp")
FOUND_LEVEL_LANDLOCK = Sentence("FOUND_LEVEL_LANDLOCK", "Landlock {version} but no seccomp")
FOUND_LEVEL_SECCOMP = Sentence("FOUND_LEVEL_SECCOMP", "no Landlock but seccomp")
FOUND_LEVEL_NONE = Sentence("FOUND_LEVEL_NONE", "no Landlock and no seccomp")
FOUND_STORE_FORGED = Sentence(
    "FOUND_STORE_FORGED",
    "{count} row about {what} not written by Aldis",
    "{count} rows about {what} not written by Aldis",
)
FOUND_FORGED_PEOPLE = Sentence("FOUND_FORGED_PEOPLE", "who was let in")
FOUND_FORGED_PINS = Sentence("FOUND_FORGED_PINS", "which account a number belongs to")
FOUND_FORGED_IDENTITIES = Sentence("FOUND_FORGED_IDENTITIES", "whose safety number is trusted")
FOUND_FORGED_SPENT = Sentence("FOUND_FORGED_SPENT", "what was spent")
FOUND_FORGED_GRANTS = Sentence("FOUND_FORGED_GRANTS", "which tools were allowed for good")
FOUND_FORGED_QUOTAS = Sentence("FOUND_FORGED_QUOTAS", "the quotas of services")
FOUND_FORGED_TOOL_SHAPES = Sentence("FOUND_FORGED_TOOL_SHAPES", "the tools of MCP servers")
FOUND_STORE_INCOMPLETE = Sentence(
    "FOUND_STORE_INCOMPLETE",
    "rows about access, trust or budgets, or all of them, were removed or put back, and not by Aldis",
)
FOUND_STORE_OLDER = Sentence(
    "FOUND_STORE_OLDER",
    "the database is older than its key file: somebody has put an older copy in its place",
)
FOUND_STORE_INTRUDERS = Sentence(
    "FOUND_STORE_INTRUDERS",
    "{count} statement that the database would have run by itself was removed",
    "{count} statements that the database would have run by itself were removed",
)
