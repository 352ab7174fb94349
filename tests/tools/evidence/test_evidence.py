"""What speaks for a claim and what against it: the tables by which words, publishers, days and reports are judged."""

import itertools
from typing import Any

from tools.evidence.sources import (
    Evidence,
    EvidenceSource,
    Stance,
    VerifyNewsOptions,
    is_about,
    kind,
    publisher,
    reports,
    sources,
)
from tools.evidence.tool import plan
from tools.search.base import Hit

BRIDGE = ("A bridge in Larkhaven collapsed and 43 people died",)


def page(site: str, title: str, snippet: str = "", age: str | None = None) -> Hit:
    return Hit(title=title, url=f"https://{site}/{abs(hash(title))}", site=site, snippet=snippet, age=age)


KINDS = {
    "lamps.example": "site",
    "weather.gov": "official",
    "interieur.gouv.fr": "official",
    "who.int": "official",
    "polizei.de": "official",
    "town.example": "official",
    "interior.gob.io": "site",
    "gov.evil.example": "site",
    "weather.gov.evil.com": "site",
    "en.wikipedia.org": "reference",
    "factcheck.afp.com": "fact_check",
    "dpa-factchecking.com": "fact_check",
    "anybody.substack.com": "platform",
}


def test_a_host_is_told_by_its_name_alone() -> None:
    """By its ending or its entry, never by a part that anyone can register; a publisher by the registered name."""
    assert {host: kind(host, official_sites=("town.example",)) for host in KINDS} == KINDS
    for host, who in (("A.Lamps.Example.", "lamps"), ("news.lamps.co.uk", "lamps"), ("localhost", "localhost")):
        assert publisher(host) == who


def test_a_page_is_about_the_claim_by_its_words() -> None:
    """Whatever it says of it: that is not for words to tell. Separators of thousands do not matter."""
    for title, snippet, is_it in (
        ("Larkhaven bridge collapse: 43 people dead", "The bridge fell into the river.", True),
        ("Larkhaven bridge collapse is a hoax", "It was said that 43 people died.", True),
        ("Larkhaven bridge reopens to bus lines", "The people are glad.", False),
        ("A bridge elsewhere", "The people of the town.", False),
    ):
        assert is_about(BRIDGE, title, snippet) is is_it
    for claim, title in (
        ("The price rose to 1,250.5 euros", "Price rose to 1.250,5 euros"),
        ("The price rose to 1250 euros", "Price of euros rose to 1 250"),
        ("Lamps, towers, bells, flags and horns", "Lamps, towers and bells"),
    ):
        assert is_about([claim], title, "")


LONG = "The bridge across the river fell in the night and forty cars were on it when the middle part gave way"
PLAIN = VerifyNewsOptions()
numbers = itertools.count()


def test_pages_that_tell_one_report_are_one_witness() -> None:
    """Of one publisher, of one text; and what belongs to one of them belongs to it too."""
    fell = "The bridge of Larkhaven fell"
    for hits, numbers in (
        ([page("a.example", "One"), page("b.example", "Two"), page("m.a.example", "Three")], (1, 2, 1)),
        ([page("a.example", "One", LONG), page("b.example", "Two", f"{LONG}, they say")], (1, 1)),
        ([page("a.example", f"{fell} | A"), page("b.example", fell)], (1, 1)),
        ([page("a.example", "Bridge fell"), page("b.example", "Bridge fell")], (1, 2)),
        ([page("a.example", "One", LONG), page("b.example", "Two", LONG), page("b.example", "Three")], (1, 1, 1)),
    ):
        assert reports(hits) == numbers


def told_by(kind: Any, stance: Stance) -> EvidenceSource:
    report, hit = next(numbers), page("paper.example", "Larkhaven bridge collapse: 43 people dead in the night")
    return EvidenceSource(hit=hit, kind=kind, stance=stance, tone="neutral", report=report, is_preferred=False)


def test_the_confidence_is_the_formula() -> None:
    """As the head of the module says it."""
    for agreeing, more, needed, is_incomplete, sure in (
        (1, [], 3, False, 0.23),
        (9, [], 3, False, 0.7),
        (1, [], 1, False, 0.7),
        (2, [told_by("official", "agrees")], 3, False, 1.0),
        (2, [told_by("official", "agrees")], 3, True, 0.5),
        (3, [told_by("site", "contradicts")], 3, False, 0.54),
        (3, [told_by("fact_check", "contradicts")], 3, False, 0.33),
        (3, [told_by("official", "contradicts") for _ in range(3)], 3, False, 0.0),
    ):
        found = [told_by("site", "agrees") for _ in range(agreeing)] + more
        assert Evidence(found).confidence(needed=needed, is_incomplete=is_incomplete) == sure


def test_the_next_rounds_ask_for_what_is_missing() -> None:
    """Denials, an official word, preferred sites, other words; each once, then nothing is left."""
    wordings, rules = (*BRIDGE, "Brücke eingestürzt"), VerifyNewsOptions(preferred_sites=("a.example",))
    tried = dict(plan(wordings, None, PLAIN, sources([], PLAIN, {}), {}))
    aims: list[list[str]] = []
    while more := plan(wordings, None, rules, sources([], rules, {}), tried):
        aims.append([*more.values()])
        tried |= more
    assert aims == [["denials", "official word", "preferred sites"], ["other words"]]
    queries = [*tried]
    assert [query.text for query in queries[2:]] == [
        "bridge Larkhaven collapsed 43 people died fact check false",
        "bridge Larkhaven collapsed 43 people died official statement confirmed",
        "bridge Larkhaven collapsed 43 people died",
        "Brücke eingestürzt",
    ]
    assert queries[4].sites == ("a.example",)
