-- Copies of messages that had to be sent again: each further copy in the chat is removed once it is known, by whichever
-- process that is.

ALTER TABLE outbox ADD COLUMN removal BLOB;  -- sealed: how a copy is removed; null: it was sent once, or is forgotten

CREATE TABLE copies (
    outbox_id INTEGER NOT NULL REFERENCES outbox (id) ON DELETE CASCADE,
    name INTEGER NOT NULL,                  -- Signal's name for what may be a copy of this, and is nothing else in its chat
    is_taken INTEGER NOT NULL DEFAULT 0,    -- 1: its removal is in the outbox
    PRIMARY KEY (outbox_id, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX copies_open ON copies (outbox_id) WHERE NOT is_taken;
