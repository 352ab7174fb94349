-- Reminders. The due time is not sealed, so that it can be searched for; the words are.

CREATE TABLE reminders (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation_id INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    person BLOB NOT NULL,                   -- handle of whoever wants to be reminded
    origin TEXT NOT NULL UNIQUE,            -- the call or the message that planned it: a repetition plans nothing more
    turn_id INTEGER REFERENCES turns (id) ON DELETE SET NULL,  -- whose question planned it; null: a command did
    number INTEGER NOT NULL,                -- what the person calls it, as long as it is planned
    plan BLOB,                              -- sealed JSON: where and when; null once it is settled
    words BLOB,                             -- sealed JSON: of what; null once they have disappeared, or it is settled
    due_at INTEGER NOT NULL,                -- the next time
    expires_at INTEGER,                     -- when the words disappear with the message that they came from; null: never
    settled_at INTEGER                      -- when it came for the last time, or was cancelled; null: it is planned
) STRICT;

CREATE INDEX reminders_due ON reminders (due_at) WHERE settled_at IS NULL;
CREATE INDEX reminders_expiring ON reminders (expires_at) WHERE expires_at IS NOT NULL AND words IS NOT NULL;
CREATE INDEX reminders_by_person ON reminders (person) WHERE settled_at IS NULL;
CREATE INDEX reminders_settled ON reminders (settled_at) WHERE settled_at IS NOT NULL;
CREATE INDEX reminders_by_conversation ON reminders (conversation_id);
CREATE INDEX reminders_by_turn ON reminders (turn_id) WHERE turn_id IS NOT NULL;

-- The time zone of a person, for all their conversations; it belongs to their direct conversation with Aldis.
CREATE TABLE zones (
    conversation_id INTEGER PRIMARY KEY REFERENCES conversations (id) ON DELETE CASCADE,
    zone BLOB NOT NULL                      -- sealed: the IANA name
) STRICT;
