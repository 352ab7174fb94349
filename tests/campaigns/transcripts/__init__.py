"""The transcripts in `docs/signal.md`: what people see in Signal, played with all of Aldis.

    python -m tests.campaigns.transcripts

People play each story over a double of signal-cli, with doubles of the model and of the services, and see what phones
would show. `tests/test_transcripts.py` plays all stories and compares the page exactly.

stage     people, Aldis, the doubles around it, and what they see of each other
stories   all stories, in their order                 page      what is seen in a chat, line by line, as a page

What differs between runs (a date, a code, an id) is replaced by a word of the story. Simultaneous reactions and answers
are listed in the order in which a story waits for them.
"""
