-- Reactions, which phones confirm like messages: their receipts must not be taken for those of an answer in doubt.

CREATE TABLE reactions (
    id INTEGER PRIMARY KEY,
    chat BLOB NOT NULL,                     -- handle of the conversation that it went to
    in_group INTEGER NOT NULL,
    begun_at INTEGER NOT NULL,
    ended_at INTEGER,                       -- until when it can have got its name; null: it is being sent
    ahead_ms INTEGER NOT NULL,              -- by how much own time was ahead of the machine's clock
    name INTEGER                            -- Signal's name for it; null: not known (signal-cli-rest-api tells none)
) STRICT;
