-- What the admins have been told without having asked, such as that a key is refused, and what is not over yet: it is told
-- once until then, whatever dies in between. Handles only.

CREATE TABLE notices (
    topic BLOB NOT NULL,                    -- handle of what was looked at; what stands no more goes by it
    name BLOB NOT NULL,                     -- handle of what was told
    seen_at INTEGER NOT NULL,               -- when it stood last
    PRIMARY KEY (topic, name)
) STRICT, WITHOUT ROWID;
