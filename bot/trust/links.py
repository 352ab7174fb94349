"""Pure: makes addresses safe, because an address carries words to the owner of its host, even if followed by accident.

    [details](https://evil.example/?d=4711)   -> details
    see https://evil.example/?d=4711          -> see evil[.]example
    see evil.example/?d=4711                  -> see evil[.]example/?d=4711
    https://lamps.example/, as a tool gave it -> stays

A given address stays only in the exact form it was given: capitals, escapes and a fragment of the model's own could
spell something as well. Signal turns whatever looks like an address into a link, even in code, and a browser skips
invisible characters. Which endings make a name one is not guessed: only names with the ending of a file that people
talk about (`report.pdf`) are none. Where a phone takes the characters right before or after a given address for a part
of it, it does not count as given.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from ipaddress import ip_address
from itertools import takewhile
from unicodedata import category, normalize

from bot.events import Style
from bot.formatting.spans import StyledText, overlapping
from bot.formatting.split import visible
from bot.messages import AssistantMessage, Message, ToolAnswer, ToolCall, UserMessage
from bot.trust.rules import texts_in, urls_in
from tools import canonical_url

_END = r"[^\s<>\"`|\\^]"
_DOT = r"[.。．｡․﹒]"
_UNSEEN = r"\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
# What may be part of a name as phones and browsers read it, including emoji and invisible characters: anything but
# white space and punctuation.
_SIGN = (
    r"[^\s\x00-,./:-@\[-^`{-\xa1§«¶·»¿\u2000-\u200a\u2010-\u2029\u202f-\u205f\u2500-\u257f\u3000-\u3003\u3008-\u301f"
    r"\u3030\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]"
)
_REST = rf"(?:(?::\d{{1,5}}(?!\d))?[/?\#]{_END}*|:\d{{1,5}}(?!\d))"
# Names are limited as in the DNS, so that a long line of dots is quick to search.
_NAME = rf"(?:{_SIGN}{{1,255}}{_DOT}){{1,20}}[{_UNSEEN}]*[^\W\d_]{_SIGN}{{0,62}}"
_OTHER = "(?:mailto|tel|sms|smsto|sgnl|geo|magnet|data|javascript|xmpp|sip)"
_ADDRESS = re.compile(
    rf"""(?P<whole>[a-z][a-z0-9+.-]{{1,20}}://{_END}+)
    |(?P<other>\b{_OTHER}:{_END}+)
    |(?P<bare>(?<!{_SIGN})(?:[\w.+-]{{1,64}}@)?{_NAME}(?![a-z0-9+.-]*://){_REST}?)
    |(?P<number>(?<![\w.])\d{{1,3}}(?:{_DOT}\d{{1,3}}){{3}}(?!\.?\w)(?P<behind>{_REST})?)""",
    re.IGNORECASE | re.VERBOSE,
)
_BEGINS = re.compile(r"(?<![\w.@-])|(?<=www\.)(?<![\w.@-]www\.)")
_GOES_ON_AS_ADDRESS = re.compile(r"[\w%=&-]|\.\w")
_LINK = re.compile(
    r"""!?\[([^\[\]\n]{0,300})\]\(<?([^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*)>?(?:\s+"[^"\n]*")?\)""", re.IGNORECASE
)
_CODE = re.compile(r"(```.*?(?:```|\Z)|`[^`\n]*`)", re.DOTALL)
_GOES_ON = re.compile(r'[|\\^`]|"[^\s"]+"')
"""Characters after an address that belong to it for Signal's desktop app, which ends one at white space and angle
brackets. Source: linkify-it 5, `src_path` in lib/re.mjs (read 2026-11-23)."""
_GOES_BEFORE = re.compile(rf"(?:[@$+=|~^`]|{_DOT})")
"""Characters before a name that begin its first label for Signal's desktop app: any that is not punctuation. The owner
of `sea.example` sees who asks for `4711=docs.sea.example`. Source: linkify-it 5, `src_pseudo_letter` in lib/re.mjs;
`isLinkSneaky` in ts/types/LinkPreview.std.ts of github.com/signalapp/Signal-Desktop (read 2026-11-23)."""
_PLAIN_END = re.compile(r"""[)\]}']*(?:([.,;!?])\1{0,2}|:|\?!|!\?)?[)\]}']*""")
"""What ends a sentence or closes a bracket after an address. Phones include other characters in the address, and
`!?!!?_` would spell a letter to them."""
_SCHEME = re.compile(r"^<?[a-z][a-z0-9+.-]{1,20}://(?:[^/?#@]*@)?", re.IGNORECASE)
_BEFORE_NAME = re.compile(r"\A\W+(?=[a-z0-9])", re.IGNORECASE)
"""An emoji, for example, directly before an address."""
_BEGINS_WITH_SCHEME = re.compile(rf"[a-z][a-z0-9+.-]{{1,20}}://|{_OTHER}:", re.IGNORECASE)
_AT_THE_END = ".,;:!?'*_)]}"
_MAX_ROUNDS = 3
"""Style marks may hide further style marks, and so on."""
_MIN_LABELS = 3
"""A name with this many labels is an address whatever its ending, outside of code."""
_COUNTRY_CHARS = 2
_FILE_END_WORDS = """avi bat bmp cc cfg conf cpp css csv db deb doc docx dll eml env epub exe gif gz heic htm html ics
    ini ipynb java jpeg jpg js json jsx key kt lock log lua m4a md mk mkv ml mp3 mp4 odt ogg opus pdf php pl pm png po
    ppt pptx ps psd py rar rb rs rtf sh so sql sqlite svg tar tex tiff toml ts tsx txt vb wav webm webp xls xlsx xml
    yaml yml zst"""
_FILE_ENDS = frozenset(_FILE_END_WORDS.split())
"""Endings of files: names with one dot, one of these and nothing after it are left alone."""
_CODED_HOST_ENDS = frozenset({"com", "org", "biz", "xyz", "onion", "рф", "中国"})
_LONGER_HOST_ENDS = _CODED_HOST_ENDS | {"net", "info", "app", "dev", "online", "site", "shop"}
"""In code, where `logger.info` and `System.Net` are no hosts, the endings that make a name one: with one dot, and with
several; those of countries, too, with several."""
_WIDE_DOTS = re.compile("[。．｡․﹒]")
"""Full stops that browsers take for dots: between words of Chinese or Japanese they end a sentence."""


def given_in(read: Sequence[Message], returning: Collection[str]) -> str:
    """The words in which people and these tools gave addresses, without what a model wrote or a tool only repeats."""
    calls: dict[str, ToolCall] = {}
    words: list[str] = []
    for message in read:
        if isinstance(message, AssistantMessage):
            calls.update((call.id, call) for call in message.calls)
            words += [page.url for page in message.pages or ()]  # a tool gave these
        elif isinstance(message, UserMessage):
            words += [] if message.labels is not None and message.labels.is_scheduled else [message.text]
        else:
            words += [_returned(one, calls.get(one.call_id)) for one in message.answers if one.name in returning]
    return "\n".join(words)


class GivenAddresses:
    """The addresses in given words, parsed once, because an answer may contain thousands of its own."""

    def __init__(self, words: str) -> None:
        self._words = words
        self._spellings: dict[str, str | None] = {}

    def spelling(self, address: str) -> str | None:
        """The address as it was given; None if it was not."""
        if address not in self._spellings:
            spelling = address if _stands_in(self._words, address) else None
            if spelling is None and "#" not in address:  # people get the spelling that was given
                spelling = self._known.get(canonical_url(address) or "")
            self._spellings[address] = spelling
        return self._spellings[address]

    @cached_property
    def _known(self) -> Mapping[str, str]:
        """The given addresses and the front pages of their hosts, by canonical spelling."""
        urls = [url for line in self._words.split("\n") for url in urls_in(line)]
        fronts = [front for url in urls if (front := canonical_url("/".join(url.split("/")[:3]))) is not None]
        return {url: url for url in (*urls, *fronts)}


_NONE_GIVEN = GivenAddresses("")


def _stands_in(words: str, address: str) -> bool:
    """Whether the address occurs in the words as a whole; a text search is a thousand times faster than a pattern."""
    at = words.find(address)
    while at >= 0:
        if _BEGINS.match(words, at) and not _GOES_ON_AS_ADDRESS.match(words, at + len(address)):
            return True
        at = words.find(address, at + 1)
    return False


def defang(text: str, given: GivenAddresses) -> str:
    """The answer, in Markdown, with every address that was not `given` made inert, also without its style marks."""
    pieces = _CODE.split(text)  # the odd ones are code
    pieces[::2] = [_LINK.sub(lambda link: _link(link, given), piece) for piece in pieces[::2]]
    safe = "".join(
        _ADDRESS.sub(lambda found, in_code=bool(at % 2): _shown(found, given, in_code=in_code), piece)
        for at, piece in enumerate(pieces)
    )
    for _ in range(_MAX_ROUNDS):
        seen = visible(safe)
        shown = _seen_without_links(seen, given)
        if shown == seen.text:
            return safe
        safe = shown
    return safe.replace(".", "[.]")  # a determined attempt


def _seen_without_links(seen: StyledText, given: GivenAddresses) -> str:
    code = [(span.start, span.end) for span in seen.spans if span.style is Style.MONOSPACE]

    def shown(found: re.Match[str]) -> str:
        in_code = overlapping(code, found.start(), found.start() + 1) is not None
        return _shown(found, _NONE_GIVEN if _goes_further(found) else given, in_code=in_code)

    return _ADDRESS.sub(shown, seen.text)


def _goes_further(found: re.Match[str]) -> bool:
    """Whether phones see a longer address here, at its beginning or end, than we do."""
    if found["bare"] is not None and _GOES_BEFORE.match(found.string, max(found.start() - 1, 0)):
        return True
    behind = found[0][len(found[0].rstrip(_AT_THE_END)) :]
    return not _PLAIN_END.fullmatch(behind) or _GOES_ON.match(found.string, found.end()) is not None


def inert(text: str) -> str:
    """The text with every address complete but inert, so that nothing turns it into a link."""
    return _ADDRESS.sub(lambda found: _inert(found[0]) if _is_address(found, in_code=False) else found[0], text)


def inert_host(url: str) -> str:
    """The host of an address with a scheme, made inert."""
    host = re.split(r"[/?#:]", _SCHEME.sub("", url), maxsplit=1)[0]
    return _inert(host.rstrip(_AT_THE_END + ">"))


def _link(link: re.Match[str], given: GivenAddresses) -> str:
    """A link reduced to its words unless its address was given; a link that leads nowhere stays."""
    found = _ADDRESS.match(link[2])
    if found is None or not _is_address(found, in_code=False):
        return link[0]
    kept = given.spelling(link[2])
    return link[1] if kept is None else link[0].replace(link[2], kept)


def _shown(found: re.Match[str], given: GivenAddresses, *, in_code: bool) -> str:
    if not _is_address(found, in_code=in_code):
        return found[0]
    address = found[0].rstrip(_AT_THE_END)
    behind = found[0][len(address) :]
    before = address[: len(address) - len(_BEFORE_NAME.sub("", address))]
    for spelled, rest in ((found[0], ""), (address, behind)):
        kept = given.spelling(spelled[len(before) :])
        if kept is not None:
            return before + kept + rest
    return (inert_host(address) if found["whole"] else _inert(address)) + behind


def _is_address(found: re.Match[str], *, in_code: bool) -> bool:
    """Whether something turns it into a link that could tell its host anything."""
    if found["number"] is not None:
        return found["behind"] is not None or _is_public(found["number"])
    if found["bare"] is None:
        return True
    bare = found["bare"].rstrip(_AT_THE_END)
    if re.search(r"[/?#:@]", bare) or bare.lower().startswith("www."):
        return True
    labels = re.split(_DOT, bare)
    seen = normalize("NFKC", re.sub(f"[{_UNSEEN}]", "", labels[-1])).lower()
    # A label goes on with marks, too, as in Indic scripts and Thai.
    end = "".join(takewhile(lambda sign: sign.isalnum() or sign == "-" or category(sign).startswith("M"), seen))
    if in_code:
        is_long = len(labels) >= _MIN_LABELS
        return end in _CODED_HOST_ENDS or (is_long and (len(end) == _COUNTRY_CHARS or end in _LONGER_HOST_ENDS))
    if _WIDE_DOTS.search(bare) and not end.isascii():
        return end in _CODED_HOST_ENDS
    return len(labels) >= _MIN_LABELS or (len(end) > 1 and end not in _FILE_ENDS)


def _is_public(number: str) -> bool:
    """Whether an IPv4 address is a public one: not a router at home, not a version like 10.0.19045.1."""
    try:
        return ip_address(re.sub(_DOT, ".", number)).is_global
    except ValueError:
        return False


def _returned(answer: ToolAnswer, call: ToolCall | None) -> str:
    """Returns what a tool says, without addresses that the model gave it."""
    content = answer.content
    for leaf in texts_in(call.arguments if call is not None else {}):
        for found in _ADDRESS.finditer(leaf):
            for spelled in {found[0], json.dumps(found[0])[1:-1], json.dumps(found[0], ensure_ascii=False)[1:-1]}:
                content = content.replace(spelled, " ")
    return content


def _inert(address: str) -> str:
    broken = re.sub(_DOT, "[.]", address).replace("@", "[@]")
    return broken.replace(":", "[:]", 1) if _BEGINS_WITH_SCHEME.match(address) else broken
