-- A send in doubt is given time for its receipt; time in which nobody listened for receipts must not count.

CREATE TABLE listening (
    realm TEXT PRIMARY KEY,                 -- as in conversations: the terminal hears no receipts from Signal
    until INTEGER NOT NULL                  -- when the courier was last known to be at work
) STRICT, WITHOUT ROWID;
