-- Marks a store as a backup until somebody decides what happens to the work that was open in it. Backups are made with the
-- mark, and older ones get it when they are restored: hence IF NOT EXISTS.

CREATE TABLE IF NOT EXISTS restored (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    copied_at INTEGER,                      -- when the copy was made; null: an older Aldis made it
    restored_at INTEGER                     -- when it was restored; null: it is a backup, or was put in place by hand
) STRICT;
