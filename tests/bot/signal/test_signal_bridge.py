"""What both bridges have in common, where it needs no bridge."""

from bot.events import ChatId
from bot.signal.signal_bridge import GroupSessions


def test_groups_are_remembered_up_to_a_bound() -> None:
    """Anybody can add Aldis to groups: of thousands the oldest begins anew, and costs an indicator that nobody sees."""
    sessions, chats = GroupSessions(), [ChatId.group(f"group-{number}") for number in range(1001)]
    for chat in chats:
        assert sessions.may_lack(chat)
        sessions.complete(chat, None)
    assert [sessions.may_lack(chats[0]), sessions.may_lack(chats[1]), sessions.may_lack(chats[-1])] == [
        True,
        False,
        False,
    ]
