"""The sentences of the pages for setup and administration; `t(NAME)` in their templates is `PAGE_NAME` here."""

from bot.i18n.catalogues import Sentence

PAGE_SKIP = Sentence("PAGE_SKIP", "Skip to the content")
PAGE_MENU = Sentence("PAGE_MENU", "Menu")
PAGE_OVERVIEW = Sentence("PAGE_OVERVIEW", "Overview")
PAGE_SETUP = Sentence("PAGE_SETUP", "Setup")
PAGE_SIGN_OUT = Sentence("PAGE_SIGN_OUT", "Sign out")
PAGE_LOST = Sentence("PAGE_LOST", "The connection to Aldis is lost. What you see here may be out of date.")
PAGE_LANGUAGE = Sentence("PAGE_LANGUAGE", "Language")
PAGE_CHANGE = Sentence("PAGE_CHANGE", "Change")
PAGE_WELCOME = Sentence("PAGE_WELCOME", "Welcome to Aldis")
PAGE_ENTER_WHY = Sentence(
    "PAGE_ENTER_WHY", "This link opens the setup and administration pages, once and in this browser."
)
PAGE_ENTER = Sentence("PAGE_ENTER", "Open")
PAGE_SIGNED_OUT = Sentence("PAGE_SIGNED_OUT", "You need a link")
PAGE_SIGNED_OUT_LOST = Sentence(
    "PAGE_SIGNED_OUT_LOST",
    "You have been signed out: what you just sent was not accepted, and nothing has changed.",
)
PAGE_SIGNED_OUT_WHY = Sentence(
    "PAGE_SIGNED_OUT_WHY",
    "These pages open with a link that works once and for ten minutes. On the machine where Aldis runs, "
    "this prints one:",
)
PAGE_SIGNED_OUT_DOCKER = Sentence("PAGE_SIGNED_OUT_DOCKER", "With Docker:")
PAGE_CODE_LABEL = Sentence("PAGE_CODE_LABEL", "Code")
PAGE_CODE_WHY = Sentence("PAGE_CODE_WHY", "The six digits that your authenticator app shows for Aldis.")
PAGE_CODE_WRONG = Sentence("PAGE_CODE_WRONG", "That code is wrong or was already used. Wait for the next one.")
PAGE_FACTOR = Sentence("PAGE_FACTOR", "Second factor")
PAGE_FACTOR_NOW = Sentence("PAGE_FACTOR_NOW", "Codes from an app")
PAGE_FACTOR_WHY = Sentence(
    "PAGE_FACTOR_WHY",
    "With a second factor the link alone does not open these pages: they also ask for the six digits shown by "
    "an authenticator app on your phone.",
)
PAGE_FACTOR_MANAGE = Sentence("PAGE_FACTOR_MANAGE", "Set up or change the second factor")
PAGE_FACTOR_REQUIRED = Sentence(
    "PAGE_FACTOR_REQUIRED",
    "It is required here, because WEB__ADMIN_URL or WEB__ADMIN_HOST makes the pages reachable from other machines.",
)
PAGE_FACTOR_OPTIONAL = Sentence(
    "PAGE_FACTOR_OPTIONAL",
    "Only this machine reaches the pages, so it is up to you. It is required once WEB__ADMIN_URL or WEB__ADMIN_HOST "
    "makes them reachable from other machines.",
)
PAGE_FACTOR_BEGIN = Sentence("PAGE_FACTOR_BEGIN", "Set it up")
PAGE_FACTOR_ANEW = Sentence("PAGE_FACTOR_ANEW", "Set it up on another phone")
PAGE_FACTOR_SCAN = Sentence("PAGE_FACTOR_SCAN", "Scan this code with your authenticator app")
PAGE_FACTOR_ALT = Sentence("PAGE_FACTOR_ALT", "QR code for the authenticator app; its key is below.")
PAGE_FACTOR_TYPE = Sentence("PAGE_FACTOR_TYPE", "Or type this key into the app. It is not shown again.")
PAGE_FACTOR_CONFIRM = Sentence(
    "PAGE_FACTOR_CONFIRM", "The six digits that the app shows now. Once they are right, the second factor is on."
)
PAGE_FACTOR_FINISH = Sentence("PAGE_FACTOR_FINISH", "Switch it on")
PAGE_FACTOR_SET = Sentence(
    "PAGE_FACTOR_SET", "The second factor is on. Every new link asks for a code, and so do all other open sessions."
)
PAGE_FACTOR_OFF = Sentence("PAGE_FACTOR_OFF", "Switch it off")
PAGE_FACTOR_UNSET = Sentence("PAGE_FACTOR_UNSET", "The second factor is off.")
PAGE_FACTOR_LOST = Sentence("PAGE_FACTOR_LOST", "If you lose the phone")
PAGE_FACTOR_LOST_WHY = Sentence(
    "PAGE_FACTOR_LOST_WHY", "On the machine where Aldis runs, this removes the second factor:"
)
PAGE_FACTOR_LOST_REQUIRED = Sentence(
    "PAGE_FACTOR_LOST_REQUIRED",
    "On the machine where Aldis runs, this sets a new key and prints it, for you to type into an app:",
)
PAGE_CANCEL = Sentence("PAGE_CANCEL", "Cancel")
PAGE_NOT_DONE = Sentence("PAGE_NOT_DONE", "That did not work")
PAGE_NOT_DONE_WHY = Sentence(
    "PAGE_NOT_DONE_WHY", "Nothing was changed (error {status}). Go back, reload the page, and try again."
)
PAGE_NOT_RUNNING = Sentence(
    "PAGE_NOT_RUNNING", "Aldis is not running yet: it has no account, or is waiting for the bridge to Signal."
)
PAGE_REFUSED = Sentence("PAGE_REFUSED", "It was refused: {words}")
PAGE_HEALTH = Sentence("PAGE_HEALTH", "Health")
PAGE_WELL = Sentence("PAGE_WELL", "All is well")
PAGE_NOT_WELL = Sentence("PAGE_NOT_WELL", "Something is wrong")
PAGE_WAITS = Sentence("PAGE_WAITS", "Waiting")
PAGE_FINDINGS = Sentence("PAGE_FINDINGS", "Needs attention")
PAGE_QUEUE_IN = Sentence("PAGE_QUEUE_IN", "Messages to be answered")
PAGE_QUEUE_OUT = Sentence("PAGE_QUEUE_OUT", "Answers to be sent")
PAGE_GIVEN_UP = Sentence("PAGE_GIVEN_UP", "Given up")
PAGE_SAFETY_NUMBERS = Sentence("PAGE_SAFETY_NUMBERS", "New safety numbers")
PAGE_SAFETY_NUMBERS_WHY = Sentence(
    "PAGE_SAFETY_NUMBERS_WHY",
    "These people have a new phone, or somebody has taken over their number. Until you trust the new number, "
    "nothing from them is read, and answers to them wait. Check with them some other way first.",
)
PAGE_SAFETY_NUMBER_UNKNOWN = Sentence("PAGE_SAFETY_NUMBER_UNKNOWN", "The bridge does not say what the new number is.")
PAGE_SAFETY_NUMBER_SINCE = Sentence("PAGE_SAFETY_NUMBER_SINCE", "since {when}")
PAGE_SAFETY_NUMBER_COMPARED = Sentence(
    "PAGE_SAFETY_NUMBER_COMPARED", "The number on their phone, if you have compared it (optional)"
)
PAGE_TRUST = Sentence("PAGE_TRUST", "Trust this number")
PAGE_TRUSTED = Sentence("PAGE_TRUSTED", "The new number is trusted. What was waiting is on its way.")
PAGE_TRUST_CHANGED = Sentence("PAGE_TRUST_CHANGED", "That number is no longer the newest one. Look at it again.")
PAGE_BRIDGE_SILENT = Sentence("PAGE_BRIDGE_SILENT", "The bridge to Signal is not answering right now.")
PAGE_CAPTCHA = Sentence("PAGE_CAPTCHA", "Captcha")
PAGE_CAPTCHA_WANTED = Sentence(
    "PAGE_CAPTCHA_WANTED",
    "Signal won’t send anything until somebody has solved a captcha. Open this page, solve it, and copy the "
    "link behind “Open Signal”:",
)
PAGE_CAPTCHA_NOT_WANTED = Sentence(
    "PAGE_CAPTCHA_NOT_WANTED", "Signal is not asking for one at the moment. When it does, you can solve it here."
)
PAGE_CAPTCHA_LABEL = Sentence("PAGE_CAPTCHA_LABEL", "Link from the solved captcha")
PAGE_CAPTCHA_HINT = Sentence("PAGE_CAPTCHA_HINT", "It begins with signalcaptcha:// and is long.")
PAGE_CAPTCHA_SEND = Sentence("PAGE_CAPTCHA_SEND", "Submit the captcha")
PAGE_CAPTCHA_NONE = Sentence(
    "PAGE_CAPTCHA_NONE",
    "That is not a solved captcha. Copy the whole link behind “Open Signal”; it begins with signalcaptcha://",
)
PAGE_CAPTCHA_TAKEN = Sentence("PAGE_CAPTCHA_TAKEN", "Signal accepted it. What was waiting is on its way.")
PAGE_ACCOUNT = Sentence("PAGE_ACCOUNT", "The account")
PAGE_LINK = Sentence("PAGE_LINK", "Link it to your phone")
PAGE_LINK_WHY = Sentence(
    "PAGE_LINK_WHY",
    "Aldis becomes a linked device of a Signal account, as Signal Desktop would. An account of its own is "
    "best; yours works, too.",
)
PAGE_LINK_BEGIN = Sentence("PAGE_LINK_BEGIN", "Show the QR code")
PAGE_LINK_STOP = Sentence("PAGE_LINK_STOP", "Stop")
PAGE_LINKED = Sentence("PAGE_LINKED", "Linked")
PAGE_LINKED_STARTS = Sentence("PAGE_LINKED_STARTS", "The phone has confirmed. Aldis is starting.")
PAGE_NOT_LINKED = Sentence("PAGE_NOT_LINKED", "No account yet")
PAGE_ANSWERS_FOR = Sentence("PAGE_ANSWERS_FOR", "Aldis answers for {account}.")
PAGE_ACCOUNTS_THERE = Sentence("PAGE_ACCOUNTS_THERE", "The bridge already has: {names}")
PAGE_LINK_LOOKING = Sentence("PAGE_LINK_LOOKING", "Asking the bridge …")
PAGE_LINK_REFUSED = Sentence("PAGE_LINK_REFUSED", "The bridge refuses")
PAGE_SCAN = Sentence("PAGE_SCAN", "Scan this code")
PAGE_SCAN_1 = Sentence("PAGE_SCAN_1", "Open Signal on your phone.")
PAGE_SCAN_2 = Sentence("PAGE_SCAN_2", "Go to Settings, Linked devices, Link new device.")
PAGE_SCAN_3 = Sentence("PAGE_SCAN_3", "Point the camera at the code, and confirm.")
PAGE_SCAN_ALT = Sentence("PAGE_SCAN_ALT", "QR code for linking; its address is below.")
PAGE_SCAN_ADDRESS = Sentence("PAGE_SCAN_ADDRESS", "The address in the code")
PAGE_SCAN_RENEWS = Sentence(
    "PAGE_SCAN_RENEWS", "Code {number}. Each is good for about a minute; the next one comes by itself."
)
PAGE_STEPS = Sentence("PAGE_STEPS", "Setup steps")
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
PAGE_SAVED = Sentence("PAGE_SAVED", "Saved. Aldis is restarting with it, which takes a moment.")
PAGE_SET_IN_ENVIRONMENT = Sentence(
    "PAGE_SET_IN_ENVIRONMENT",
    "{name} is set in the environment. That takes precedence over this page; change it there.",
)
PAGE_SET_ELSEWHERE = Sentence(
    "PAGE_SET_ELSEWHERE", "{name} is set in: {where}. That takes precedence over this page; change it there."
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
    "Nothing answers at {url}. Aldis needs signal-cli or signal-cli-rest-api; with Docker it is included and "
    "takes up to half a minute to start.",
)
PAGE_BRIDGE_CAME = Sentence("PAGE_BRIDGE_CAME", "The bridge is answering now: continue")
PAGE_LOOK_AGAIN = Sentence("PAGE_LOOK_AGAIN", "Look again")
PAGE_RELOAD = Sentence("PAGE_RELOAD", "Without JavaScript this page does not change by itself.")
PAGE_BRIDGE_FOUND = Sentence("PAGE_BRIDGE_FOUND", "There is one at {url}.")
PAGE_BRIDGE_OTHER = Sentence("PAGE_BRIDGE_OTHER", "It runs somewhere else")
PAGE_ACCOUNT_CHOOSE = Sentence("PAGE_ACCOUNT_CHOOSE", "Which account?")
PAGE_OWN = Sentence("PAGE_OWN", "Your own account")
PAGE_OWN_WHY = Sentence(
    "PAGE_OWN_WHY",
    "If you link your own account, Aldis can answer your “Note to Self” and read nothing else that arrives.",
)
PAGE_OWN_BEGIN = Sentence("PAGE_OWN_BEGIN", "Answer only my Note to Self")
PAGE_OWN_END = Sentence("PAGE_OWN_END", "Answer other people, too")
PAGE_REGISTER = Sentence("PAGE_REGISTER", "A number of its own")
PAGE_REGISTER_WHY = Sentence(
    "PAGE_REGISTER_WHY",
    "Any number that can receive an SMS or a call and is not in use with a Signal app, which would be signed out.",
)
PAGE_REGISTER_BEGIN = Sentence("PAGE_REGISTER_BEGIN", "Register a number")
PAGE_REGISTER_CAPTCHA = Sentence(
    "PAGE_REGISTER_CAPTCHA", "Signal wants a captcha first. Solve it here, and copy the link behind “Open Signal”:"
)
PAGE_REGISTER_HOW = Sentence("PAGE_REGISTER_HOW", "How to get the code")
PAGE_REGISTER_SEND = Sentence("PAGE_REGISTER_SEND", "Send the code")
PAGE_REGISTERED = Sentence("PAGE_REGISTERED", "The number is registered. Aldis is starting.")
PAGE_BY_SMS = Sentence("PAGE_BY_SMS", "by SMS")
PAGE_BY_CALL = Sentence("PAGE_BY_CALL", "by phone call")
PAGE_NUMBER = Sentence("PAGE_NUMBER", "Phone number")
PAGE_NUMBER_HINT = Sentence("PAGE_NUMBER_HINT", "With the country code, such as +49 151 23456789.")
PAGE_NUMBER_WRONG = Sentence("PAGE_NUMBER_WRONG", "That is not a phone number with its country code.")
PAGE_CODE_SENT = Sentence("PAGE_CODE_SENT", "Signal is sending a code to {number}. Type it in here.")
PAGE_CODE_MISSING = Sentence("PAGE_CODE_MISSING", "There is no code to check yet: have one sent first.")
PAGE_CAPTCHA_FIRST = Sentence(
    "PAGE_CAPTCHA_FIRST",
    "Signal wants a freshly solved captcha: open the page below, and paste the link behind “Open Signal”. The "
    "bridge says: {words}",
)
PAGE_VERIFY_REFUSED = Sentence(
    "PAGE_VERIFY_REFUSED",
    "Signal did not accept this code. Check it and the PIN, or have another one sent. The bridge says: {words}",
)
PAGE_VERIFY = Sentence("PAGE_VERIFY", "Check the code")
PAGE_VERIFY_CODE_HINT = Sentence("PAGE_VERIFY_CODE_HINT", "The six digits from the SMS or call.")
PAGE_PIN = Sentence("PAGE_PIN", "PIN")
PAGE_PIN_HINT = Sentence("PAGE_PIN_HINT", "Only where the number has a registration lock.")
PAGE_MODEL_NOW = Sentence("PAGE_MODEL_NOW", "What answers now")
PAGE_MODEL_OFFLINE = Sentence("PAGE_MODEL_OFFLINE", "No language model")
PAGE_MODEL_OFFLINE_WHY = Sentence(
    "PAGE_MODEL_OFFLINE_WHY",
    "Aldis handles sums, units, the weather, reminders and commands by itself; everything else takes a model.",
)
PAGE_MODEL_FIRST = Sentence("PAGE_MODEL_FIRST", "the first one the server lists")
PAGE_MODEL_CHOOSE = Sentence("PAGE_MODEL_CHOOSE", "Another model on this server")
PAGE_MODEL_PRICES = Sentence(
    "PAGE_MODEL_PRICES",
    "After the name, where known: the context in tokens, and US dollars per million tokens in and out.",
)
PAGE_MODEL_CHOSEN = Sentence("PAGE_MODEL_CHOSEN", "{model} answers from now on.")
PAGE_MODEL_TAKEN = Sentence(
    "PAGE_MODEL_TAKEN", "The server answers and the settings are saved. Aldis is restarting with them."
)
PAGE_MODEL_NONE = Sentence("PAGE_MODEL_NONE", "For now Aldis answers without a model.")
PAGE_MODEL_TEST = Sentence("PAGE_MODEL_TEST", "Ask it something")
PAGE_MODEL_TEST_WHY = Sentence(
    "PAGE_MODEL_TEST_WHY",
    "A real question of a few words shows that it answers, and what that costs: a fraction of a cent.",
)
PAGE_MODEL_REFUSED = Sentence("PAGE_MODEL_REFUSED", "Nothing was saved: {words}.")
PAGE_MODEL_ANSWERS = Sentence("PAGE_MODEL_ANSWERS", "It answers: {words}")
PAGE_KEY = Sentence("PAGE_KEY", "A key")
PAGE_KEY_WHY = Sentence(
    "PAGE_KEY_WHY", "You get one in the vendor’s console. Questions go to the vendor, who charges for them."
)
PAGE_VENDOR = Sentence("PAGE_VENDOR", "Vendor")
PAGE_KEY_LABEL = Sentence("PAGE_KEY_LABEL", "The key")
PAGE_KEY_HINT = Sentence("PAGE_KEY_HINT", "It is tried right away, free of charge, and never shown again.")
PAGE_KEY_TAKE = Sentence("PAGE_KEY_TAKE", "Try and save")
PAGE_KEY_MISSING = Sentence("PAGE_KEY_MISSING", "Something is missing: choose, and fill in the field.")
PAGE_KEY_OPTIONAL = Sentence("PAGE_KEY_OPTIONAL", "Key, if the server wants one")
PAGE_SERVER = Sentence("PAGE_SERVER", "A server of your own")
PAGE_SERVER_WHY = Sentence(
    "PAGE_SERVER_WHY",
    "Ollama, LM Studio, vLLM or llama.cpp on this machine or in your network: questions never leave your home.",
)
PAGE_SERVER_LOOK = Sentence("PAGE_SERVER_LOOK", "Look for one")
PAGE_SERVER_NONE = Sentence("PAGE_SERVER_NONE", "None of them answers at its usual address.")
PAGE_SERVER_OTHER = Sentence("PAGE_SERVER_OTHER", "It has another address")
PAGE_WITHOUT = Sentence("PAGE_WITHOUT", "Without a model for now")
PAGE_WITHOUT_WHY = Sentence(
    "PAGE_WITHOUT_WHY", "You can come back to this step later; until then Aldis does what it can by itself."
)
PAGE_WITHOUT_DO = Sentence("PAGE_WITHOUT_DO", "Continue without one")
PAGE_ADMIN = Sentence("PAGE_ADMIN", "The admin")
PAGE_ADMIN_THERE = Sentence("PAGE_ADMIN_THERE", "Admin")
PAGE_ADMIN_NEXT = Sentence("PAGE_ADMIN_NEXT", "Write to Aldis: it answers you now.")
PAGE_ADMIN_OTHERS = Sentence("PAGE_ADMIN_OTHERS", "Let others in")
PAGE_ADMIN_MADE = Sentence(
    "PAGE_ADMIN_MADE", "That’s you. Aldis answers you from now on, including what you have just written."
)
PAGE_WRITE_NOW = Sentence("PAGE_WRITE_NOW", "Write to Aldis now")
PAGE_WRITE_NOW_NUMBER = Sentence(
    "PAGE_WRITE_NOW_NUMBER", "Write any message to {number} in Signal, from your own phone. You will show up here."
)
PAGE_WRITE_NOW_HOW = Sentence(
    "PAGE_WRITE_NOW_HOW", "Write any message to Aldis’s account in Signal, from your own phone. You will show up here."
)
PAGE_WRITE_NOW_WORDS = Sentence(
    "PAGE_WRITE_NOW_WORDS",
    "Nobody gets an answer yet. People who write are shown here for ten minutes, and their messages wait in "
    "memory: they are answered if you let the person in, and forgotten if you don’t.",
)
PAGE_CALLERS_NONE = Sentence("PAGE_CALLERS_NONE", "Nobody has written yet")
PAGE_CALLER_AT = Sentence("PAGE_CALLER_AT", "wrote on {when}")
PAGE_CALLER_GONE = Sentence("PAGE_CALLER_GONE", "That person is no longer listed here. Write again.")
PAGE_THIS_IS_ME = Sentence("PAGE_THIS_IS_ME", "This is me")
PAGE_ADMINS = Sentence("PAGE_ADMINS", "Admins")
PAGE_ADMINS_WHY = Sentence("PAGE_ADMINS_WHY", "They are answered, and may use the operator’s commands.")
PAGE_ALLOWED = Sentence("PAGE_ALLOWED", "Who may write")
PAGE_ALLOWED_WHY = Sentence("PAGE_ALLOWED_WHY", "They are answered in their own chat.")
PAGE_BY_CODE = Sentence("PAGE_BY_CODE", "let in with a code")
PAGE_NOBODY = Sentence("PAGE_NOBODY", "Nobody yet.")
PAGE_PERSON = Sentence("PAGE_PERSON", "Phone number or uuid")
PAGE_PERSON_HINT = Sentence(
    "PAGE_PERSON_HINT", "With the country code. A number stands for the account that first writes with it."
)
PAGE_PERSON_ADD = Sentence("PAGE_PERSON_ADD", "Add somebody")
PAGE_PERSON_AS = Sentence("PAGE_PERSON_AS", "As")
PAGE_PERSON_ADDED = Sentence("PAGE_PERSON_ADDED", "They may write from now on.")
PAGE_PERSON_REMOVED = Sentence("PAGE_PERSON_REMOVED", "Removed. They are no longer answered.")
PAGE_PERSON_WRONG = Sentence("PAGE_PERSON_WRONG", "That is neither a phone number with its country code nor a uuid.")
PAGE_PAIRING = Sentence("PAGE_PAIRING", "Codes for others")
PAGE_PAIRING_WHY = Sentence(
    "PAGE_PAIRING_WHY",
    "Strangers who write get a code and nothing else. If they tell you the code, you can let them in with it, "
    "here or with /allow.",
)
PAGE_PAIRING_CODE = Sentence("PAGE_PAIRING_CODE", "The code they told you")
PAGE_PAIRING_HINT = Sentence("PAGE_PAIRING_HINT", "Such as ACDE-3467; good for an hour.")
PAGE_PAIRING_UNKNOWN = Sentence("PAGE_PAIRING_UNKNOWN", "That code is unknown, or has expired after an hour.")
PAGE_LET_IN = Sentence("PAGE_LET_IN", "Let them in")
PAGE_GROUPS = Sentence("PAGE_GROUPS", "Groups")
PAGE_GROUPS_WHY = Sentence(
    "PAGE_GROUPS_WHY",
    "Members of a ticked group may ask Aldis. Invite its account to a group, and the group shows up here.",
)
PAGE_GROUP_INVITATION = Sentence("PAGE_GROUP_INVITATION", "an invitation; tick it to accept")
PAGE_GROUPS_NONE = Sentence("PAGE_GROUPS_NONE", "The account is in no group.")
PAGE_BUDGETS = Sentence("PAGE_BUDGETS", "Budgets")
PAGE_BUDGETS_WHY = Sentence(
    "PAGE_BUDGETS_WHY",
    "In US dollars, at the ledger’s prices. An empty field means no limit, 0 means no spending at all.",
)
PAGE_BUDGET_PERSON_DAY = Sentence("PAGE_BUDGET_PERSON_DAY", "Each person, per day")
PAGE_BUDGET_PERSON_MONTH = Sentence("PAGE_BUDGET_PERSON_MONTH", "Each person, per month")
PAGE_BUDGET_GROUP_DAY = Sentence("PAGE_BUDGET_GROUP_DAY", "Each group, per day")
PAGE_BUDGET_GROUP_MONTH = Sentence("PAGE_BUDGET_GROUP_MONTH", "Each group, per month")
PAGE_BUDGET_ALL_DAY = Sentence("PAGE_BUDGET_ALL_DAY", "Everybody together, per day")
PAGE_BUDGET_ALL_MONTH = Sentence("PAGE_BUDGET_ALL_MONTH", "Everybody together, per month")
PAGE_TOOLS_THERE = Sentence("PAGE_TOOLS_THERE", "The tools")
PAGE_TOOLS_WHY = Sentence(
    "PAGE_TOOLS_WHY",
    "What the model may do besides answering, what each tool costs, and who outside sees what is asked.",
)
PAGE_ABOUT_CALCULATOR = Sentence("PAGE_ABOUT_CALCULATOR", "Works sums out exactly.")
PAGE_ABOUT_WEATHER = Sentence(
    "PAGE_ABOUT_WEATHER",
    "Tells the weather of a place, now and for the next seven days, with air quality and pollen, also as a chart.",
)
PAGE_ABOUT_CLOCK = Sentence("PAGE_ABOUT_CLOCK", "Tells the time anywhere in the world.")
PAGE_ABOUT_CONVERT = Sentence("PAGE_ABOUT_CONVERT", "Converts units and currencies.")
PAGE_ABOUT_WEB_SEARCH = Sentence(
    "PAGE_ABOUT_WEB_SEARCH", "Searches the web, or Wikipedia where no search service is set up."
)
PAGE_ABOUT_VERIFY_NEWS = Sentence(
    "PAGE_ABOUT_VERIFY_NEWS", "Gathers evidence for and against a claim by several searches."
)
PAGE_ABOUT_TWITTER = Sentence("PAGE_ABOUT_TWITTER", "Searches posts on X.")
PAGE_ABOUT_WIKIPEDIA = Sentence("PAGE_ABOUT_WIKIPEDIA", "Reads articles of Wikipedia.")
PAGE_ABOUT_MARKETS = Sentence("PAGE_ABOUT_MARKETS", "Looks up prediction markets: what traders think is likely.")
PAGE_ABOUT_NEWS = Sentence("PAGE_ABOUT_NEWS", "Searches what the news feeds of your choice have reported.")
PAGE_ABOUT_WEB_FETCH = Sentence("PAGE_ABOUT_WEB_FETCH", "Reads web pages and PDFs.")
PAGE_ABOUT_IMAGES = Sentence("PAGE_ABOUT_IMAGES", "Draws pictures.")
PAGE_ABOUT_DB_QUERY = Sentence(
    "PAGE_ABOUT_DB_QUERY", "Looks things up in your own databases, without changing anything."
)
PAGE_ABOUT_MCP = Sentence("PAGE_ABOUT_MCP", "Offers what MCP servers of your choice can do.")
PAGE_ABOUT_REMIND = Sentence("PAGE_ABOUT_REMIND", "Reminds people of something, once or again and again.")
PAGE_ABOUT_REMEMBER = Sentence("PAGE_ABOUT_REMEMBER", "Remembers what people want remembered about themselves.")
PAGE_ABOUT_PREDICTIONS = Sentence(
    "PAGE_ABOUT_PREDICTIONS", "Records what people predict, and how often they were right."
)
PAGE_STATE_ON = Sentence("PAGE_STATE_ON", "in use")
PAGE_STATE_OFF = Sentence("PAGE_STATE_OFF", "switched off")
PAGE_STATE_MISSING = Sentence("PAGE_STATE_MISSING", "not set up")
PAGE_STATE_FAILED = Sentence("PAGE_STATE_FAILED", "broken")
PAGE_TOOL_COSTS = Sentence("PAGE_TOOL_COSTS", "up to {cost} a call")
PAGE_TOOL_FREE = Sentence("PAGE_TOOL_FREE", "free")
PAGE_TOOL_SEEN = Sentence("PAGE_TOOL_SEEN", "seen by: {names}")
PAGE_TOOL_SEEN_NOBODY = Sentence("PAGE_TOOL_SEEN_NOBODY", "nobody outside sees it")
PAGE_TOOL_SEEN_UNKNOWN = Sentence("PAGE_TOOL_SEEN_UNKNOWN", "it does not say who sees it")
PAGE_TOOL_ASKS = Sentence("PAGE_TOOL_ASKS", "asks first if it has read what strangers wrote")
PAGE_TOOL_UNKNOWN = Sentence("PAGE_TOOL_UNKNOWN", "There is no such tool.")
PAGE_TRY = Sentence("PAGE_TRY", "Try {name}")
PAGE_TRY_WITH = Sentence("PAGE_TRY_WITH", "Arguments")
PAGE_TRY_WHY = Sentence("PAGE_TRY_WHY", "The call is made as a model would make it, and counts towards usage.")
PAGE_TRY_LINES = Sentence("PAGE_TRY_LINES", "One per line.")
PAGE_TRY_DO = Sentence("PAGE_TRY_DO", "Run it")
PAGE_TRY_ANSWER = Sentence("PAGE_TRY_ANSWER", "The answer")
PAGE_TRY_OK = Sentence("PAGE_TRY_OK", "it works")
PAGE_TRY_FAILED = Sentence("PAGE_TRY_FAILED", "it failed")
PAGE_TRY_COST = Sentence("PAGE_TRY_COST", "It cost {cost} and took {seconds} s.")
PAGE_TRY_CUT = Sentence("PAGE_TRY_CUT", "The answer is longer; this is how it begins.")
PAGE_TRY_NOT = Sentence(
    "PAGE_TRY_NOT",
    "This tool cannot be tried here: it changes something, reads what people keep, or asks somebody first.",
)
PAGE_TRY_NO_MONEY = Sentence("PAGE_TRY_NO_MONEY", "The budget is used up, and this call would cost something.")
PAGE_SEARCH = Sentence("PAGE_SEARCH", "Search keys")
PAGE_SEARCH_WHY = Sentence(
    "PAGE_SEARCH_WHY",
    "Without a key, Wikipedia is searched. A key is tried right away, free of charge where the service allows "
    "that; an empty field removes it.",
)
PAGE_RETENTION = Sentence("PAGE_RETENTION", "How long messages are kept")
PAGE_RETENTION_WHY = Sentence(
    "PAGE_RETENTION_WHY",
    "What is said is kept sealed on this machine, so that the model can read it again. After this many days "
    "it is destroyed.",
)
PAGE_RETENTION_DAYS = Sentence("PAGE_RETENTION_DAYS", "Days")
PAGE_RETENTION_HINT = Sentence("PAGE_RETENTION_HINT", "Empty: until somebody says /forget.")
PAGE_LEVEL_OK = Sentence("PAGE_LEVEL_OK", "ok")
PAGE_LEVEL_WARNING = Sentence("PAGE_LEVEL_WARNING", "warning")
PAGE_LEVEL_PROBLEM = Sentence("PAGE_LEVEL_PROBLEM", "problem")
PAGE_FINDINGS_OK = Sentence("PAGE_FINDINGS_OK", "OK: {count}")
PAGE_ALL_DONE = Sentence("PAGE_ALL_DONE", "Aldis is set up")
PAGE_ALL_DONE_WHY = Sentence("PAGE_ALL_DONE_WHY", "Write to it in Signal: ask something, or say /help.")
PAGE_NOT_ALL_DONE = Sentence("PAGE_NOT_ALL_DONE", "Not finished yet. Still to do:")
PAGE_CHAT_ALT = Sentence("PAGE_CHAT_ALT", "An example of a message and its answer")
PAGE_CHAT_QUESTION = Sentence("PAGE_CHAT_QUESTION", "What is 17 × 23?")
PAGE_CHAT_ANSWER = Sentence("PAGE_CHAT_ANSWER", "17 × 23 = 391")
PAGE_MASTER_KEY = Sentence("PAGE_MASTER_KEY", "The master key")
PAGE_MASTER_KEY_WHY = Sentence(
    "PAGE_MASTER_KEY_WHY",
    "Everything kept is sealed with it, and no backup contains it. Keep a copy somewhere else: without it "
    "nobody can read a backup; with it and a backup, anybody can.",
)
PAGE_MASTER_KEY_GET = Sentence("PAGE_MASTER_KEY_GET", "Download the key")
PAGE_KEY_ELSEWHERE = Sentence(
    "PAGE_KEY_ELSEWHERE", "The key is not in a file here: it comes from the settings, or nothing has been kept yet."
)
PAGE_DOCTOR = Sentence("PAGE_DOCTOR", "The doctor")
PAGE_DOCTOR_WHY = Sentence(
    "PAGE_DOCTOR_WHY", "Checks settings, store, bridge, keys, models and tools, free of charge, and says what to do."
)
PAGE_EXAMINE = Sentence("PAGE_EXAMINE", "Check everything")
PAGE_EXAMINED = Sentence("PAGE_EXAMINED", "Checked.")
PAGE_SPENT = Sentence("PAGE_SPENT", "Spent in the last 30 days")
PAGE_MODEL_CALLS = Sentence("PAGE_MODEL_CALLS", "Model calls")
PAGE_TOKENS = Sentence("PAGE_TOKENS", "Tokens")
PAGE_BY_DAY = Sentence("PAGE_BY_DAY", "By day")
PAGE_BY_DAY_ALT = Sentence(
    "PAGE_BY_DAY_ALT", "Bars for what was spent on each of 30 days, {total} in all; a table follows."
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
    "A copy of everything kept, made while Aldis runs, in the folder backups beside the store. Take it to "
    "another machine.",
)
PAGE_BACK_UP = Sentence("PAGE_BACK_UP", "Back up now")
PAGE_BACKED_UP = Sentence("PAGE_BACKED_UP", "Backup made.")
PAGE_VERSIONS = Sentence("PAGE_VERSIONS", "Versions")
PAGE_FEEDS = Sentence("PAGE_FEEDS", "News feeds")
PAGE_FEEDS_NONE = Sentence("PAGE_FEEDS_NONE", "No feeds yet.")
PAGE_FEEDS_OFF = Sentence("PAGE_FEEDS_OFF", "The news tool is switched off.")
PAGE_FEED_ADDRESS = Sentence("PAGE_FEED_ADDRESS", "Address of the feed")
PAGE_FEED_HINT = Sentence("PAGE_FEED_HINT", "RSS or Atom, on the public web.")
PAGE_FEED_ADD = Sentence("PAGE_FEED_ADD", "Add the feed")
PAGE_FEED_ADDED = Sentence("PAGE_FEED_ADDED", "Feed added. Aldis reads it from now on.")
PAGE_FEED_KNOWN = Sentence("PAGE_FEED_KNOWN", "That feed is already there, or there is no room for more.")
PAGE_FEED_WRONG = Sentence(
    "PAGE_FEED_WRONG", "That is not a web address. It has to begin with https:// and must not contain a password."
)
PAGE_FEED_NONE = Sentence("PAGE_FEED_NONE", "That feed is no longer there.")
PAGE_FEED_IS_SET = Sentence("PAGE_FEED_IS_SET", "It is set by TOOLS__NEWS__FEEDS; remove it there.")
PAGE_FEED_REMOVED = Sentence("PAGE_FEED_REMOVED", "Feed removed, and its articles deleted.")
PAGE_UPGRADE = Sentence("PAGE_UPGRADE", "What an upgrade would do")
PAGE_UPGRADE_WHY = Sentence(
    "PAGE_UPGRADE_WHY",
    "The program now installed on this machine is tried on a copy: backup, migration, a question. Nothing in "
    "use changes.",
)
PAGE_UPGRADE_CHECK = Sentence("PAGE_UPGRADE_CHECK", "Check it")
PAGE_UPGRADE_RUNNING = Sentence("PAGE_UPGRADE_RUNNING", "Checking …")
PAGE_UPGRADE_FINE = Sentence("PAGE_UPGRADE_FINE", "It works")
PAGE_UPGRADE_FAILED = Sentence("PAGE_UPGRADE_FAILED", "It does not work")
PAGE_UPGRADE_DOCKER = Sentence("PAGE_UPGRADE_DOCKER", "With Docker, the new version’s own image does the check")
PAGE_REMINDERS = Sentence("PAGE_REMINDERS", "Reminders")
PAGE_REMINDERS_WHY = Sentence(
    "PAGE_REMINDERS_WHY", "By number and time; what they say is only for the people who set them."
)
PAGE_REMINDERS_NONE = Sentence("PAGE_REMINDERS_NONE", "None yet.")
PAGE_LOG = Sentence("PAGE_LOG", "The log")
PAGE_LOG_WHY = Sentence(
    "PAGE_LOG_WHY", "Newest lines first. It never contains what people wrote, their names or their numbers."
)
PAGE_AUDIT = Sentence("PAGE_AUDIT", "What was done here")
PAGE_AUDIT_WHY = Sentence("PAGE_AUDIT_WHY", "Every change, and the session that made it; never a value.")
PAGE_WHEN = Sentence("PAGE_WHEN", "When")
PAGE_WHAT = Sentence("PAGE_WHAT", "What")
PAGE_ABOUT = Sentence("PAGE_ABOUT", "About")
PAGE_SESSION = Sentence("PAGE_SESSION", "Session")
PAGE_FROM = Sentence("PAGE_FROM", "From")
PAGE_PROFILE = Sentence("PAGE_PROFILE", "Profile")
PAGE_PROFILE_GIVE = Sentence("PAGE_PROFILE_GIVE", "Name, picture and user name")
PAGE_PROFILE_NAME = Sentence("PAGE_PROFILE_NAME", "Name and picture")
PAGE_PROFILE_WHY = Sentence(
    "PAGE_PROFILE_WHY",
    "This is what people see of the account in Signal. If it is your own account, your own name and picture change.",
)
PAGE_PROFILE_ABOUT = Sentence("PAGE_PROFILE_ABOUT", "About")
PAGE_PROFILE_ABOUT_HINT = Sentence("PAGE_PROFILE_ABOUT_HINT", "A few words below the name (optional)")
PAGE_PROFILE_SAVED = Sentence("PAGE_PROFILE_SAVED", "Saved. People will see it soon after the next message.")
PAGE_PROFILE_NAME_WRONG = Sentence("PAGE_PROFILE_NAME_WRONG", "The name is missing or too long.")
PAGE_PROFILE_ABOUT_WRONG = Sentence("PAGE_PROFILE_ABOUT_WRONG", "The words below the name are too long.")
PAGE_PICTURE = Sentence("PAGE_PICTURE", "Picture")
PAGE_PICTURE_HINT = Sentence(
    "PAGE_PICTURE_HINT",
    "JPEG, PNG, WebP or GIF, up to 20 MB. It is made smaller, and the place and time it was taken are removed.",
)
PAGE_PICTURE_ALT = Sentence("PAGE_PICTURE_ALT", "The profile picture")
PAGE_PICTURE_REMOVE = Sentence("PAGE_PICTURE_REMOVE", "Remove the picture")
PAGE_PICTURE_WRONG = Sentence(
    "PAGE_PICTURE_WRONG", "This file cannot be used as a picture. Choose a JPEG, PNG, WebP or GIF of up to 20 MB."
)
PAGE_USERNAME = Sentence("PAGE_USERNAME", "User name")
PAGE_USERNAME_WHY = Sentence(
    "PAGE_USERNAME_WHY",
    "With a user name people find the account without its phone number: they type it, open its link or scan its code.",
)
PAGE_USERNAME_HINT = Sentence(
    "PAGE_USERNAME_HINT",
    "3 to 32 characters: a to z, digits and _, not starting with a digit. Signal adds a dot and two digits "
    "unless you do. It replaces the one before, whose link stops working.",
)
PAGE_USERNAME_TAKE = Sentence("PAGE_USERNAME_TAKE", "Set this user name")
PAGE_USERNAME_LISTED = Sentence(
    "PAGE_USERNAME_LISTED",
    "The account has the user name {name}. Set it again to see its link and code; both stay the same.",
)
PAGE_USERNAME_SCAN = Sentence("PAGE_USERNAME_SCAN", "Scan the code with a phone’s camera, or open the link there:")
PAGE_USERNAME_ALT = Sentence("PAGE_USERNAME_ALT", "QR code of the link below, which leads to the account.")
PAGE_USERNAME_SET = Sentence("PAGE_USERNAME_SET", "People can now find the account as {name}.")
PAGE_USERNAME_WRONG = Sentence(
    "PAGE_USERNAME_WRONG",
    "That cannot be a user name. It has 3 to 32 characters, a to z, digits and _, and does not start with a "
    "digit; a dot and two to nine digits may follow.",
)
PAGE_USERNAME_TAKEN = Sentence(
    "PAGE_USERNAME_TAKEN", "Somebody else has the user name {name}, or Signal does not allow it. Try another one."
)
PAGE_USERNAME_DROP = Sentence("PAGE_USERNAME_DROP", "Give up the user name")
PAGE_USERNAME_DROPPED = Sentence(
    "PAGE_USERNAME_DROPPED", "The account no longer has a user name, and its link no longer works."
)
PAGE_FOUND_BY = Sentence("PAGE_FOUND_BY", "How others find it")
PAGE_NUMBERLESS_MAKE = Sentence(
    "PAGE_NUMBERLESS_MAKE",
    "A bridge cannot create an account without a phone number, but Signal’s app on a phone can; then you link it here.",
)
PAGE_NUMBERLESS_TAKEN = Sentence(
    "PAGE_NUMBERLESS_TAKEN", "An account without a phone number can scan this code as well."
)
PAGE_NUMBERLESS_NOT_TAKEN = Sentence(
    "PAGE_NUMBERLESS_NOT_TAKEN",
    "An account without a phone number cannot scan this code: the bridge does not support that. A newer "
    "signal-cli may.",
)
PAGE_ACCOUNT_UNNAMED = Sentence("PAGE_ACCOUNT_UNNAMED", "Which account is it?")
PAGE_ACCOUNT_UNNAMED_WHY = Sentence(
    "PAGE_ACCOUNT_UNNAMED_WHY",
    "The bridge has an account without a phone number and does not say its id. On the machine where the "
    "bridge runs, this shows it:",
)
PAGE_ACCOUNT_ID = Sentence("PAGE_ACCOUNT_ID", "Id of the account (UUID)")
PAGE_SEEN = Sentence("PAGE_SEEN", "{who}: {what}")
PAGE_SEEN_RATES = Sentence("PAGE_SEEN_RATES", "that rates are asked for")
PAGE_SEEN_OWN_POSTGRES = Sentence("PAGE_SEEN_OWN_POSTGRES", "your own PostgreSQL servers")
PAGE_SEEN_QUESTION = Sentence("PAGE_SEEN_QUESTION", "the question")
PAGE_SEEN_SEARCHERS = Sentence("PAGE_SEEN_SEARCHERS", "those who see web_search")
PAGE_SEEN_CLAIM = Sentence("PAGE_SEEN_CLAIM", "searches about the claim")
PAGE_SEEN_DESCRIPTION = Sentence("PAGE_SEEN_DESCRIPTION", "the description")
PAGE_SEEN_CALL = Sentence("PAGE_SEEN_CALL", "what it is called with")
PAGE_SEEN_ASKERS = Sentence("PAGE_SEEN_ASKERS", "whoever sees what is asked of web_search")
PAGE_SEEN_INSTEAD = Sentence("PAGE_SEEN_INSTEAD", "in its stead whoever sees what is asked of web_search")
PAGE_SEEN_PLACE = Sentence("PAGE_SEEN_PLACE", "the place")
PAGE_SEEN_SITE = Sentence("PAGE_SEEN_SITE", "the page's site")
PAGE_REFUSED_FORM = Sentence(
    "PAGE_REFUSED_FORM",
    "This form belongs to another session (error {status}), so nothing was changed. Go back, reload the "
    "page, and try again.",
)
PAGE_REFUSED_ADDRESS = Sentence("PAGE_REFUSED_ADDRESS", "There is nothing at this address (error {status}).")
PAGE_REFUSED_SIZE = Sentence(
    "PAGE_REFUSED_SIZE",
    "What you sent is too large (error {status}), so nothing was changed.",
)
