-- Settings of conversations: how Aldis speaks there, which tools it uses, whether it is paused.

CREATE TABLE chats (
    conversation_id INTEGER PRIMARY KEY REFERENCES conversations (id) ON DELETE CASCADE,  -- forgotten with its words
    settings BLOB NOT NULL,                 -- sealed JSON
    expires_at INTEGER                      -- when words in it disappear: they came under a timer; null: they stay
) STRICT;

CREATE INDEX chats_expiring ON chats (expires_at) WHERE expires_at IS NOT NULL;

-- The last unanswered question of a conversation, so that it can be asked again; the end of the next turn deletes it.
CREATE TABLE unanswered (
    turn_id INTEGER PRIMARY KEY REFERENCES turns (id) ON DELETE CASCADE,
    question BLOB NOT NULL                  -- sealed JSON
) STRICT;
