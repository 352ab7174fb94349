-- Notices to the admins that are not over yet, such as that a key is refused: each is told once, whatever crashes in between.
-- Handles only.

CREATE TABLE notices (
    topic BLOB NOT NULL,                    -- handle of what was looked at; what stands no more goes by it
    name BLOB NOT NULL,                     -- handle of what was told
    seen_at INTEGER NOT NULL,               -- when it stood last
    PRIMARY KEY (topic, name)
) STRICT, WITHOUT ROWID;
