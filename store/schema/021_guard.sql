-- MACs for the rows that decide access, trust and spending, so that nobody without the key can change one unnoticed. A row
-- without a MAC, or with a wrong one, is forged. See store/guard.py.

ALTER TABLE people ADD COLUMN mac BLOB;
ALTER TABLE pins ADD COLUMN mac BLOB;
ALTER TABLE identities ADD COLUMN mac BLOB;
ALTER TABLE spent ADD COLUMN mac BLOB;

CREATE TABLE guard (
    id INTEGER PRIMARY KEY CHECK (id = 1),  -- one row
    generation INTEGER NOT NULL,            -- how often the store was opened; behind that in the key file: an older copy
    digest BLOB NOT NULL,                   -- the sum of all these MACs: a row that was taken out or put back is missed
    mac BLOB                                -- of the two
) STRICT;
