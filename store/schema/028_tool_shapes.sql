-- How MCP servers described their tools when they were first offered: a tool described differently later asks again. Quotas
-- get MACs, so that nobody without the key can raise one; earlier counts have none, so counting starts again.

CREATE TABLE tool_shapes (
    tool TEXT PRIMARY KEY,                  -- as models call it
    shape TEXT NOT NULL,                    -- a digest of what it said
    seen_at INTEGER NOT NULL,
    mac BLOB                                -- see store/guard.py
) STRICT;

DELETE FROM quotas;
ALTER TABLE quotas ADD COLUMN mac BLOB;
