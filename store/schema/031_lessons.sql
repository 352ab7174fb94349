-- What models were found to accept and refuse, so that a restart does not cost another refusal. No words of people.

CREATE TABLE lessons (
    subject TEXT PRIMARY KEY,               -- a digest of the server's address and the model's name
    lessons TEXT NOT NULL,                  -- JSON
    learnt_at INTEGER NOT NULL
) STRICT;
