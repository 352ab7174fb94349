-- Facts that a person wants remembered, and summaries of older turns.

CREATE TABLE facts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation_id INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,  -- the direct one of its person
    origin TEXT NOT NULL UNIQUE,            -- the call that kept it: a repetition keeps nothing more
    turn_id INTEGER REFERENCES turns (id) ON DELETE SET NULL,  -- in which it was told
    number INTEGER NOT NULL,                -- what the person calls it, as long as it is kept
    fact BLOB,                              -- sealed; null once it is forgotten
    kept_at INTEGER NOT NULL,
    expires_at INTEGER                      -- when it disappears with the message that told it; null: it stays
) STRICT;

CREATE INDEX facts_by_conversation ON facts (conversation_id, number);
CREATE INDEX facts_by_turn ON facts (turn_id) WHERE turn_id IS NOT NULL;
CREATE INDEX facts_expiring ON facts (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX facts_forgotten ON facts (kept_at) WHERE fact IS NULL;

CREATE TABLE summaries (
    conversation_id INTEGER PRIMARY KEY REFERENCES conversations (id) ON DELETE CASCADE,
    first_turn INTEGER NOT NULL,            -- of the turns that it sums up; they are not asked about, so no reference
    last_turn INTEGER NOT NULL,
    summary BLOB NOT NULL,                  -- sealed
    expires_at INTEGER                      -- when the first of these turns disappears; null: they stay
) STRICT;

CREATE INDEX summaries_expiring ON summaries (expires_at) WHERE expires_at IS NOT NULL;
