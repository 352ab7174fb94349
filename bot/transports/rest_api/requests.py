"""What is asked of signal-cli-rest-api, in signalbot's models of its requests.

Left to others: sending them (`transport`), styles (`styled`), how a file is written (`bot.transports.envelope.files`).

Source: signal-cli-rest-api 0.101, swagger; signalbot 2.2.1 (2026-11-21).
"""

import base64

from signalbot._generated import SendMessageV2, TextMode
from signalbot._generated.data.message_mention import MessageMention

from bot.events import ChatId, Reply
from bot.transports.envelope.files import data_uri
from bot.transports.rest_api.styled import styled_text


def recipient_of(chat: ChatId) -> str:
    """A person's uuid, or a group's id as this bridge has it: the id of the envelopes, once more in base64."""
    return f"group.{base64.b64encode(chat.id.encode()).decode()}" if chat.is_group else chat.id


def message_of(reply: Reply, *, account: str, recipient: str) -> SendMessageV2:
    """An edit is a message like any other, quote included: what it does not repeat is gone; a file is in no edit.

    The bridge has no word for voice notes: one goes out as a file that can be listened to.
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
        notify_self=False,
        base64_attachments=files or None,
        mentions=mentions or None,
        quote_timestamp=quoted.sent_at if quoted else None,
        quote_author=quoted.author if quoted else None,
        quote_message=quoted.text if quoted else None,
        edit_timestamp=None if files else reply.edits,
    )
