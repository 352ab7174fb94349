-- Commands whose effect an edit of their message neither takes back nor repeats, such as /forget and /undo.

ALTER TABLE inbox ADD COLUMN final INTEGER NOT NULL DEFAULT 0;  -- 1: it was such a command, and was carried out
