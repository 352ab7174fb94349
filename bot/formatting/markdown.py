r"""Parses a model's Markdown: what is a marker, and what is text. The only home of markdown-it-py.

The dialect is CommonMark with tables, `~~struck~~` and `||spoiler||`, parsed so that anything but markers stays. It
deviates from CommonMark because models write for people rather than for browsers:

- HTML tags, entities (`&amp;`) and link definitions (`[1]: https://..`) stay as written: only a browser hides them.
- Formulas (`$..$`, `$$..$$`, `\(..\)`, `\[..\]`) and bare addresses stay as written, whatever they contain.
- A backslash is a marker only before ``* _ ~ ` | # $ < >``, before a line, and where it keeps `1\.` or `\-` from being
  a list; in a Windows path it never is.
- `*`, `~~` and `||` open nothing inside a word or after a closing bracket (`5*3*2`, `x**2 + y**2`, `a||b||c`), and
  work beside Chinese, Japanese and Korean characters, whose words are not separated by spaces.
- Indented lines are not code, `+` is not a bullet, `===` or `---` below a line makes no heading, line breaks stay.
"""

import re
import unicodedata
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.parser_block import RuleFuncBlockType
from markdown_it.rules_block import StateBlock, blockquote, list_block, table
from markdown_it.rules_inline import StateInline, link
from markdown_it.rules_inline.state_inline import Delimiter
from markdown_it.token import Token

_RULES = (
    *("blockquote", "fence", "heading", "hr", "list", "table"),
    *("autolink", "backticks", "balance_pairs", "emphasis", "image", "link", "newline", "strikethrough"),
)
_MAX_LEVEL = 12
"""How deep quotes and lists (which count twice) can nest; anything deeper stays text, since markdown-it drops it."""
_MAX_COLUMNS, _MAX_ROWS = 20, 200
"""The largest table; wider ones and further rows stay text. markdown-it pads rows to the header's width, so that a few
bytes would become many cells."""
_PAIRS = {"~": "s", "|": "spoiler"}
_LITERAL = re.compile(
    r"""
      (?P<text> (?: [^\n\\`*_~|$:<!\[\]] | !(?!\[) | :(?!//) | ://(?<![A-Za-z]://) )+ )
    | (?P<formula> \$\$ [^$]{1,1000} \$\$
                 | \$ (?![\s$]) [^$\n]{0,300} (?<![\s\\]) \$ (?!\d)
                 | \\\( [^\n]{1,300}? \\\)
                 | \\\[ .{1,1000}? \\\] )
    | (?P<address> :// [^\s<>\[\]"`|\\]+ (?<![*_~.,;:!?'")]) )
    | \\ (?P<escaped> [^\n] )
    """,
    re.VERBOSE | re.DOTALL,
)
"""Plain text. The counts limit the search for an end that never comes; Pandoc's rule tells a formula's dollars from
those of a price."""
_ALWAYS_ESCAPED = frozenset("*_~`|#$<>")
_LIST_MARKER = re.compile(r"\d{1,9}[.)]|[-+]")
_WINDOWS_PATH = re.compile(r"[\"'(]*(?:[A-Za-z]:(?:\\|$)|\\\\\w)")
_OPENING = frozenset("([{（「『【《〈")
_CLOSING = frozenset(")]},;）」』】》〉，。、；：！？")
_ENDING = frozenset(")]}%°€$£¥²³")
_AROUND_UNDERSCORES = frozenset("([{<\"'“‘„«»”’*~|–—…")
_AFTER_UNDERSCORES = _AROUND_UNDERSCORES | frozenset(")]}>.,;:!?")
_EAST_ASIAN = re.compile(
    "[\u1100-\u11ff\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
)
_LAST_SPACED_SCRIPT = "\u058f"
"""The last letter of Latin, Greek, Cyrillic and Armenian, scripts in which a word ends at a space."""


def tokens(markdown: str) -> list[Token]:
    """The tokens of a text, blocks flat and in order, each `inline` with its children.

    Types: `paragraph`, `heading`, `blockquote`, `bullet_list`, `ordered_list`, `list_item`, `table`, `thead`, `tbody`,
    `tr`, `th`, `td` with `_open` and `_close`; `fence`, `hr`, `inline`. Children: `text`, `code_inline`, `softbreak`;
    `strong`, `em`, `s`, `spoiler`, `link` (an image, too) with `_open` and `_close`. `map` counts the text's lines.
    """
    return _parser().parse(markdown)


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("zero").enable(_RULES)
    # Addresses stay as written: nothing is percent-encoded or refused, because nothing here is ever clicked on.
    for name, taken in (("validateLink", bool), ("normalizeLink", str), ("normalizeLinkText", str)):
        setattr(parser, name, taken)
    after_lists = ["paragraph", "reference", "blockquote"]
    parser.block.ruler.at("list", _bounded(list_block), {"alt": after_lists})
    parser.block.ruler.at("blockquote", _bounded(blockquote), {"alt": [*after_lists, "list"]})
    parser.block.ruler.at("table", _bounded_table, {"alt": ["paragraph", "reference"]})
    # The first of the two rules for markers is reached first, and takes those of both.
    for name, rule in (("text", _literal), ("newline", _newline), ("image", _image), ("strikethrough", _delimit)):
        parser.inline.ruler.at(name, rule)
    parser.inline.ruler2.at("strikethrough", _name_pairs)
    parser.parse("")  # compiles its rules, which two threads must not do at once
    return parser


def _bounded(rule: RuleFuncBlockType) -> RuleFuncBlockType:
    """The same rule, except that what is nested too deeply, and a line of a sum, is left to the paragraph."""

    def bounded(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:  # noqa: FBT001 - its signature
        is_sum = state.src.startswith("+", state.bMarks[start_line] + state.tShift[start_line])
        return state.level < _MAX_LEVEL and not is_sum and rule(state, start_line, end_line, silent)

    return bounded


def _bounded_table(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:  # noqa: FBT001 - as above
    borders = state.src.count("|", state.bMarks[start_line], state.eMarks[start_line])
    last_line = min(end_line, start_line + 2 + _MAX_ROWS)
    return borders <= _MAX_COLUMNS + 1 and table(state, start_line, last_line, silent)


def _literal(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - markdown-it's signature
    found = _LITERAL.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    if not silent:
        bare = found["escaped"] and _is_escape(state.src, state.pos)
        state.append_pending(found["escaped"] if bare else found[0])
    state.pos = found.end()
    return True


def _is_escape(source: str, backslash: int) -> bool:
    """Whether the backslash is a marker rather than part of a path, a formula or a pattern."""
    before = source[max(backslash - 260, 0) : backslash]
    word = before.rsplit(maxsplit=1)[-1] if before and not before[-1].isspace() else ""
    if _WINDOWS_PATH.match(word):
        return False
    char, line = source[backslash + 1], before.rpartition("\n")[2].strip()
    if char == "\n":
        return not word.endswith("\\")
    return char in _ALWAYS_ESCAPED or _LIST_MARKER.fullmatch(line + char) is not None


def _newline(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - markdown-it's signature
    """A line break, hard or soft, that keeps the next line's indentation."""
    if state.src[state.pos] != "\n":
        return False
    if not silent:
        is_break = state.pending.endswith("\\") and _is_escape(state.src, state.pos - 1)
        state.pending = state.pending.removesuffix("\\" if is_break else "").rstrip(" \t")
        state.push("softbreak", "br", 0)
    state.pos += 1
    return True


def _image(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - markdown-it's signature
    """A link after an exclamation mark: a person can open it, but a message cannot show it."""
    if not state.src.startswith("![", state.pos, state.posMax):
        return False
    state.pos += 1
    is_link = link(state, silent)
    state.pos -= 0 if is_link else 1
    return is_link


def _delimit(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - markdown-it's signature
    """Markers, each a text token of which `balance_pairs` may make a style; of `~` and `|` only two are one."""
    char = state.src[state.pos]
    if silent or char not in "*_~|":
        return False
    length = state.scanDelims(state.pos, canSplitWord=True).length
    opens, closes = _flanks(state, length)
    size = len("~~") if char in _PAIRS else 1
    if size > 1 and length != size:
        state.append_pending(char * length)
    else:
        for _ in range(length // size):
            state.push("text", "", 0).content = char * size
            at = len(state.tokens) - 1
            of_three = length if size == 1 else 0  # 0 exempts from CommonMark's rule of three
            state.delimiters.append(Delimiter(ord(char), of_three, token=at, end=-1, open=opens, close=closes))
    state.pos += length
    return True


def _name_pairs(state: StateInline) -> None:
    """Names the balanced pairs; markdown-it itself knows only those of `*` and `_`."""
    for delimiters in (state.delimiters, *(meta["delimiters"] for meta in state.tokens_meta if meta)):
        for opener in delimiters:
            name = _PAIRS.get(chr(opener.marker))
            if name and opener.end >= 0:
                first, last = state.tokens[opener.token], state.tokens[delimiters[opener.end].token]
                first.type, first.content, first.nesting = f"{name}_open", "", 1
                last.type, last.content, last.nesting = f"{name}_close", "", -1


def _flanks(state: StateInline, length: int) -> tuple[bool, bool]:
    """Whether the markers here may open, and close: before a word's end only two do (`**Half**way`, not `f***ing`)."""
    start, end = state.pos, state.pos + length
    before = state.src[start - 1] if start else " "
    after, next_after = (state.src[end : min(end + 2, state.posMax)] + "  ")[:2]
    if state.src[start] == "_":  # names are full of them (`__init__.py`, `_id`): they count at certain word boundaries
        opens = not after.isspace() and (before.isspace() or before in _AROUND_UNDERSCORES)
        ends = after.isspace() or (after in _AFTER_UNDERSCORES and not next_after.isalnum() and after != "(")
        return opens, ends and not before.isspace()
    opens = not (after.isspace() or after in _CLOSING or before in _ENDING or _is_in_word(before))
    closes = not (before.isspace() or before in _OPENING)
    is_tight = after.isalnum() and (_is_in_word(before) or unicodedata.category(before).startswith("P"))
    return opens, closes and (not is_tight or length == len("**") or bool(_EAST_ASIAN.search(before + after)))


def _is_in_word(char: str) -> bool:
    return char <= _LAST_SPACED_SCRIPT and char.isalnum()
