"""Pages of real kinds as they are found; a row names where another program was reported to misread one."""

import asyncio
import gzip
import json
import zlib
from dataclasses import dataclass

import pytest

from bot.media.library import Library
from tests.cells import sandbox
from tests.tools.conftest import USER_AGENT
from tests.tools.sites import HERE, Line, Names, line, only_here
from tools import Fetcher, ToolContext, ToolError
from tools.web.tool import PageArguments, WebFetch

HTML, XHTML = "text/html; charset=", "application/xhtml+xml"
TARGET = b"<p>These are the words of the target."


@dataclass(frozen=True)
class Row:
    why: str
    body: str | bytes
    contains: str = ""
    lacks: tuple[str, ...] = ()
    type: str | None = "text/html"
    packed: str = ""
    """The header Content-Encoding."""


ENCODINGS = [
    Row("latin1 (AeternaLabsHQ/pullmd#8)", "<p>Grüße aus Köln".encode("latin-1"), "Grüße", (), HTML + "latin1"),
    Row("Shift_JIS is windows-31j (agent-os#2557)", "<meta charset=Shift_JIS><p>①東－".encode("cp932"), "①東－"),
    Row("x-sjis", "<meta charset=x-sjis><p>日本の天気".encode("cp932"), "日本の天気"),
    Row("tis-620 (tox-dev/turbohtml#424)", "<meta charset='tis-620'><p>ภาษาไทย".encode("cp874"), "ภาษาไทย"),
    Row("latin5 is Turkish (same)", "<meta charset=latin5><p>İstanbul ağ".encode("cp1254"), "İstanbul ağ"),
    Row("ks_c_5601 is windows-949 (same)", "<meta charset=ks_c_5601-1987><p>똠방각하".encode("cp949"), "똠방각하"),
    Row("GBK is gb18030", "<p>家居€㐀".encode("gb18030"), "家居€㐀", (), HTML + "GBK"),
    Row("EUC-JP with NEC's signs", "<meta charset=euc-jp><p>①㈱東京".encode("euc_jis_2004"), "①㈱東京"),
    Row("no type (lexmount/moli#156)", '<meta http-equiv=Content-Type content="charset=gbk">家'.encode("gbk"), "家"),
    Row("in a title (joshdick/miniProxy#60)", "<title><meta charset=cp1251></title><p>Т".encode("cp1251"), "Т"),
    Row("utf-16 in a meta", b'<meta http-equiv=Content-Type content="a; charset=utf-16"><p>Open 9 to 17', "9 to 17"),
    Row("a comment names one", "<!-- <meta charset=koi8-r> --><meta charset=utf-8><p>Zürich".encode(), "Zürich"),
    Row("XML names one", '<?xml version="1.0" encoding="iso-8859-1"?><p>Köln</p>'.encode("latin-1"), "Köln", (), XHTML),
    Row("a feed names one", '<?xml version="1.0" encoding="cp1251"?><a>Ту</a>'.encode("cp1251"), "Ту", (), "text/xml"),
    Row("none is named (AeternaLabsHQ/pullmd#8)", "<p>Öffnungszeiten".encode("cp1252"), "Öffnungszeiten"),
    Row("none is named, one byte is broken", "<p>Zürich, Genève, Łódź ".encode() + b"\xff", "Zürich, Genève, Łódź"),
    Row("a header knows", "<meta charset=koi8-r><p>Zürich 5 €".encode("cp1252"), "Zürich 5 €", (), HTML + "latin1"),
    Row("a mark knows better", "\ufeff<p>Zürich – 5 €".encode(), "Zürich – 5 €", ("\ufeff",), HTML + "cp1252"),
    Row("UTF-16 in the header", "<p>Zürich – 5 €".encode("utf-16-le"), "Zürich – 5 €", (), HTML + "utf-16le"),
    Row("a name of nothing", "<meta charset=utf-8><p>Zürich".encode(), "Zürich", (), HTML + "nonsense"),
    Row("a codec that is no encoding", "<p>Zürich \\x41".encode(), "Zürich \\\\x41", (), HTML + "unicode_escape"),
]
MARKUP = [
    Row("raised (adbar/trafilatura#889)", "<p>10<sup>5</sup> litres; 2<sup>10</sup>", "10^5 litres; 2^10"),
    Row("raised (tc39/ecmarkup#516)", "<p>10<sup>f</sup> 10<sup>-3</sup> x<sup>n+1</sup>", "10^f 10^-3 x^(n+1)"),
    Row("an ordinal (nlpie/biomedicus2#47)", "<p>the 1<sup>st</sup> of 2<sup>74,207</sup>", "the 1st of 2^74,207"),
    Row("lowered", "<p>H<sub>2</sub>O, 101<sub>2</sub>, x<sub>max</sub>", "H₂O, 101₂, x_max"),
    Row("a fraction", "<p>1<sup>1</sup>/<sub>2</sub> cups, <sup>3</sup>\u2044<sub>4</sub> l", "1 1/2 cups, 3/4 l"),
    Row("struck out", "<p>Price: <del>100</del> 80; <s>19:00</s> 20:00", "Price: ~~100~~ 80; ~~19:00~~ 20:00"),
    Row("struck out, over tags", "<p><del><b>We</b> open</del> We are closed", "~~We open~~ We are closed"),
    Row("struck out, a space", "<p><s> 100 </s>80", "~~100~~ 80"),
    Row("steps", "<ol><li>Unplug it.<li>Wait.<li>Go to step 2.</ol>", "1. Unplug it.\\n2. Wait.\\n3. Go"),
    Row("steps go on (JohannesKaufmann/html-to-markdown#84)", "<ol start=3><li>a</ol>x<ol start=4><li>b</ol>", "4. b"),
    Row("steps with numbers of their own", "<ol><li value=7>a<li>b<ul><li>c</ul></ol>", "8. b\\n\\n- c"),
    Row("lines without a visible sign", "<p>a<p>\u200b<p>\u200b<p>b\u200b <br>c", "a\\n\\nb\\nc"),
    Row("a formula (Stardown-app/Stardown#142)", "<p>So <math><mi>x</mi><mo>=</mo><mn>42</mn></math> m", "So x=42 m"),
    Row("a fraction of a sum", "<math><mfrac><mrow><mi>a</mi><mo>+</mo><mn>1</mn></mrow><mn>2</mn></mfrac>", "(a+1)/2"),
    Row(
        "a formula with its source",
        "<math><semantics><mi>x</mi><annotation encoding='application/x-tex'>\\sum_i x</annotation></semantics></math>",
        "sum_i x",
        ("xx", "x \\"),
    ),
    Row("a formula's three parts", "<math><msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup></math>", "x_1^2"),
    Row("a root", "<math><mroot><mi>x</mi><mn>3</mn></mroot></math>", "x^(1/3)"),
    Row("a picture of a formula", "<p>So <img class=tex alt='a^2 < 1'>, <img alt=Cat>.", "So a^2 < 1 , .", ("Cat",)),
    Row("struck out by its style", "<p><b style='text-decoration: line-through'>100</b> 80", "~~100~~ 80"),
    Row("hidden by style", "<p>Open<b style='Display : none'>No <i hidden>x</i></b>.<p hidden>No", "Open.", ("No",)),
]
SENT_ON = [
    Row("refresh (Sphinx, rustdoc)", '<meta http-equiv="refresh" content="0; url=/target">', "words of the target"),
    Row("refresh without a space", "<META HTTP-EQUIV=Refresh CONTENT='0;URL=target'>", "words of the target"),
    Row(
        "refresh without scripts (sparklemotion/mechanize#294)",
        '<noscript><meta http-equiv="refresh" content="0;URL=/target"></noscript><script></script>',
        "words of the target",
    ),
    Row("refresh to where nothing is", '<meta http-equiv="refresh" content="5; url=/none"><p>Moved.', "/none"),
    Row("refresh of itself", '<meta http-equiv="refresh" content="60; url=/target"><p>Score: 1:0', "1:0", ("target",)),
    Row("refresh in a circle", '<meta http-equiv="refresh" content="0; url=/">', "no text"),
    Row("frames", '<title>Shop</title><frameset><frame src="/nav"><frame src="/target"></frameset>', "/target"),
    Row("a named frame", '<frameset><frame name=main src="/target"></frameset>', "[frame: main]"),
    Row("a frame in the page", '<p>See <iframe src="/target" title="Hours"></iframe>', "[frame: Hours]"),
    Row("no scripts (modelcontextprotocol/servers#3894)", "<noscript><p>For 42.</noscript><script></script>", "42"),
    Row("a page for scripts alone", "<noscript>Please enable JavaScript.</noscript><script></script>", "does not run"),
    Row("a page that loads", "<div id=app>Loading…</div><script src=app.js></script>", "does not run"),
    Row("a short page with a script", "<p>Closed today.<script>x()</script>", "Closed today.", ("JavaScript", "note")),
    Row("a long page with a script", f"<script></script><p>{'words ' * 100}", "words", ("note",)),
    Row("a login", "<h1>Sign in</h1><form><input type=password></form><script></script>", "asks for a login"),
    Row("an element of the page's own", "<my-app><p>Welcome</my-app>", "Welcome", ("my-app",)),
]
PLAIN = "<p>Plain words."
HEADERS = [
    Row("an encoding that packs nothing (donsetch#290)", PLAIN, "Plain words.", packed="utf-8"),
    Row("an encoding of none (apify/crawlee#976)", PLAIN, "Plain words.", packed="none"),
    Row("nothing and gzip", gzip.compress(PLAIN.encode()), "Plain words.", packed="UTF-8, gzip"),
    Row("deflate unasked (kdzwinel/betwixt#54)", zlib.compress(PLAIN.encode()), "Plain words.", packed="deflate"),
    Row("brotli unasked", "<p>x", "not asked for", packed="br"),
    Row("gzip twice", gzip.compress(b"x"), "not asked for", packed="gzip, gzip"),
    Row("no type", "<!doctype html><title>Home</title><p>Welcome home.", "Welcome home.", ("<p>",), None),
    Row("no type, no page", "Welcome <home>.", "Welcome <home>.", (), None),
    Row("no type, no text", b"\x89PNG\r\n\x1a\n\0\0", "neither a PDF nor a page", (), None),
    Row("bytes that are a text (zellwk/zl-fetch#4)", "key: value", "key: value", (), "application/octet-stream"),
    Row("bytes that are a page", "<html><p>Welcome.", "Welcome.", ("<p>",), "application/octet-stream"),
    Row("a feed", "<rss><item><title>Lit</title></item></rss>", "Lit", (), "application/rss+xml"),
    Row("an API's JSON", '{"a": 1}', "a", (), "application/vnd.api+json"),
    Row("YAML (spinnaker/deck#7789)", "key: value", "key: value", (), "application/x-yaml"),
    Row("a picture", b"%PDF-", "Unsupported content type", (), "image/png"),
    Row("a PDF that is none", "<p>x", "neither a PDF nor a page", (), "application/pdf"),
]


async def read(row: Row, context: ToolContext) -> str:
    async def talk(writer: asyncio.StreamWriter) -> None:
        path = heard.heard[-1].split()[1]
        is_page = path == "/"
        body = (row.body.encode() if isinstance(row.body, str) else row.body) if is_page else TARGET
        head = "HTTP/1.1 404 None" if path == "/none" else "HTTP/1.1 200 OK"
        named = row.type if is_page else "text/html"
        headers = {} if named is None else {"Content-Type": named}
        headers |= {"Content-Encoding": row.packed} if is_page and row.packed else {}
        lines = [head, f"Content-Length: {len(body)}", *(f"{name}: {value}" for name, value in headers.items())]
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        await writer.drain()

    heard: Line
    async with line(talk) as heard:
        names = Names({"site.example": [[HERE]]})
        async with Fetcher(USER_AGENT, **only_here(heard.port), resolve=names) as fetcher:
            tool = WebFetch(fetcher, Library(sandbox()))
            try:
                result = await tool.run(PageArguments(url=f"http://site.example:{heard.port}/"), context)
            except ToolError as error:
                return str(error)
    return json.dumps(dict(result.data), ensure_ascii=False)


@pytest.mark.parametrize("rows", [ENCODINGS, MARKUP, SENT_ON, HEADERS], ids=["encoding", "markup", "moved", "header"])
async def test_pages_are_read_as_they_are_found(rows: list[Row], context: ToolContext) -> None:
    """By the web's standard, not Python's; with markup that changes a meaning; and where browsers are sent on."""
    for row in rows:
        found = await read(row, context)
        assert row.contains in found, row.why
        assert not [each for each in row.lacks if each in found], row.why
