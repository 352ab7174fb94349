"""Sites as people and models name them: a host out of whatever they take for one."""

import re
from typing import Annotated

from pydantic import AfterValidator

_SITE = re.compile(r"(?=.{3,80}\Z)[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})+")


def _as_site(given: str) -> str:
    """A host, out of whatever is taken for one: with a scheme, `www.` or a path."""
    host = given.lower().rpartition("://")[2].partition("/")[0].removeprefix("www.").removeprefix("*.")
    if not _SITE.fullmatch(host):
        raise ValueError("must be the host of a site, such as example.org")
    return host


Site = Annotated[str, AfterValidator(_as_site)]
"""A host in lower case, without `www.`; what lies below it is meant too."""


def split_list(given: object) -> object:
    """A setting's comma list as its items, in lower case; anything else as it is."""
    if not isinstance(given, str):
        return given
    return tuple(filter(None, (item.strip().lower() for item in given.split(","))))
