-- Aldis's own time passes evenly, whoever sets the machine's clock (see bot/clock.py). All other times in this file that
-- something waits for, expires or is counted by are of it. Here stands how it stood when it was last looked at.

CREATE TABLE own_time (
    id INTEGER PRIMARY KEY CHECK (id = 1),  -- one row
    boot TEXT NOT NULL,                     -- names the run of the machine; empty: it has no name
    counted_ns INTEGER NOT NULL,            -- what the machine had counted since it was started
    wall_ns INTEGER NOT NULL,               -- what its clock showed, without a step that did not stand yet; since 1970
    own_ns INTEGER NOT NULL                 -- own time; since 1970
) STRICT;

-- What was asked for as a delay comes when that has passed, whoever sets the clock by which it is due.
ALTER TABLE reminders ADD COLUMN set_back_ms INTEGER;  -- by how much the clock was set back since; null: it has a date
