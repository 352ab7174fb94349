-- The first schema. Times are milliseconds since 1970 (UTC). Sealed columns are encrypted with AES-256-GCM under the data
-- key of the conversation and bound to their row (store/sealing.py). Handles are keyed hashes, so the file names nobody.

CREATE TABLE conversations (
    id INTEGER PRIMARY KEY AUTOINCREMENT,   -- never used twice: data keys are bound to it
    realm TEXT NOT NULL,                    -- 'signal' or 'terminal': what came by one way is answered by that way only
    handle BLOB NOT NULL UNIQUE,            -- of the realm and the chat's address: finds it, reveals nobody
    created_at INTEGER NOT NULL,
    served_at INTEGER NOT NULL DEFAULT 0    -- when the worker last took something: who waited longest comes first
) STRICT;

CREATE TABLE turns (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation_id INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    state TEXT NOT NULL CHECK (state IN ('running', 'kept', 'failed', 'ignored')),
    started_at INTEGER NOT NULL,
    ended_at INTEGER                        -- null while it runs
) STRICT;

-- Loading the last turns walks this index backwards, so its cost does not depend on the size of the file.
CREATE INDEX turns_kept ON turns (conversation_id, id) WHERE state = 'kept';

CREATE TABLE inbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,   -- the order of arrival; the sender's clock decides nothing
    conversation_id INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    account BLOB NOT NULL,                  -- handle
    author BLOB NOT NULL,                   -- handle
    device INTEGER NOT NULL,
    sent_at INTEGER NOT NULL,               -- Signal's name for the message: the sender's clock
    kind TEXT NOT NULL,
    envelope BLOB,                          -- sealed; null once the item is settled
    state TEXT NOT NULL CHECK (state IN ('waiting', 'claimed', 'done', 'dead')),
    turn_id INTEGER REFERENCES turns (id) ON DELETE SET NULL,  -- stays when a claim is handed back: the same
                                            -- messages are taken together again, as the journal expects
    attempts INTEGER NOT NULL DEFAULT 0,    -- claims that were not handed back on purpose
    claimed_until INTEGER,                  -- set while claimed
    received_at INTEGER NOT NULL,
    UNIQUE (account, author, device, sent_at, kind)  -- a redelivery changes nothing
) STRICT;

CREATE INDEX inbox_open ON inbox (conversation_id, id) WHERE state IN ('waiting', 'claimed');
CREATE INDEX inbox_settled ON inbox (received_at) WHERE state IN ('done', 'dead');
CREATE INDEX inbox_dead ON inbox (id) WHERE state = 'dead';  -- counted for the health page

CREATE TABLE journal (
    turn_id INTEGER NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,              -- the order of the steps within the turn
    step BLOB NOT NULL,                     -- sealed JSON
    PRIMARY KEY (turn_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE history (
    conversation_id INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    turn_id INTEGER NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,              -- the order of the messages within the turn
    role TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'tool')),
    call_id TEXT CHECK ((role = 'tool') = (call_id IS NOT NULL)),  -- which call a tool's answer belongs to
    message BLOB NOT NULL,                  -- sealed JSON
    PRIMARY KEY (conversation_id, turn_id, position)
) STRICT, WITHOUT ROWID;

CREATE INDEX history_by_turn ON history (turn_id);

CREATE TABLE outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,   -- the order in which things are said
    conversation_id INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    turn_id INTEGER NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,              -- the part of the answer
    in_group INTEGER NOT NULL,              -- 1 for a group: a member's receipt does not say which group it means
    reply BLOB,                             -- sealed; null once the item is settled
    state TEXT NOT NULL CHECK (state IN ('waiting', 'sending', 'sent', 'unknown', 'dead')),
    attempts INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER NOT NULL,                -- not before: back-off, or the end of the grace period of an unknown
    attempted_at INTEGER,                   -- when the last attempt began: the window of a receipt that proves it
    sent_at INTEGER,                        -- Signal's name for our message, once known
    settled_at INTEGER,
    UNIQUE (turn_id, position)
) STRICT;

CREATE INDEX outbox_open ON outbox (conversation_id, id) WHERE state IN ('waiting', 'sending', 'unknown');
CREATE INDEX outbox_sent ON outbox (sent_at) WHERE sent_at IS NOT NULL;
CREATE INDEX outbox_settled ON outbox (settled_at) WHERE settled_at IS NOT NULL;
CREATE INDEX outbox_dead ON outbox (id) WHERE state = 'dead';  -- counted for the health page

CREATE TABLE ledger (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation_id INTEGER REFERENCES conversations (id) ON DELETE SET NULL,  -- what was spent outlives the words
    turn_id INTEGER REFERENCES turns (id) ON DELETE SET NULL,
    person BLOB,                            -- handle of who asked
    at INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('model', 'tool', 'send')),
    provider TEXT,                          -- model calls only
    name TEXT NOT NULL,                     -- the model's or the tool's; 'message' for a send
    outcome TEXT NOT NULL,                  -- 'ok', or what went wrong: an error code, never words
    input_tokens INTEGER NOT NULL DEFAULT 0,
    cached_input_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    latency_ms INTEGER NOT NULL,
    cost_usd TEXT,                          -- a decimal number; null when the price is unknown
    details BLOB                            -- sealed JSON: a tool's arguments and result
) STRICT;

CREATE INDEX ledger_by_conversation ON ledger (conversation_id, id);
CREATE INDEX ledger_by_turn ON ledger (turn_id) WHERE turn_id IS NOT NULL;
