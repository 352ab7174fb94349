"""Messages: they come back from their JSON as they went in, and only what every provider takes counts as sendable."""

import gc
import re
import weakref
from dataclasses import replace

from bot.labels import Labels, Writer
from bot.messages import (
    AssistantMessage,
    CallId,
    Document,
    IdentityCache,
    Opaque,
    Page,
    Picture,
    Text,
    ToolAnswer,
    ToolCall,
    ToolMessage,
    UserMessage,
    dump_messages,
    load_messages,
)


def test_the_stored_form_is_what_it_is() -> None:
    """What an older Aldis wrote is read by this one: the form changes only together with its version."""
    conversation = (
        UserMessage(text="17*23? é", labels=Labels(people=(Writer(id="a", name="Alice"),))),
        AssistantMessage(
            parts=(
                Opaque(vendor="anthropic", data={"type": "thinking", "signature": "s"}),
                Text(text="Let me see."),
                ToolCall(id=CallId("c1"), name="calculate", arguments={"x": [1.5, None, {"é": True}, 2**70]}),
                ToolCall(id=CallId("c2"), name="calculate", arguments={}, malformed="{😀"),
            ),
            pages=(Page(number=101, url="https://lamps.example/"),),
        ),
        ToolMessage(answers=(ToolAnswer(call_id=CallId("c1"), name="calculate", content='{"ok": true}', ok=True),)),
    )
    stored = (
        '1:[{"text":"17*23? é","role":"user","sent_at":[],"media":[],"persona":"",'
        '"labels":{"people":[{"id":"a","name":"Alice"}],"sources":[],"is_scheduled":false}},'
        '{"parts":[{"vendor":"anthropic","data":{"type":"thinking","signature":"s"},"kind":"opaque"},'
        '{"text":"Let me see.","kind":"text"},'
        '{"id":"c1","name":"calculate","arguments":{"x":[1.5,null,{"é":true},1180591620717411303424]},'
        '"malformed":null,"kind":"tool_call"},'
        '{"id":"c2","name":"calculate","arguments":{},"malformed":"{😀","kind":"tool_call"}],'
        '"role":"assistant","labels":null,"pages":[{"number":101,"url":"https://lamps.example/"}]},'
        '{"answers":[{"call_id":"c1","name":"calculate","content":"{\\"ok\\": true}","ok":true,"labels":null}],'
        '"role":"tool"}]'
    ).encode()
    assert dump_messages(conversation) == stored
    assert load_messages(stored) == conversation
    asked = load_messages(stored)[0]
    assert isinstance(asked, UserMessage)
    assert asked.labels == conversation[0].labels
    # The first releases knew neither what Signal calls the messages nor pictures, personas, or where all came from.
    older = re.sub(
        rb',"(?:labels|sent_at|media|pages|persona)":(?:null|""|\[.*?\]|\{.*?"is_scheduled":false\})', b"", stored
    )
    assert b"labels" not in older
    assert load_messages(older) == (conversation[0], replace(conversation[1], pages=None), conversation[2])


def test_pictures_and_documents_survive_the_stored_form() -> None:
    """Whatever bytes they have, in their order."""
    data = bytes(range(256)) * 3
    media = (
        Picture(data=data, content_type="image/png", width=3, height=2),
        Document(data=data[::-1], name="document-2.pdf", pages=1, text=""),
    )
    asked = (UserMessage(text="What is this?", media=media),)
    assert load_messages(dump_messages(asked)) == asked


def test_what_is_made_of_a_message_is_made_once_and_goes_with_it() -> None:
    """The place of a message in memory is soon another's, which must not get what was made of the first."""
    cache = IdentityCache(lambda _: set[str]())
    question, other = UserMessage(text="lamps"), UserMessage(text="ships")
    left = weakref.ref(cache.of(question))
    assert cache.of(question) is left()
    assert cache.of(other) is not left()
    assert cache.each([other, question]) == [cache.of(other), cache.of(question)]
    assert cache.each([question, new := UserMessage(text="tides")])[1] is cache.of(new)
    del question
    gc.collect()
    assert left() is None
