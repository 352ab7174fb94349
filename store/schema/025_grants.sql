-- Tools that somebody has allowed for good, in one conversation and for their own questions there.

CREATE TABLE grants (
    conversation_id INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    person BLOB NOT NULL,                   -- handle of whoever allowed it
    tool TEXT NOT NULL,
    shape TEXT NOT NULL,                    -- what the tool was then: one that has changed since is asked about again
    granted_at INTEGER NOT NULL,
    mac BLOB,                               -- see store/guard.py
    PRIMARY KEY (conversation_id, person, tool)
) STRICT;
