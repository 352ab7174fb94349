-- What models were found to take and not to take, so that after a restart nothing is learnt by another refusal. No words
-- of people.

CREATE TABLE lessons (
    subject TEXT PRIMARY KEY,               -- a digest of the server's address and the model's name
    lessons TEXT NOT NULL,                  -- JSON
    learnt_at INTEGER NOT NULL
) STRICT;
