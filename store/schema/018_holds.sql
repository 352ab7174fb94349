-- Changed safety numbers, and the conversations held until somebody trusts them. Handles only.

CREATE TABLE identities (
    person BLOB PRIMARY KEY,                -- handle of the account that is written from and the person, as in people
    key BLOB NOT NULL,                      -- handle of the newest key that is known: tells a second change from the first
    noticed_at INTEGER NOT NULL,
    is_open INTEGER NOT NULL,               -- 1 while it is not trusted
    is_verified INTEGER NOT NULL DEFAULT 0, -- 1 where the key that was trusted last had been compared
    told_at INTEGER                         -- when the admins were told of this key; null: not yet
) STRICT, WITHOUT ROWID;

CREATE TABLE holds (
    conversation_id INTEGER PRIMARY KEY REFERENCES conversations (id) ON DELETE CASCADE,
    held_at INTEGER NOT NULL                -- when a send to it last failed for this
) STRICT;
