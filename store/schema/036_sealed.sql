-- Rows that decide access are sealed with the store's own key, bound to their table and their key columns (store/upgrade.py
-- carries over what was there). Budgets and quotas lose their MACs, and the number of openings shows an older copy of the file.

DROP TABLE people;
CREATE TABLE people (
    handle BLOB PRIMARY KEY,                -- of the account that was written to and the person who wrote
    sealed BLOB NOT NULL                    -- when they were let in, and the handle of the admin
) STRICT, WITHOUT ROWID;

DROP TABLE pins;
CREATE TABLE pins (
    handle BLOB PRIMARY KEY,                -- of a number on a list
    sealed BLOB NOT NULL                    -- handle of the account that had it first, since when; when another came with it
) STRICT, WITHOUT ROWID;

DROP TABLE identities;
CREATE TABLE identities (
    handle BLOB PRIMARY KEY,                -- of the account that is written from and the person, as in people
    sealed BLOB NOT NULL                    -- handle of the newest key, when it was noticed, if it is not trusted yet, if the
                                            -- last trusted one had been compared, and when the admins heard of it
) STRICT, WITHOUT ROWID;

DROP TABLE grants;
CREATE TABLE grants (
    conversation_id INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    person BLOB NOT NULL,                   -- handle of the person who allowed it
    tool TEXT NOT NULL,
    sealed BLOB NOT NULL,                   -- the shape of the tool at that time, and when that was
    PRIMARY KEY (conversation_id, person, tool)
) STRICT;

DROP TABLE tool_shapes;
CREATE TABLE tool_shapes (
    tool TEXT PRIMARY KEY,                  -- as models call it
    sealed BLOB NOT NULL                    -- a digest of what its server said of it, and when that was
) STRICT;

ALTER TABLE spent DROP COLUMN mac;
ALTER TABLE quotas DROP COLUMN mac;

DROP TABLE guard;
CREATE TABLE openings (
    id INTEGER PRIMARY KEY CHECK (id = 1),  -- one row
    count INTEGER NOT NULL                  -- how often the store was opened; behind that in the key file: an older copy
) STRICT;
