-- Until when receipts were received. A send in doubt waits for its receipt, and time without reception must not count.

CREATE TABLE listening (
    realm TEXT PRIMARY KEY,                 -- as in conversations: the terminal hears no receipts from Signal
    until INTEGER NOT NULL                  -- when the courier was last known to be at work
) STRICT, WITHOUT ROWID;
