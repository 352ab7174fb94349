"""The settings of the tool `wikipedia`."""

from typing import Annotated

from pydantic import StringConstraints

from tools.base import FIXED, BaseUrl, Options

Language = Annotated[str, StringConstraints(pattern=r"^[a-z]{2,12}(-[a-z]{1,12}){0,3}$")]


class WikipediaOptions(Options):
    """The settings `TOOLS__WIKIPEDIA__<FIELD>`."""

    base_url: Annotated[BaseUrl, FIXED] = "https://{language}.wikipedia.org"
    """The address of Wikipedia; `{language}` is replaced by the language."""
    language: Annotated[Language, FIXED] = "en"
    """The language of the Wikipedia to read if the question names none: en, de, fr, ..."""
    timeout_seconds: Annotated[float, FIXED] = 8
    """The time limit for each request; one question takes up to three."""

    def seen_by(self) -> tuple[str, ...]:
        """See `Options`."""
        return ("Wikimedia",)
