-- How often a process died while a turn waited. A waiting turn should not be the cause, but one that never makes progress may
-- be all the same, unnoticed.

ALTER TABLE turns ADD COLUMN deaths INTEGER NOT NULL DEFAULT 0;   -- of processes while it waited, since its last progress
ALTER TABLE turns ADD COLUMN reached INTEGER NOT NULL DEFAULT 0;  -- the steps in its journal at the last of these deaths
