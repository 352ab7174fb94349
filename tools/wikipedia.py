"""The tool `wikipedia`: the introduction or a section of an article in the Wikipedia of a language.

Looks an article up by its title. If there is none, returns the best search result and names the others. An ambiguous
title returns the articles that it may mean.

Source: mediawiki.org, API:Query, API:Redirects, API:Search, Extension:TextExtracts, Extension:Disambiguator, and the
User-Agent policy of foundation.wikimedia.org, 2026-11-22: a User-Agent is required (`tools.http.Http` sends it) and
should say how to reach the operator (`TOOLS__CONTACT`): 200 requests a minute with that, 10 without. At most three
requests at once; errors have status 200. The text is CC BY-SA 4.0: the article has to be named and linked.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Annotated, Any

from pydantic import AliasPath, BaseModel, Field, StringConstraints

from tools.base import Arguments, Intent, Result, ToolContext, ToolSpec
from tools.errors import BadArguments, NotFound, Unavailable
from tools.http import Http
from tools.search.base import error_code
from tools.text import clean_text, fold_name, shorten

LICENCE = "Text from Wikipedia, CC BY-SA 4.0: name and link the article."

_SERVICE = "Wikipedia"
_BASE_URL = "https://{language}.wikipedia.org"
_LANGUAGE = "en"
_TIMEOUT_SECONDS = 8.0  # for each request; one question takes up to three
_MAX_TITLE_CHARS = 200
_MAX_TEXT_CHARS = 5000
_FOUND = 5
_CANDIDATES = 40
_MAX_SECTIONS = 300

_NOT_IN_TITLES = re.compile(r"[#<>\[\]|{}_\s]+")
_HEADING = re.compile(r"^(={2,6})[ \t]*([^\n]{0,200}?[^\n=\s])[ \t]*\1[ \t]*$", re.MULTILINE)

_Title = Annotated[str, StringConstraints(min_length=1, max_length=_MAX_TITLE_CHARS)]
_Language = Annotated[str, StringConstraints(pattern=r"^[a-z]{2,12}(-[a-z]{1,12}){0,3}$")]


class WikipediaArguments(Arguments):
    """The article, and the part of it to read."""

    article: _Title = Field(description="The article's name, or a few words for its subject.")
    language: _Language | None = Field(default=None, description="Which Wikipedia: en, de, fr, ...; default: en.")
    section: _Title | None = Field(default=None, description="Of an earlier answer; default: the introduction.")


class _Page(BaseModel):
    """An article. `index` is its rank in a search; `pageprops` tells whether it only lists others."""

    title: str
    index: int = 0
    missing: bool = False
    invalid: bool = False
    extract: str = ""
    fullurl: str = ""
    pageprops: Mapping[str, Any] = {}
    links: "tuple[_Page, ...]" = ()

    @property
    def is_there(self) -> bool:
        return not (self.missing or self.invalid)


class _Answer(BaseModel):
    pages: tuple[_Page, ...] = Field(default=(), validation_alias=AliasPath("query", "pages"))
    """Missing if nothing matches."""


class Wikipedia:
    """Reads a Wikipedia article, or one of its sections."""

    def __init__(self, http: Http, *, base_url: str = _BASE_URL) -> None:
        self._base_url = base_url
        self._http = http

    spec = ToolSpec(
        name="wikipedia",
        seldom="an article of the encyclopedia",
        description=(
            "Reads a Wikipedia article: its introduction and the list of its sections, or one section in full. For"
            " established facts: people, places, history, science, works; not for news or prices. If a title has"
            " several meanings, it lists the articles: call again with one of them. Choose the language with the best"
            " article on the subject. Name and link the article when you answer."
        ),
        arguments=WikipediaArguments,
        intent=lambda given: Intent("encyclopaedia", {"article": given.article}),
    )

    async def run(self, arguments: WikipediaArguments, context: ToolContext) -> Result:
        """Returns the article, or the articles that an ambiguous title may mean."""
        del context
        title = _NOT_IN_TITLES.sub(" ", clean_text(arguments.article)).strip()
        if not title:
            raise BadArguments("The title of the article is empty.")
        language = arguments.language or _LANGUAGE
        page, others = await self._page(title, language)
        if "disambiguation" not in page.pageprops:
            return _answer(page, language, arguments.section, others)
        listed = {"prop": "links", "titles": page.title, "plnamespace": "0", "pllimit": str(_CANDIDATES)}
        links = [link for meant in await self._query(listed, language) for link in meant.links]
        meanings = [shorten(clean_text(link.title), _MAX_TITLE_CHARS) for link in links]
        message = f"{title!r} has several meanings: choose an article."
        return Result(data={"ambiguous": True, "message": message, "candidates": meanings})

    async def _page(self, title: str, language: str) -> tuple[_Page, Sequence[str]]:
        """Returns the article of that title, or else the best search result and the titles of the others."""
        wanted = {"prop": "extracts|info|pageprops", "ppprop": "disambiguation", "inprop": "url", "explaintext": "1"}
        wanted |= {"exsectionformat": "wiki"}
        pages = await self._query({**wanted, "titles": title}, language)
        if pages and pages[0].is_there:
            return pages[0], ()
        searched = {"generator": "search", "gsrsearch": title, "gsrlimit": str(_FOUND)}
        found = await self._query(searched, language)
        if not found:
            raise NotFound(f"The Wikipedia in {language!r} has no article about {title!r}.")
        first, *others = [page.title for page in sorted(found, key=lambda page: page.index)]
        pages = await self._query({**wanted, "titles": first}, language)
        if not pages or not pages[0].is_there:
            raise Unavailable("Wikipedia's search found an article that does not exist.")
        return pages[0], others

    async def _query(self, params: Mapping[str, str], language: str) -> tuple[_Page, ...]:
        url = f"{self._base_url.replace('{language}', language)}/w/api.php"
        usual = {"action": "query", "format": "json", "formatversion": "2", "redirects": "1"}
        given = {**usual, **params}
        answer = await self._http.get_json(url, service=_SERVICE, params=given, timeout_seconds=_TIMEOUT_SECONDS)
        if not answer.ok:
            raise answer.refusal(_SERVICE)
        if code := error_code(answer):
            raise Unavailable(f"Wikipedia refuses the request ({shorten(clean_text(code), 60)}).")
        return answer.parse(_Answer, _SERVICE).pages


def _answer(page: _Page, language: str, wanted: str | None, others: Sequence[str]) -> Result:
    text = clean_text(page.extract)
    headings = list(islice(_HEADING.finditer(text), _MAX_SECTIONS))
    names = [shorten(heading[2], _MAX_TITLE_CHARS) for heading in headings]
    if wanted:
        # The section of that name, or the first with it in its heading, with its subsections.
        folded = [fold_name(heading) for heading in names]
        name = fold_name(clean_text(wanted))
        near = [at for at, heading in enumerate(folded) if name in heading]
        if not near:
            error, quoted = f"The article has no section {clean_text(wanted)!r}", "; ".join(names)
            more = "; its sections are quoted below." if quoted else ", nor any other."
            # Any reader can write a heading: they are data like the article.
            raise NotFound(error + more, quoted=quoted)
        at = folded.index(name) if name in folded else near[0]
        level = len(headings[at][1])
        end = next((later.start() for later in headings[at + 1 :] if len(later[1]) <= level), len(text))
        words = text[headings[at].end() : end].strip() or "(none)"
        part = {"section": names[at], "text": shorten(words, _MAX_TEXT_CHARS)}
    else:
        words = text[: headings[0].start() if headings else len(text)].strip() or "(none)"
        part = {"introduction": shorten(words, _MAX_TEXT_CHARS), "sections": names}
    data: dict[str, Any] = {
        "title": shorten(clean_text(page.title), _MAX_TITLE_CHARS),
        "language": language,
        "url": clean_text(page.fullurl),
        **part,
        "other_matches": [shorten(clean_text(other), _MAX_TITLE_CHARS) for other in others],
        "licence": LICENCE,
    }
    return Result(data={name: item for name, item in data.items() if item})
