-- Disappearing timers, deletions and edits of messages.

ALTER TABLE inbox ADD COLUMN urgent INTEGER NOT NULL DEFAULT 0;  -- 1: handled at once, even while a turn runs
ALTER TABLE inbox ADD COLUMN expires_at INTEGER;                 -- null: the message stays
ALTER TABLE inbox ADD COLUMN refusal TEXT;                       -- why it is refused instead of answered; null: it is not
ALTER TABLE inbox ADD COLUMN revises INTEGER REFERENCES inbox (id) ON DELETE SET NULL;  -- the message that this one edits
ALTER TABLE inbox ADD COLUMN put_off_until INTEGER;  -- set while its turn waits for a person's word; null: it does not

-- A deletion or an edit names its message by author and time; taking a turn back looks up its messages.
CREATE INDEX inbox_by_name ON inbox (author, sent_at);
CREATE INDEX inbox_by_turn ON inbox (turn_id) WHERE turn_id IS NOT NULL;

ALTER TABLE turns ADD COLUMN expires_at INTEGER;  -- when its first message disappears; null: it stays
ALTER TABLE turns ADD COLUMN replaces INTEGER REFERENCES turns (id) ON DELETE SET NULL;  -- the turn that it repeats
                                                                        -- after an edit; null: it repeats none
CREATE INDEX turns_expiring ON turns (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX turns_ended ON turns (ended_at) WHERE state IN ('kept', 'failed');  -- to find turns by age

-- The people who asked, so that what one person caused can be shown and deleted, in groups, too.
CREATE TABLE askers (
    turn_id INTEGER NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    person BLOB NOT NULL,                   -- handle
    PRIMARY KEY (turn_id, person)
) STRICT, WITHOUT ROWID;
CREATE INDEX askers_by_person ON askers (person);

ALTER TABLE outbox ADD COLUMN replaces INTEGER REFERENCES outbox (id) ON DELETE SET NULL;  -- the answer that it edits
ALTER TABLE outbox ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;  -- how many edits lead to it
ALTER TABLE outbox ADD COLUMN original_at INTEGER;  -- Signal's name for the first revision; null: it is the first

-- A forgotten conversation goes on under another data key; the old one is destroyed, so that no copy can be opened.
ALTER TABLE conversations ADD COLUMN key_generation INTEGER NOT NULL DEFAULT 0;

-- Deleting a row searches these columns for references to it, which would scan the whole table without an index.
CREATE INDEX turns_by_replaced ON turns (replaces) WHERE replaces IS NOT NULL;
CREATE INDEX outbox_by_replaced ON outbox (replaces) WHERE replaces IS NOT NULL;
CREATE INDEX inbox_by_revised ON inbox (revises) WHERE revises IS NOT NULL;
