"""Classifies hosts by their names: publisher, authority, platform. Pure functions.

The tables are short and our own. Hosts that they do not list are ordinary sites. Names do not tell who owns a site, or
whether two publishers belong to one company.
"""

from collections.abc import Sequence
from ipaddress import ip_address
from typing import Literal

from tools.search.base import lies_in

Kind = Literal["official", "fact_check", "site", "reference", "platform"]
"""An authority; a newsroom that checks claims; any other site; an encyclopaedia, which repeats what others found out; a
platform where anybody can write."""

# Second-level labels under which names are registered in some countries, as in example.co.uk.
_SHARED_LABELS = "ac asso co com edu go gob gouv gov govt gub gv info int ltd mil ne net nic nom or org plc sch web"
# Countries that reserve a label for the state. Elsewhere anybody can own such a name, such as gob.io.
_STATE_LABELS = {
    "gov": """ae al ar au az ba bd bh br by cl cn co cy cz dz eg ge gh gr hk hr hu ie il in iq ir it jo kw kz lb lk lt
        lv ma md mk mt my ng np ph pk pl pt qa ro rs ru sa sg si sk sy tn tr tt tw ua uk vn za zm zw""",
    "gob": "ar bo cl do ec es gt hn mx ni pa pe sv ve",
    "go": "cr id jp ke kr th tz ug",
    "gouv": "bj ci cd fr ht ml sn tg",
    "govt": "nz",
    "gub": "uy",
    "gv": "at",
}
_STATE_ENDINGS = "gov int mil"
_AUTHORITIES = """
europa.eu un.org imf.org worldbank.org icrc.org
bund.de bundestag.de bundesregierung.de bundeskanzler.de bundespraesident.de bundesbank.de auswaertiges-amt.de
bundesverfassungsgericht.de bka.de rki.de destatis.de dwd.de polizei.de polizei.nrw
admin.ch parlament.ch snb.ch meteoschweiz.ch oenb.at
elysee.fr senat.fr assemblee-nationale.fr service-public.fr conseil-constitutionnel.fr insee.fr meteofrance.fr
banque-france.fr boe.es congreso.es senado.es policia.es guardiacivil.es bde.es casareal.es aemet.es
police.uk parliament.uk nhs.uk royal.uk bankofengland.co.uk canada.ca gc.ca
rijksoverheid.nl overheid.nl politie.nl knmi.nl regeringen.se regjeringen.no
"""
_FACT_CHECKERS = """
snopes.com politifact.com factcheck.org fullfact.org leadstories.com checkyourfact.com science.feedback.org
factcheck.afp.com factual.afp.com factuel.afp.com faktencheck.afp.com correctiv.org mimikama.org dpa-factchecking.com
maldita.es newtral.es chequeado.com factchequeado.com africacheck.org boomlive.in altnews.in pesacheck.org
euvsdisinfo.eu hoaxbuster.com
"""
_REFERENCES = "wikipedia.org wikimedia.org wiktionary.org wikidata.org britannica.com fandom.com"
_PLATFORMS = """
x.com twitter.com facebook.com instagram.com threads.net threads.com tiktok.com youtube.com youtu.be reddit.com
linkedin.com pinterest.com quora.com medium.com substack.com tumblr.com blogspot.com wordpress.com t.me telegram.org
telegram.me vk.com bsky.app mastodon.social gab.com truthsocial.com rumble.com bitchute.com odysee.com 4chan.org
weebly.com wixsite.com livejournal.com github.io discord.com twitch.tv
"""
_BY_SITE: tuple[tuple[Kind, frozenset[str]], ...] = (
    ("fact_check", frozenset(_FACT_CHECKERS.split())),
    ("reference", frozenset(_REFERENCES.split())),
    ("platform", frozenset(_PLATFORMS.split())),
    ("official", frozenset(_AUTHORITIES.split())),
)
_SHARED = frozenset(_SHARED_LABELS.split())
_STATES = frozenset((label, country) for label, countries in _STATE_LABELS.items() for country in countries.split())
_OF_STATES = frozenset(_STATE_ENDINGS.split())
_COUNTRY_CHARS = 2


def registrable(host: str) -> str:
    """Returns the registered part of a host: `example.co.uk` for `news.example.co.uk`; an IP address is itself.

    Uses the common labels of countries, not the full list of public suffixes. Two sites under an unknown suffix count
    as one; a single site counts as two only if it has such a label as its name, like web.de.
    """
    if _is_address(host):
        return host
    labels = _labels(host)
    # Below a label for registrations in its country.
    is_shared = len(labels) > 2 and len(labels[-1]) == _COUNTRY_CHARS and labels[-2] in _SHARED  # noqa: PLR2004 - a.b.c
    return ".".join(labels[-3:] if is_shared else labels[-2:])


def publisher(host: str) -> str:
    """Returns the registered name without its ending, as one publisher can have several.

    `bbc.com` and `news.bbc.co.uk` are both `bbc`.
    """
    return host if _is_address(host) else registrable(host).partition(".")[0]


def kind(host: str, *, official_sites: Sequence[str] = ()) -> Kind:
    """Returns the kind of a host; `official_sites` are authorities besides those in the table."""
    if lies_in(host, official_sites):
        return "official"
    labels = _labels(host)
    itself_and_above = [".".join(labels[at:]) for at in range(len(labels))]
    for named, sites in _BY_SITE:
        if not sites.isdisjoint(itself_and_above):
            return named
    # By its ending, or by a label reserved for the state, as in example.gov.uk.
    return "official" if labels[-1] in _OF_STATES or tuple(labels[-2:]) in _STATES else "site"


def _labels(host: str) -> list[str]:
    return host.lower().rstrip(".").split(".")


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
