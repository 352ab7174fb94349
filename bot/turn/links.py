"""Pure: addresses that nobody can follow by accident. An address carries words out, to whoever owns its host.

    [details](https://evil.example/?d=4711)   -> details
    see https://evil.example/?d=4711          -> see evil[.]example
    see evil.example/?d=4711                  -> see evil[.]example/?d=4711
    https://lamps.example/, as a tool gave it -> stays

An address that was given stays only as it was given: capitals, escapes and a fragment of the model's own could spell
something out as well. Signal makes links of whatever looks like one, with a scheme or without, in code too, and a
browser passes over signs that nobody sees. A name with one dot and nothing behind it (`evil.com`) is an address as
well, where its end is one of hosts and none of the files that people talk about (`report.md`, `main.py`).
Left to others: when this has to be (`bot.turn.answers`), made-up sources of a search (`bot.turn.citations`).
"""

import json
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import cast

from bot.events import Style
from bot.formatting.spans import StyledText
from bot.formatting.split import visible
from bot.messages import AssistantMessage, Message, ToolAnswer, ToolCall, UserMessage
from bot.policy.trust import urls_in
from tools import canonical_url

_END = r"[^\s<>\"`|\\^]"
_DOT = r"[.。．｡․﹒]"
_UNSEEN = r"\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
# What may stand in a name as phones and browsers read it, emoji and what nobody sees among it: all but white space and
# the signs that stand around words.
_SIGN = (
    r"[^\s\x00-,./:-@\[-^`{-\xa1§«¶·»¿\u2000-\u200a\u2010-\u2029\u202f-\u205f\u2500-\u257f\u3000-\u3003\u3008-\u301f"
    r"\u3030\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]"
)
_REST = rf"(?:(?::\d{{1,5}}(?!\d))?[/?\#]{_END}*|:\d{{1,5}}(?!\d))"
# Names are as long as the DNS allows, so that no long line of dots takes long to look through.
_NAME = rf"(?:{_SIGN}{{1,255}}{_DOT}){{1,20}}[{_UNSEEN}]*[^\W\d_]{_SIGN}{{0,62}}"
_OTHER = "(?:mailto|tel|sms|smsto|sgnl|geo|magnet|data|javascript|xmpp|sip)"
_ADDRESS = re.compile(
    rf"""(?P<whole>[a-z][a-z0-9+.-]{{1,20}}://{_END}+)
    |(?P<other>\b{_OTHER}:{_END}+)
    |(?P<bare>(?<!{_SIGN})(?:[\w.+-]{{1,64}}@)?{_NAME}{_REST}?)
    |(?P<number>(?<!\w)\d{{1,3}}(?:{_DOT}\d{{1,3}}){{3}}{_REST})""",
    re.IGNORECASE | re.VERBOSE,
)
_LINK = re.compile(
    r"""!?\[([^\[\]\n]{0,300})\]\(<?([^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*)>?(?:\s+"[^"\n]*")?\)""", re.IGNORECASE
)
_CODE = re.compile(r"(```.*?(?:```|\Z)|`[^`\n]*`)", re.DOTALL)
_GOES_ON = re.compile(r'[|\\^`]|"[^\s"]+"')
"""What stands behind an address, to our eyes, and is part of it to Signal's app for desktops, which ends one at white
space and angle brackets. Source: linkify-it 5, `src_path` in lib/re.mjs (read 2026-11-23)."""
_SCHEME = re.compile(r"^<?[a-z][a-z0-9+.-]{1,20}://(?:[^/?#@]*@)?", re.IGNORECASE)
_BEFORE_NAME = re.compile(r"\A\W+")
"""An emoji, say, that stands before an address without a space between them."""
_BEGINS_WITH_SCHEME = re.compile(rf"[a-z][a-z0-9+.-]{{1,20}}://|{_OTHER}:", re.IGNORECASE)
_AT_THE_END = ".,;:!?'*_)]}"
_MAX_ROUNDS = 3
"""Signs of style may hide signs of style, and so on."""
_MIN_LABELS = 3
"""With as many a name is an address whatever its end is, outside of code."""
_HOST_END_WORDS = (
    "com net org info biz name pro edu gov mil int app dev page web site online tech store shop xyz top club live "
    "cloud website fun icu vip work link click help zip mov email blog news wiki art host press digital network "
    "systems example test onion aero arpa asia cat coop jobs mobi museum post tel travel xxx ink space world today "
    "life media group agency center company services solutions support team email bank money finance one win bid loan "
    "рф рус укр бел срб қаз орг онлайн сайт "
    "中国 中國 公司 网络 网址 网站 在线 香港 台湾 台灣 한국 भारत ไทย مصر قطر ایران みんな"
)
"""How names of hosts end, besides the ends of countries: what phones make links of, and what is cheap to have."""
_COUNTRY_END_WORDS = (
    "ac ad ae af ag ai al ao ar at au aw ax az ba bb bd be bf bg bh bi bj bm bn bo br bs bt bw by bz ca cd cf cg ch ci "
    "ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm dz ec ee eg er es et eu fi fj fk fm fo fr ga gd ge gf gg gh gi gl "
    "gm gn gp gq gr gt gu gw gy hk hm hn hr ht hu id ie il im io iq ir is it je jm jo jp ke kg kh ki km kn kp kr kw ky "
    "kz lb lc li lk lr ls lt lu lv ly ma mc me mg mh mm mn mo mp mq mr ms mt mu mv mw mx my mz na nc ne nf ng ni nl no "
    "np nr nu nz om pa pe pf pg ph pk pn pr pt pw qa re ro ru rw sa sb sc sd se sg si sk sl sm sn sr ss su sv sx sy sz "
    "tc td tg th tj tk tl tm tn to tr tt tv tw tz ua ug uk us uy uz va vc ve vg vi vn vu wf ws ye yt za zm zw"
)
"""But for those with which names of files end: as am cc do in la mk ml md pl pm ps py rs sh so st tf."""
_CODED_HOST_ENDS = frozenset({"com", "org", "biz", "xyz", "onion"})
"""Of names with one dot in code, where `logger.info` and `System.Net` are none."""
_HOST_ENDS = frozenset(_HOST_END_WORDS.split())
_COUNTRY_ENDS = frozenset(_COUNTRY_END_WORDS.split())


def given_in(read: Sequence[Message], returning: Collection[str]) -> str:
    """The words in which people and these tools gave addresses, of all that a model has read.

    Not what a model wrote, neither in its answers nor for itself to be asked later, nor what a tool only repeats.
    """
    calls: dict[str, ToolCall] = {}
    words: list[str] = []
    for message in read:
        if isinstance(message, AssistantMessage):
            calls.update((call.id, call) for call in message.calls)
            words += [page.url for page in message.pages or ()]  # a tool gave it then
        elif isinstance(message, UserMessage):
            words += [] if message.labels is not None and message.labels.is_scheduled else [message.text]
        else:
            words += [_returned(one, calls.get(one.call_id)) for one in message.answers if one.name in returning]
    return "\n".join(words)


def defang(text: str, given: str) -> str:
    """The answer, in Markdown, with all addresses that do not stand in what was `given` so changed that nothing makes
    links of them: neither in the answer nor in what people see of it, once signs of style and escapes are gone.
    """
    known = _known(given)
    pieces = _CODE.split(text)  # the odd ones are code
    pieces[::2] = [_LINK.sub(lambda link: _link(link, given, known), piece) for piece in pieces[::2]]
    safe = "".join(
        _ADDRESS.sub(lambda found, in_code=bool(at % 2): _shown(found, given, known, in_code=in_code), piece)
        for at, piece in enumerate(pieces)
    )
    for _ in range(_MAX_ROUNDS):
        seen = visible(safe)
        shown = _seen_without_links(seen, given, known)
        if shown == seen.text:
            return safe
        safe = shown
    return safe.replace(".", "[.]")  # somebody takes great pains


def _seen_without_links(seen: StyledText, given: str, known: Mapping[str, str]) -> str:
    code = [span for span in seen.spans if span.style is Style.MONOSPACE]

    def shown(found: re.Match[str]) -> str:
        in_code = any(span.start <= found.start() < span.end for span in code)
        goes_on = _GOES_ON.match(seen.text, found.end()) is not None
        return _shown(found, "" if goes_on else given, {} if goes_on else known, in_code=in_code)

    return _ADDRESS.sub(shown, seen.text)


def inert(text: str) -> str:
    """The text with every address in it whole, but so that nothing makes a link of it."""
    return _ADDRESS.sub(lambda found: _inert(found[0]) if _is_address(found, in_code=False) else found[0], text)


def inert_host(url: str) -> str:
    """The host of an address with a scheme, so that nothing makes a link of it."""
    host = re.split(r"[/?#:]", _SCHEME.sub("", url), maxsplit=1)[0]
    return _inert(host.rstrip(_AT_THE_END + ">"))


def _link(link: re.Match[str], given: str, known: Mapping[str, str]) -> str:
    """A link with its words alone, unless its address was given; what leads nowhere stays."""
    found = _ADDRESS.match(link[2])
    if found is None or not _is_address(found, in_code=False):
        return link[0]
    kept = _as_given(link[2], given, known)
    return link[1] if kept is None else link[0].replace(link[2], kept)


def _shown(found: re.Match[str], given: str, known: Mapping[str, str], *, in_code: bool) -> str:
    if not _is_address(found, in_code=in_code):
        return found[0]
    address = found[0].rstrip(_AT_THE_END)
    behind = found[0][len(address) :]
    before = address[: len(address) - len(_BEFORE_NAME.sub("", address))]
    for spelled, rest in ((found[0], ""), (address, behind)):
        kept = _as_given(spelled[len(before) :], given, known)
        if kept is not None:
            return before + kept + rest
    return (inert_host(address) if found["whole"] else _inert(address)) + behind


def _is_address(found: re.Match[str], *, in_code: bool) -> bool:
    """Whether something makes a link of it that could tell its host anything."""
    if found["bare"] is None:
        return True
    bare = found["bare"].rstrip(_AT_THE_END)
    if re.search(r"[/?#:@]", bare) or bare.lower().startswith("www."):
        return True
    labels = re.split(_DOT, bare)
    seen = unicodedata.normalize("NFKC", re.sub(f"[{_UNSEEN}]", "", labels[-1])).lower()
    end = re.split(r"[^\w-]", seen, maxsplit=1)[0]
    if len(labels) < _MIN_LABELS:
        return end in (_CODED_HOST_ENDS if in_code else _HOST_ENDS | _COUNTRY_ENDS)
    return not in_code or len(end) == 2 or end in _HOST_ENDS  # noqa: PLR2004  (of countries)


def _as_given(address: str, given: str, known: Mapping[str, str]) -> str | None:
    """The address as it was given; None: it was not."""
    if re.search(rf"(?<![\w.@-])(?:www\.)?{re.escape(address)}(?![\w%=&-]|\.\w)", given):
        return address
    canonical = canonical_url(address)
    # Another spelling of it: people get the one that was given.
    return known.get(canonical) if canonical is not None and "#" not in address else None


def _known(given: str) -> Mapping[str, str]:
    """The addresses that were given, and the front pages of their hosts, by their one spelling."""
    urls = [url for line in given.split("\n") for url in urls_in(line)]
    fronts = [front for url in urls if (front := canonical_url("/".join(url.split("/")[:3]))) is not None]
    return {url: url for url in (*urls, *fronts)}


def _returned(answer: ToolAnswer, call: ToolCall | None) -> str:
    """What a tool says, without the addresses that the model has given it."""
    content = answer.content
    for leaf in _leaves(call.arguments if call is not None else {}):
        for found in _ADDRESS.finditer(leaf):
            for spelled in {found[0], json.dumps(found[0])[1:-1], json.dumps(found[0], ensure_ascii=False)[1:-1]}:
                content = content.replace(spelled, " ")
    return content


def _leaves(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for item in cast("dict[str, object]", value).values():
                yield from _leaves(item)
        case list():
            for item in cast("list[object]", value):
                yield from _leaves(item)
        case _:
            return


def _inert(address: str) -> str:
    broken = re.sub(_DOT, "[.]", address).replace("@", "[@]")
    return broken.replace(":", "[:]", 1) if _BEGINS_WITH_SCHEME.match(address) else broken
