"""Requests to signal-cli-rest-api, in signalbot's models.

Left to others: sending them (`transport`), styles (`styled`), the form of a file (`bot.signal.files`).

Source: signal-cli-rest-api 0.101, swagger; signalbot 2.2.1 (2026-11-21).
"""

import base64

from signalbot._generated import SendMessageV2, TextMode
from signalbot._generated.data.message_mention import MessageMention

from bot.events import ChatId, Reply
from bot.signal.files import data_uri
from bot.signal.rest_api.styled import styled_text


def recipient_of(chat: ChatId) -> str:
    """Returns a person's UUID, or a group's id in this bridge's form: the id of the envelopes, in base64 once more."""
    return f"group.{base64.b64encode(chat.id.encode()).decode()}" if chat.is_group else chat.id


def message_of(reply: Reply, *, account: str, recipient: str) -> SendMessageV2:
    """Returns the message to send; in the account's own chat, one that makes a notification.

    An edit has no files, and must repeat the quote and everything else, or it is gone.
    The bridge does not know voice notes: one is sent as a file that can be played.
    """
    text, is_styled = styled_text(reply.content)
    quoted, files = reply.quote, [data_uri(file) for file in reply.files]
    mentions = [
        MessageMention(author=mention.person, start=mention.start, length=mention.length) for mention in reply.mentions
    ]
    return SendMessageV2(
        number=account,
        recipients=[recipient],
        message=text,
        text_mode=TextMode.STYLED if is_styled else TextMode.NORMAL,
        notify_self=recipient == account and reply.edits is None,
        base64_attachments=files or None,
        mentions=mentions or None,
        quote_timestamp=quoted.sent_at if quoted else None,
        quote_author=quoted.author if quoted else None,
        quote_message=quoted.text if quoted else None,
        edit_timestamp=None if files else reply.edits,
    )
