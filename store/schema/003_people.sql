-- People let in besides the lists in the settings, and the accounts that phone numbers on those lists belong to. Handles
-- only, so the file names nobody.

CREATE TABLE people (
    person BLOB PRIMARY KEY,                -- handle of the account that was written to and the person who wrote
    allowed_at INTEGER NOT NULL,
    allowed_by BLOB NOT NULL                -- handle of the admin
) STRICT, WITHOUT ROWID;

CREATE TABLE pins (
    number BLOB PRIMARY KEY,                -- handle of a number on a list
    person BLOB NOT NULL,                   -- handle of the account that had it first
    pinned_at INTEGER NOT NULL,
    refused_at INTEGER                      -- when another account first came with it; null: none did
) STRICT, WITHOUT ROWID;

CREATE INDEX pins_by_person ON pins (person);
