-- A turn that waits cannot have killed the process that it died with; but one that never comes further may have all the
-- same, in a way that nobody sees.

ALTER TABLE turns ADD COLUMN deaths INTEGER NOT NULL DEFAULT 0;   -- of processes, while it only waited, since it came further
ALTER TABLE turns ADD COLUMN reached INTEGER NOT NULL DEFAULT 0;  -- how many steps its journal had at the last of them
