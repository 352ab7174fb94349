"""What Aldis waits for, and what keeps it from hearing people or from being heard: sentences for the operator.

The log and the page for programs say them in English, the administration pages in the language of whoever reads them.
"""

from bot.i18n.catalogues import Sentence

HEARING_CLOSED = Sentence("HEARING_CLOSED", "the stream of messages is not open")
HEARING_SILENT = Sentence(
    "HEARING_SILENT", "the stream of messages is open, but nothing comes over it, not even a keep-alive"
)
HEARING_UNLINKED = Sentence(
    "HEARING_UNLINKED", "the bridge to Signal no longer has the account; link it again with: {command}"
)
HEARING_UNREACHABLE = Sentence(
    "HEARING_UNREACHABLE", "the bridge to Signal does not say whether it still has the account"
)
HEARING_UNREADABLE = Sentence(
    "HEARING_UNREADABLE",
    "most of what came in the last hour could not be decrypted; look in signal-cli's log",
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
ACCOUNT_UNNAMED = Sentence(
    "ACCOUNT_UNNAMED",
    "the bridge has an account without a phone number and does not report its uuid; put the uuid there "
    "(`{command}` shows it), or let Aldis talk to signal-cli's own daemon",
)
ACCOUNT_SEVERAL = Sentence(
    "ACCOUNT_SEVERAL",
    "SIGNAL__ACCOUNT: the bridge has several accounts; name the one that Aldis answers for",
)
ACCOUNT_OTHER = Sentence(
    "ACCOUNT_OTHER",
    "SIGNAL__ACCOUNT: the bridge has another account, not this one; correct it or link it",
)
ACCOUNT_REFUSED = Sentence("ACCOUNT_REFUSED", "SIGNAL__ACCOUNT: {why}")
BRIDGE_NO_ADDRESS = Sentence(
    "BRIDGE_NO_ADDRESS",
    "SIGNAL__URL is not an address; it should look like {socket} or {url}",
)
BRIDGE_NOT_THERE = Sentence("BRIDGE_NOT_THERE", "nothing answers at SIGNAL__URL yet ({why}): is the bridge running?")
BRIDGE_NOT_READY = Sentence("BRIDGE_NOT_READY", "what answers at SIGNAL__URL is not ready yet: HTTP {status}")
BRIDGE_OTHER = Sentence(
    "BRIDGE_OTHER",
    "SIGNAL__URL: neither signal-cli's daemon (--http) nor signal-cli-rest-api answers there (HTTP "
    "{status}); correct the address",
)
BRIDGE_NO_SOCKET = Sentence(
    "BRIDGE_NO_SOCKET",
    "what answers at SIGNAL__URL is not a signal-cli socket ({error}); the address of an HTTP server begins "
    "with http://",
)
BRIDGE_SILENT_HTTP = Sentence("BRIDGE_SILENT_HTTP", "no answer in time; a socket of signal-cli is written {form}")
RELEASE_VERSIONLESS = Sentence("RELEASE_VERSIONLESS", "{bridge} of unknown version")
RELEASE_SILENT = Sentence(
    "RELEASE_SILENT", "{bridge} does not report its version, so there is no telling how old it is"
)
RELEASE_SILENT_DO = Sentence("RELEASE_SILENT_DO", "run a released image or package of it")
RELEASE_OLD = Sentence(
    "RELEASE_OLD",
    "{release} is {days} days old or more; from {limit} on Signal may drop it, and the account with it",
)
RELEASE_TOO_OLD = Sentence(
    "RELEASE_TOO_OLD",
    "{release} is {days} days old or more: Signal may drop it any day, and the account with it",
)
RELEASE_OLD_DO = Sentence("RELEASE_OLD_DO", "install a newer {bridge}; make a copy of its data folder first")
RELEASE_LACKS_KEYS = Sentence(
    "RELEASE_LACKS_KEYS",
    "{release} lacks what Signal has wanted since April 2026: accounts behind it are unregistered",
)
RELEASE_LACKS_KEYS_DO = Sentence("RELEASE_LACKS_KEYS_DO", "install a newer signal-cli before anything else ({issues})")
RELEASE_LOSES = Sentence(
    "RELEASE_LOSES",
    "{release} loses nearly every incoming message: since June 2026 it fails on what Signal's server sends",
)
RELEASE_LOSES_DO = Sentence("RELEASE_LOSES_DO", "install {version} or later ({issues})")
RELEASE_HANGS = Sentence("RELEASE_HANGS", "{release} hangs when it writes to somebody for the first time")
RELEASE_HANGS_DO = Sentence("RELEASE_HANGS_DO", "install a newer signal-cli ({issues})")
RELEASE_CRASHES = Sentence(
    "RELEASE_CRASHES",
    "the native build of {release} crashes or hangs when it sends to groups",
)
RELEASE_CRASHES_DO = Sentence("RELEASE_CRASHES_DO", "use the Java build, or {version} or later ({issues})")
RELEASE_HANGS_HTTP = Sentence(
    "RELEASE_HANGS_HTTP",
    "{release} has been seen to hang after a while when it is used over HTTP",
)
RELEASE_HANGS_HTTP_DO = Sentence(
    "RELEASE_HANGS_HTTP_DO",
    "connect Aldis to its socket, or over TCP ({issue}, open on {day})",
)
REACH_NO_HOST = Sentence("REACH_NO_HOST", "no host of that name is known here")
REACH_CERTIFICATE = Sentence("REACH_CERTIFICATE", "its certificate is not trusted, or is for another name")
REACH_NO_TLS = Sentence("REACH_NO_TLS", "it does not use TLS; an address without it begins with http://")
REACH_SLOW = Sentence("REACH_SLOW", "no answer in time")
REACH_REFUSED = Sentence("REACH_REFUSED", "nothing listens there")
REACH_DENIED = Sentence("REACH_DENIED", "this user may not connect to it")
REACH_NO_SOCKET = Sentence("REACH_NO_SOCKET", "there is no such socket")
REACH_NO_WAY = Sentence("REACH_NO_WAY", "it cannot be reached from here")
