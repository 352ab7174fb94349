-- What tools of servers said of themselves when they were first offered: one that says something else later asks again.
-- And quotas that whoever can write the file cannot raise: what was counted before has no MAC, so counting begins anew.

CREATE TABLE tool_shapes (
    tool TEXT PRIMARY KEY,                  -- as models call it
    shape TEXT NOT NULL,                    -- a digest of what it said
    seen_at INTEGER NOT NULL,
    mac BLOB                                -- see store/guard.py
) STRICT;

DELETE FROM quotas;
ALTER TABLE quotas ADD COLUMN mac BLOB;
