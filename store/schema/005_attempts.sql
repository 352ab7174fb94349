-- Every send that may have gone out, as a receipt proves a send only if it can mean no other.

CREATE TABLE attempts (
    id INTEGER PRIMARY KEY,
    outbox_id INTEGER NOT NULL REFERENCES outbox (id) ON DELETE CASCADE,
    begun_at INTEGER NOT NULL,
    sent_at INTEGER                         -- Signal's name for what went out; null: not known, and perhaps nothing did
) STRICT;

CREATE INDEX attempts_by_item ON attempts (outbox_id, id);
CREATE INDEX attempts_open ON attempts (begun_at) WHERE sent_at IS NULL;
CREATE INDEX attempts_sent ON attempts (sent_at) WHERE sent_at IS NOT NULL;

INSERT INTO attempts (outbox_id, begun_at, sent_at)
SELECT id, coalesce(attempted_at, due_at), sent_at FROM outbox WHERE state IN ('sending', 'unknown', 'sent');

-- Receipts that could mean several sends; which one may become clear when the others have ended.
CREATE TABLE receipts (
    target INTEGER NOT NULL,                -- Signal's name for the message that was received
    person BLOB NOT NULL,                   -- handle of the direct chat of whoever received it
    window_ms INTEGER NOT NULL,             -- how long after its beginning a send may still have got that name
    PRIMARY KEY (target, person)
) STRICT, WITHOUT ROWID;
