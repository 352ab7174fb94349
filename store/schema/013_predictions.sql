-- Predictions: what people expect to happen, how likely, and how it turned out. The words are sealed. In a group they belong
-- to the group, with the person who said them.

CREATE TABLE predictions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation_id INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    person BLOB NOT NULL,                   -- handle of whoever predicts
    origin TEXT NOT NULL UNIQUE,            -- the call that recorded it: a repetition records nothing more
    turn_id INTEGER REFERENCES turns (id) ON DELETE SET NULL,  -- whose question recorded it
    number INTEGER NOT NULL,                -- what people call it, in its conversation
    words BLOB,                             -- sealed JSON: what, how likely, by when; null once it is struck off
    outcome BLOB,                           -- sealed: what came of it; null: it is open
    outcome_turn_id INTEGER REFERENCES turns (id) ON DELETE SET NULL,  -- whose question told that
    due_at INTEGER NOT NULL,                -- the end of the day by which it is known
    settled_at INTEGER,                     -- when its outcome was told, or it was struck off; null: it is open
    expires_at INTEGER                      -- when it disappears with a message that it came from; null: it stays
) STRICT;

CREATE INDEX predictions_by_conversation ON predictions (conversation_id, number);
CREATE INDEX predictions_by_person ON predictions (person);
CREATE INDEX predictions_by_turn ON predictions (turn_id) WHERE turn_id IS NOT NULL;
CREATE INDEX predictions_by_outcome_turn ON predictions (outcome_turn_id) WHERE outcome_turn_id IS NOT NULL;
CREATE INDEX predictions_expiring ON predictions (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX predictions_ageing ON predictions (coalesce(settled_at, due_at));
