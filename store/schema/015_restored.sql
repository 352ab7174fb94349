-- That this store is a copy of an earlier time, until somebody decides what becomes of what was open in it. Backups are
-- born with it, and older ones get it when they are restored: hence IF NOT EXISTS.

CREATE TABLE IF NOT EXISTS restored (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    copied_at INTEGER,                      -- when the copy was made; null: an older Aldis made it
    restored_at INTEGER                     -- when it was restored; null: it is a backup, or was put in place by hand
) STRICT;
