"""What keeps Aldis from its bridge: English where it is logged, and in the language of whoever reads it on a page."""

import errno
import socket
import ssl

import pytest

from bot.errors import ConfigError, Disconnected
from bot.i18n.language import use_language
from bot.i18n.statements import english, text_of
from bot.transports.detect import bridge_at
from bot.transports.refusals import BridgeRefused, BridgeSilent, in_words, words_of, words_of_unreachable
from tests.ports import free_port
from tests.servers.base import Server
from tools import why_unreachable


@pytest.mark.parametrize(
    "cause",
    [
        socket.gaierror(socket.EAI_NONAME, "unknown"),
        ssl.SSLCertVerificationError(1, "self-signed"),
        ssl.SSLError(1, "WRONG_VERSION_NUMBER"),
        TimeoutError(),
        ConnectionRefusedError(errno.ECONNREFUSED, "refused"),
        PermissionError(errno.EACCES, "denied"),
        FileNotFoundError(errno.ENOENT, "none"),
        OSError(errno.EHOSTUNREACH, "no route"),
    ],
)
def test_why_nothing_can_be_reached_is_said_in_every_language(cause: BaseException) -> None:
    """Each reason that the tools know; models and the log get it in English."""
    words = words_of_unreachable(cause)
    assert english(words) == why_unreachable(cause)
    said = {english(words)}
    for language in ("de", "fr", "es"):
        with use_language(language):
            said.add(text_of(words))
    assert len(said) == 4


def test_what_is_not_known_stays_as_it_is() -> None:
    """It is a name, or somebody else's words."""
    assert in_words("ProtocolError") == "ProtocolError"
    assert words_of(Disconnected("signal-cli says no")) == "signal-cli says no"


async def test_a_bridge_that_is_not_there_is_told_in_the_language_of_the_page() -> None:
    """Also while another is spoken where it is looked for: the error itself is for the log."""
    with use_language("fr"), pytest.raises(BridgeSilent) as caught:
        await bridge_at(f"http://127.0.0.1:{free_port()}")
    assert str(caught.value) == "nothing answers at SIGNAL__URL yet (nothing listens there): is the bridge running?"
    with use_language("de"):
        told = text_of(words_of(caught.value))
    assert told == "unter SIGNAL__URL antwortet noch nichts (dort hört niemand zu): läuft die Brücke?"


@pytest.mark.parametrize("url", ["ftp://nonsense", "here"])
async def test_something_else_at_the_address_is_told_in_the_language_of_the_page(url: str) -> None:
    """An address that is none, and a server that is no bridge."""
    async with Server() as server:
        with pytest.raises(BridgeRefused) as caught:
            await bridge_at(server.url if url == "here" else url)
    assert isinstance(caught.value, ConfigError)
    with use_language("es"):
        told = text_of(words_of(caught.value))
    assert told.startswith("SIGNAL__URL")
    assert told != str(caught.value)
