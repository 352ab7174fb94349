"""What people see of a turn that is under way."""

from bot.chat.status import StatusMessage
from bot.signal.protocol import ToolEnded, ToolStarted


def test_the_tool_that_began_last_is_shown() -> None:
    """By the name that people call it; when all have ended, or a model has made one up, it is thinking."""
    showing = StatusMessage()
    assert showing.content().text == "Thinking …"
    showing.watch(ToolStarted(name="get_weather", arguments="{}"))
    assert showing.content().text == "Weather …"
    showing.watch(ToolStarted(name="something_new", arguments="{}"))
    assert showing.content().text == "Thinking …"
    for name, text in (("something_new", "Weather …"), ("get_weather", "Thinking …")):
        showing.watch(ToolEnded(name=name, content="{}", ok=True, latency_seconds=0))
        assert showing.content().text == text
