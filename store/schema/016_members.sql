-- Members of groups, as handles. A receipt names no conversation, but its author can only have received what went to them or
-- to a group that they are in. The members are kept as long as the conversation of the group.

CREATE TABLE rosters (
    conversation_id INTEGER PRIMARY KEY REFERENCES conversations (id) ON DELETE CASCADE,  -- a group's
    listed_at INTEGER NOT NULL              -- when the bridge was last asked who is in it, and told; 0: it is to be asked
) STRICT;

CREATE TABLE members (
    conversation_id INTEGER NOT NULL REFERENCES rosters (conversation_id) ON DELETE CASCADE,
    person BLOB NOT NULL,                   -- handle of their direct chat, whether there is one or not
    left_at INTEGER,                        -- when a list first came without them; null: they are in the group
    PRIMARY KEY (conversation_id, person)
) STRICT, WITHOUT ROWID;

CREATE INDEX members_by_person ON members (person);

-- A send can get its name as long as its item is open: until it is answered, proved, or sent again with success.
ALTER TABLE receipts DROP COLUMN window_ms;

-- And longer, until this time, if an earlier attempt of the item was proved while this one was under way.
ALTER TABLE attempts ADD COLUMN open_until INTEGER;
