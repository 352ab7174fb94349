"""Links and sessions: each link opens one, once and in time; codes are taken once; what is old is forgotten."""

from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP

from bot.web.admin.guard import LINK_SECONDS, SESSION_SECONDS, BrowserSession, PagesAddress, Sessions

SECRET = b"twenty bytes of it.."


class Watch:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def code_at(seconds: float) -> str:
    return TOTP(SECRET, 6, SHA1(), 30).generate(int(seconds)).decode()


def test_links_and_sessions_end_by_themselves() -> None:
    """A link after ten minutes or with the next one, a session after eight hours, and not a second longer."""
    watch = Watch()
    sessions = Sessions(seconds=watch)
    former, link = sessions.new_link(), sessions.new_link()
    watch.now += LINK_SECONDS - 1
    assert (sessions.enter(former), sessions.is_open(link)) == (None, True)
    entered = sessions.enter(link)
    late = sessions.new_link()
    watch.now += LINK_SECONDS
    assert sessions.enter(late) is None
    assert entered is not None
    watch.now += SESSION_SECONDS - LINK_SECONDS - 1
    assert sessions.find(entered[0]) is entered[1]
    watch.now += 1
    assert sessions.find(entered[0]) is None


def test_a_code_is_taken_once() -> None:
    """The present one and its neighbours, for clocks differ; none that is older than one that was taken."""
    watch = Watch()
    sessions = Sessions(lambda: SECRET, wall=watch)
    session = BrowserSession(name="", form_token="", began_at=0)
    for code, is_right in (
        (code_at(watch.now - 90), False),
        (code_at(watch.now - 30), True),
        (code_at(watch.now - 30), False),
        (" ".join(code_at(watch.now)), True),
        (code_at(watch.now - 30), False),
        (code_at(watch.now + 30), True),
        (code_at(watch.now + 90), False),
        ("", False),
        ("٠٠٠٠٠٠", False),
    ):
        assert sessions.confirm(session, code) == is_right, code


def test_which_origins_are_ours() -> None:
    """As browsers name them, which leave out the port of the web; the address elsewhere without its password."""
    for place, ours, other in (
        (PagesAddress(host="0.0.0.0", port=80), "http://127.0.0.1", "http://0.0.0.0"),
        (PagesAddress(host="fd00::7", port=8789), "http://[fd00::7]:8789", "http://[fd00::8]:8789"),
        (PagesAddress(host="::1", port=8, url="https://a:b@Aldis.example"), "https://aldis.example", "https://aldis"),
    ):
        assert (ours in place.origins, other in place.origins) == (True, False)
