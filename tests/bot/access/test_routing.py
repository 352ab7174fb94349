"""What becomes of an event: a question is answered where Aldis was asked, everything else is let pass with a reason."""

from dataclasses import replace

from bot.access.routing import Command, Correction, Ignore, Question, Reaction, Talk, Verdict, route
from bot.events import (
    Attachment,
    ChatId,
    Deleted,
    Edited,
    Incoming,
    NamedPerson,
    PersonId,
    Quote,
    Reacted,
    Receipt,
    SentId,
    Undecryptable,
)

ANNA, BEN = PersonId("anna"), PersonId("ben")
DIRECT, GROUP = ChatId("direct:anna"), ChatId("group:Z3JvdXA=")
SENT = SentId(1)
DIRECTLY = Incoming(author=ANNA, name="Anna", chat=DIRECT, sent_at=SENT, text="hello")
IN_GROUP = replace(DIRECTLY, chat=GROUP)
PICTURE = Attachment(id="1", content_type="image/png", name=None, size_bytes=1)


def reacted(emoji: str, *, removed: bool = False, by: PersonId | None = None) -> Reacted:
    return Reacted(
        author=ANNA, chat=DIRECT, emoji=emoji, target_author=by, target=SENT, removed=removed, is_on_mine=True
    )


def asked(message: Incoming, name: str = "Aldis") -> bool:
    """Whether the message is a question; if so, it is handed on as it is."""
    found = route(message, name=name)
    assert isinstance(found, Ignore | Talk) or (isinstance(found, Question) and found.message == message)
    return isinstance(found, Question)


def test_what_is_no_question_is_ignored_for_a_reason() -> None:
    """The reason is a word for the log, not a writer's text."""
    for event, reason in (
        (None, "unreadable"),
        (reacted("❤️"), "reacted"),
        (reacted("👍", removed=True), "reacted"),
        (Receipt(author=ANNA, targets=(SENT,)), "receipt"),
        (Undecryptable(reason="InvalidMessage"), "undecryptable"),
        (replace(DIRECTLY, text=" \n"), "empty"),
    ):
        assert route(event, name="Aldis") == Ignore(reason=reason)


def test_nothing_but_the_name_is_about_what_was_said_last() -> None:
    """In a group; directly it is a message like any other, and so is the name with a picture."""
    for text in ("", " ", "Aldis", "@aldis", "¿Aldis?", "Aldis, Aldis!"):
        called = replace(IN_GROUP, text=text, mentions_me=not text.strip())
        assert route(called, name="Aldis") == Question(message=called, is_bare=True)
        assert route(replace(called, text=f"{text} x"), name="Aldis") != Question(message=called, is_bare=True)
        pictured = replace(called, text="Aldis", attachments=(PICTURE,))
        assert route(pictured, name="Aldis") == Question(message=pictured)
        direct = replace(DIRECTLY, text="Aldis")
        assert route(direct, name="Aldis") == Question(message=direct)


def test_what_is_said_among_others_is_talk() -> None:
    """Nobody asked Aldis; unless the group wants every message to be answered."""
    for message in (IN_GROUP, replace(IN_GROUP, attachments=(PICTURE,))):
        assert route(message, name="Aldis") == Talk(message=message)
        assert route(message, name="Aldis", answers_always=True) == Question(message=message)
        edit = Edited(target=SENT, message=message)
        found = route(edit, name="Aldis", answers_always=True)
        assert found == Correction(edit=edit, as_message=Question(message=message))
        assert isinstance(found, Correction)
        assert found.is_addressed


def test_a_cross_wants_an_answer_to_be_stopped() -> None:
    """Whose message it is on is told; one that was taken off again, and another sign, mean nothing."""
    for sign in ("❌", "✖️", "✖", "🛑", "⛔"):
        crossed = reacted(sign, by=ANNA)
        assert route(crossed, name="Aldis") == Reaction(reacted=crossed, wish="cancel")
        assert route(replace(crossed, removed=True), name="Aldis") == Ignore(reason="reacted")
        assert route(replace(crossed, emoji="🎉"), name="Aldis") == Ignore(reason="reacted")


def test_what_is_taken_back_or_changed_has_its_own_ways() -> None:
    """Whether an edit is addressed, and what it would be, is decided as for a message."""
    deletion = Deleted(author=ANNA, chat=DIRECT, target=SENT)
    assert route(deletion, name="Aldis") == deletion
    for message, is_addressed in (
        (DIRECTLY, True),
        (IN_GROUP, False),
        (replace(IN_GROUP, mentions_me=True), True),
        (replace(DIRECTLY, text="yes"), True),
        (replace(IN_GROUP, text="yes"), False),
        (replace(IN_GROUP, text="Aldis, no", mentions_me=True), True),
        (replace(DIRECTLY, text="/status"), False),
        (replace(DIRECTLY, text="“/status”"), True),
        (replace(IN_GROUP, text="/status"), False),
        (replace(DIRECTLY, text=""), False),
    ):
        edit = Edited(target=SENT, message=message)
        found = route(edit, name="Aldis")
        assert found == Correction(edit=edit, as_message=route(message, name="Aldis"))  # pyright: ignore[reportArgumentType]
        assert isinstance(found, Correction)
        assert found.is_addressed is is_addressed


def test_a_slash_and_a_word_is_a_command() -> None:
    """Directly it is surely for Aldis; in a group it may be another bot's unless Aldis is addressed."""
    for text, name, rest in (
        ("/help", "help", ""),
        ("/Gedächtnis", "gedächtnis", ""),
        ("/forget everything", "forget", "everything"),
        ("/remind  at 8\ncall home ", "remind", "at 8\ncall home"),
        ("Aldis, /stop", "stop", ""),
        ("/Help.", "help", ""),
        ("/stop!", "stop", ""),
        ("/remind: in 5 min tea", "remind", "in 5 min tea"),
        ("/remind\u200b in 5 min tea", "remind", "in 5 min tea"),
        ("@Aldis /help", "help", ""),
    ):
        directly = replace(DIRECTLY, text=text)
        assert route(directly, name="Aldis") == Command(message=directly, name=name, rest=rest, is_addressed=True)
        in_group = replace(IN_GROUP, text=text)
        found = route(in_group, name="Aldis")
        assert found == Command(message=in_group, name=name, rest=rest, is_addressed="aldis" in text.lower())


def test_a_name_that_others_chose_gives_no_command_and_calls_nobody() -> None:
    """The name of a mention is its owner's choice; only what the author wrote counts."""
    for name, text in (
        ("Aldis /forget everything", "@Aldis /forget everything /weather Oslo"),
        ("Aldis /broadcast Buy", "@Aldis /broadcast Buy"),
        ("Aldis", "@Aldis, can you bring milk?"),
        ("Aldis", "@Aldis"),
        ("Bob, Aldis", "Thank you, @Bob, Aldis"),
    ):
        message = replace(IN_GROUP, text=text, mentioned=(NamedPerson(name=name, person=BEN),))
        assert isinstance(route(message, name="Aldis"), Talk | Ignore)
        assert isinstance(route(replace(message, mentioned=()), name="Aldis"), Command | Question)


def test_a_thumb_is_a_verdict() -> None:
    """In every colour; whether anybody asked is not known here."""
    for sign, is_yes in (("👍", True), ("👍🏿", True), ("👎", False), ("👎🏻", False)):
        thumb = reacted(sign)
        assert route(thumb, name="Aldis") == Verdict(author=ANNA, target=SENT, is_yes=is_yes, instead=None)
        assert route(replace(thumb, is_on_mine=False), name="Aldis") == Ignore(reason="reacted")


YES = (
    "Yes!|yes please|ok, do it|Okay.|sure, go ahead|of course|👍|👍🏽|👍👍|👍\ufe0f|ok👍"
    "|ja|Ja klar!|ja, bitte mach das|passt|oui|Oui, vas-y.|d’accord|bien sûr"
    "|sí|Sí, por favor|vale, hazlo|claro que si|por supuesto"
)
NO = "no.|No, thanks|don't|please don’t do it|👎|better not|Nein|nein danke|lieber nicht|Non merci|no, gracias|mejor no"
NEITHER = (
    "yes but why?|yes?|ok no|no problem, do it|ja nein|not yes|of course not|please|danke|👍👎|😀|do it"
    "|ok what is the time|yes please do it right good fine alright|okay google|no idea|I said yes|"
)


def test_a_word_that_means_yes_or_no_is_a_verdict() -> None:
    """In our languages, alone or politely; what it is where nobody has asked comes with it."""
    for word, is_yes in (*((word, True) for word in YES.split("|")), *((word, False) for word in NO.split("|"))):
        quote = Quote(sent_at=SENT, author=None, text="May I?")
        for place in (DIRECTLY, IN_GROUP):
            message = replace(place, text=word, quote=quote, quotes_me=True)
            instead = Question(message=message)
            assert route(message, name="Aldis") == Verdict(author=ANNA, target=SENT, is_yes=is_yes, instead=instead)
            plain = replace(place, text=word)
            instead = Question(message=plain) if place is DIRECTLY else Talk(message=plain)
            assert route(plain, name="Aldis") == Verdict(author=ANNA, target=None, is_yes=is_yes, instead=instead)
            assert not isinstance(route(replace(message, quotes_me=False), name="Aldis"), Verdict)


def test_what_means_more_than_yes_or_no_is_none() -> None:
    """Nothing is done for words that may mean something else."""
    for words in (*NEITHER.split("|"), "ja " * 31 + "aber tu es nicht", "👍" * 30 + " not"):
        assert not isinstance(route(replace(DIRECTLY, text=words), name="Aldis"), Verdict)


SLASHES = (
    *("/", "/ help", "//help", "/etc/hosts", "/5", "help /help", "/h/é", "and/or"),
    *("./configure", "~/Documents are gone", "*/help", "**/foo.py", "*/5 * * * *", "(/help)"),
)


def test_what_speaks_to_aldis_is_a_question() -> None:
    """In a direct chat everything with some content (a path, a pattern, too), in a group what names Aldis."""
    for message in (
        DIRECTLY,
        *(replace(DIRECTLY, text=text) for text in SLASHES),
        replace(DIRECTLY, text="", attachments=(PICTURE,)),
        replace(DIRECTLY, text="", sticker=True),
        replace(DIRECTLY, text="", view_once=True),
        replace(IN_GROUP, mentions_me=True),
        replace(IN_GROUP, quotes_me=True),
        replace(IN_GROUP, text="", attachments=(PICTURE,), mentions_me=True),
        replace(IN_GROUP, text="", sticker=True, quotes_me=True),
    ):
        assert asked(message)


CALLS = (
    "Aldis, what time is it?|aldis what time|ALDIS!|@Aldis how are you|Hey Aldis, ...|hi, Aldis|  \n Aldis?|¿Aldis?"
    "|Hello @aldis: help|What time is it, Aldis?|what time is it ,  @aldis!!|one line\nand another, Aldis"
)
NO_CALLS = (
    "I like Aldis|Ask Aldis|Aldiss, come here|Valdis, come here|Heyaldis|hey ho Aldis|you know Aldis, don't you?"
    "|Aldo|see, Aldis was right"
)


def test_the_name_calls_aldis_in_a_group() -> None:
    """First, after a greeting or not, or last after a comma; not in the middle. Signs in a name mean themselves."""
    assert [text for text in CALLS.split("|") if not asked(replace(IN_GROUP, text=text))] == []
    assert [text for text in NO_CALLS.split("|") if asked(replace(IN_GROUP, text=text))] == []
    for name in ("R2-D2", "Mr. Lamp", "C++", "Ωmega", "a|b", "x("):
        assert asked(replace(IN_GROUP, text=f"{name}, hello"), name)
        assert not any(asked(replace(IN_GROUP, text=text), name) for text in ("hello", "a, hello"))
