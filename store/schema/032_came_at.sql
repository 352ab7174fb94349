-- When a receipt came: it cannot mean a later send, however far behind the clock is that names the messages.

ALTER TABLE receipts ADD COLUMN came_at INTEGER NOT NULL DEFAULT 4611686018427387904;  -- 2^62: before this was kept
