-- The bridge names what it sends by the machine's clock, which may be set while a send is in doubt. All times here are of
-- Aldis's own (see bot/clock.py); so it is kept by how much that was ahead of the clock, when a send was begun and when
-- a receipt came: what was named in between was named by one of the two.

ALTER TABLE attempts ADD COLUMN ahead_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE receipts ADD COLUMN ahead_ms INTEGER NOT NULL DEFAULT 0;
