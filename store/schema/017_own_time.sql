-- The last known state of Aldis's own time, which passes evenly however the machine's clock is set (see bot/clock.py). All
-- other times in this file by which something waits, expires or is counted are in own time.

CREATE TABLE own_time (
    id INTEGER PRIMARY KEY CHECK (id = 1),  -- one row
    boot TEXT NOT NULL,                     -- names the run of the machine; empty: it has no name
    counted_ns INTEGER NOT NULL,            -- what the machine had counted since it was started
    wall_ns INTEGER NOT NULL,               -- what its clock showed, without a step that did not stand yet; since 1970
    own_ns INTEGER NOT NULL                 -- own time; since 1970
) STRICT;

-- A reminder asked for as a delay comes when the delay has passed, however the clock is set.
ALTER TABLE reminders ADD COLUMN set_back_ms INTEGER;  -- how far the clock was set back since; null: it has a date
