"""The history invariant, which holds for every conversation."""

from collections.abc import Sequence

from bot.messages import AssistantMessage, Message, Text, ToolMessage, UserMessage


def is_sendable(messages: Sequence[Message]) -> bool:
    """Whether any provider accepts the messages: the history invariant.

    Starts with a user message; every assistant message with calls is followed by a tool message that answers exactly
    those calls in the order asked; nothing is empty, no text part and no answer either; no call id stands twice.
    """
    calls = [call.id for message in messages if isinstance(message, AssistantMessage) for call in message.calls]
    if not messages or messages[0].role != "user" or len(set(calls)) != len(calls):
        return False
    followed_by = [*messages[1:], None]
    return all(map(_may_stand, [None, *messages[:-1]], messages, followed_by))


def _may_stand(before: Message | None, message: Message, after: Message | None) -> bool:
    if isinstance(message, UserMessage):
        return bool(message.text.strip())
    if isinstance(message, ToolMessage):
        asked = [call.id for call in before.calls] if isinstance(before, AssistantMessage) else []
        answered = [answer.call_id for answer in message.answers if answer.content.strip()]
        return bool(asked) and answered == asked
    if any(isinstance(part, Text) and not part.text.strip() for part in message.parts):
        return False
    return isinstance(after, ToolMessage) if message.calls else bool(message.text)
