"""The transcripts: what people see in Signal, played with the whole of Aldis and written down in `docs/signal.md`.

    python -m tests.campaigns.transcripts

Each story is played by people over a double of signal-cli, with doubles of the model and of the services; they see what
phones would show. `tests/test_transcripts.py` plays them all and compares the page to the letter.

letters   a text with its styles, as HTML     sights   what is seen in a chat, line by line
stage     people, Aldis, and what they see of each other; `house` the doubles and Aldis between them
answers, media, chats, later, made, permissions     the stories      stories   all of them, in their order
page      the page

What differs from run to run stands there in a word of the story: a date, a code, an id. Reactions and answers that
come about at the same time are written down in the order in which a story waits for them.
"""
