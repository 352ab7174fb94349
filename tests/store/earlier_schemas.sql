-- The steps by which earlier Aldis made schemas 1 to 35, each after its number: tests make old stores with them.

---- 1
CREATE TABLE conversations ( id INTEGER PRIMARY KEY AUTOINCREMENT, realm TEXT NOT NULL, handle BLOB NOT NULL UNIQUE,
created_at INTEGER NOT NULL, served_at INTEGER NOT NULL DEFAULT 0 ) STRICT; CREATE TABLE turns ( id INTEGER PRIMARY
KEY AUTOINCREMENT, conversation_id INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE, state TEXT NOT
NULL CHECK (state IN ('running', 'kept', 'failed', 'ignored')), started_at INTEGER NOT NULL, ended_at INTEGER )
STRICT; CREATE INDEX turns_kept ON turns (conversation_id, id) WHERE state = 'kept'; CREATE TABLE inbox ( id INTEGER
PRIMARY KEY AUTOINCREMENT, conversation_id INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE, account
BLOB NOT NULL, author BLOB NOT NULL, device INTEGER NOT NULL, sent_at INTEGER NOT NULL, kind TEXT NOT NULL, envelope
BLOB, state TEXT NOT NULL CHECK (state IN ('waiting', 'claimed', 'done', 'dead')), turn_id INTEGER REFERENCES turns
(id) ON DELETE SET NULL, attempts INTEGER NOT NULL DEFAULT 0, claimed_until INTEGER, received_at INTEGER NOT NULL,
UNIQUE (account, author, device, sent_at, kind) ) STRICT; CREATE INDEX inbox_open ON inbox (conversation_id, id) WHERE
state IN ('waiting', 'claimed'); CREATE INDEX inbox_settled ON inbox (received_at) WHERE state IN ('done', 'dead');
CREATE INDEX inbox_dead ON inbox (id) WHERE state = 'dead'; CREATE TABLE journal ( turn_id INTEGER NOT NULL REFERENCES
turns (id) ON DELETE CASCADE, position INTEGER NOT NULL, step BLOB NOT NULL, PRIMARY KEY (turn_id, position) ) STRICT,
WITHOUT ROWID; CREATE TABLE history ( conversation_id INTEGER NOT NULL REFERENCES conversations (id) ON DELETE
CASCADE, turn_id INTEGER NOT NULL REFERENCES turns (id) ON DELETE CASCADE, position INTEGER NOT NULL, role TEXT NOT
NULL CHECK (role IN ('user', 'assistant', 'tool')), call_id TEXT CHECK ((role = 'tool') = (call_id IS NOT NULL)),
message BLOB NOT NULL, PRIMARY KEY (conversation_id, turn_id, position) ) STRICT, WITHOUT ROWID; CREATE INDEX
history_by_turn ON history (turn_id); CREATE TABLE outbox ( id INTEGER PRIMARY KEY AUTOINCREMENT, conversation_id
INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE, turn_id INTEGER NOT NULL REFERENCES turns (id) ON
DELETE CASCADE, position INTEGER NOT NULL, in_group INTEGER NOT NULL, reply BLOB, state TEXT NOT NULL CHECK (state IN
('waiting', 'sending', 'sent', 'unknown', 'dead')), attempts INTEGER NOT NULL DEFAULT 0, due_at INTEGER NOT NULL,
attempted_at INTEGER, sent_at INTEGER, settled_at INTEGER, UNIQUE (turn_id, position) ) STRICT; CREATE INDEX
outbox_open ON outbox (conversation_id, id) WHERE state IN ('waiting', 'sending', 'unknown'); CREATE INDEX outbox_sent
ON outbox (sent_at) WHERE sent_at IS NOT NULL; CREATE INDEX outbox_settled ON outbox (settled_at) WHERE settled_at IS
NOT NULL; CREATE INDEX outbox_dead ON outbox (id) WHERE state = 'dead'; CREATE TABLE ledger ( id INTEGER PRIMARY KEY
AUTOINCREMENT, conversation_id INTEGER REFERENCES conversations (id) ON DELETE SET NULL, turn_id INTEGER REFERENCES
turns (id) ON DELETE SET NULL, person BLOB, at INTEGER NOT NULL, kind TEXT NOT NULL CHECK (kind IN ('model', 'tool',
'send')), provider TEXT, name TEXT NOT NULL, outcome TEXT NOT NULL, input_tokens INTEGER NOT NULL DEFAULT 0,
cached_input_tokens INTEGER NOT NULL DEFAULT 0, output_tokens INTEGER NOT NULL DEFAULT 0, latency_ms INTEGER NOT NULL,
cost_usd TEXT, details BLOB ) STRICT; CREATE INDEX ledger_by_conversation ON ledger (conversation_id, id); CREATE
INDEX ledger_by_turn ON ledger (turn_id) WHERE turn_id IS NOT NULL;
---- 2
ALTER TABLE inbox ADD COLUMN urgent INTEGER NOT NULL DEFAULT 0; ALTER TABLE inbox ADD COLUMN expires_at INTEGER; ALTER
TABLE inbox ADD COLUMN refusal TEXT; ALTER TABLE inbox ADD COLUMN revises INTEGER REFERENCES inbox (id) ON DELETE SET
NULL; ALTER TABLE inbox ADD COLUMN put_off_until INTEGER; CREATE INDEX inbox_by_name ON inbox (author, sent_at);
CREATE INDEX inbox_by_turn ON inbox (turn_id) WHERE turn_id IS NOT NULL; ALTER TABLE turns ADD COLUMN expires_at
INTEGER; ALTER TABLE turns ADD COLUMN replaces INTEGER REFERENCES turns (id) ON DELETE SET NULL; CREATE INDEX
turns_expiring ON turns (expires_at) WHERE expires_at IS NOT NULL; CREATE INDEX turns_ended ON turns (ended_at) WHERE
state IN ('kept', 'failed'); CREATE TABLE askers ( turn_id INTEGER NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
person BLOB NOT NULL, PRIMARY KEY (turn_id, person) ) STRICT, WITHOUT ROWID; CREATE INDEX askers_by_person ON askers
(person); ALTER TABLE outbox ADD COLUMN replaces INTEGER REFERENCES outbox (id) ON DELETE SET NULL; ALTER TABLE outbox
ADD COLUMN revision INTEGER NOT NULL DEFAULT 0; ALTER TABLE outbox ADD COLUMN original_at INTEGER; ALTER TABLE
conversations ADD COLUMN key_generation INTEGER NOT NULL DEFAULT 0; CREATE INDEX turns_by_replaced ON turns (replaces)
WHERE replaces IS NOT NULL; CREATE INDEX outbox_by_replaced ON outbox (replaces) WHERE replaces IS NOT NULL; CREATE
INDEX inbox_by_revised ON inbox (revises) WHERE revises IS NOT NULL;
---- 3
CREATE TABLE people ( person BLOB PRIMARY KEY, allowed_at INTEGER NOT NULL, allowed_by BLOB NOT NULL ) STRICT, WITHOUT
ROWID; CREATE TABLE pins ( number BLOB PRIMARY KEY, person BLOB NOT NULL, pinned_at INTEGER NOT NULL, refused_at
INTEGER ) STRICT, WITHOUT ROWID; CREATE INDEX pins_by_person ON pins (person);
---- 4
CREATE TABLE spent ( scope BLOB NOT NULL, period TEXT NOT NULL, cost_usd TEXT NOT NULL, calls INTEGER NOT NULL,
unknown_costs INTEGER NOT NULL, input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, warned INTEGER NOT NULL
DEFAULT 0, PRIMARY KEY (scope, period) ) STRICT, WITHOUT ROWID;
---- 5
CREATE TABLE attempts ( id INTEGER PRIMARY KEY, outbox_id INTEGER NOT NULL REFERENCES outbox (id) ON DELETE CASCADE,
begun_at INTEGER NOT NULL, sent_at INTEGER ) STRICT; CREATE INDEX attempts_by_item ON attempts (outbox_id, id); CREATE
INDEX attempts_open ON attempts (begun_at) WHERE sent_at IS NULL; CREATE INDEX attempts_sent ON attempts (sent_at)
WHERE sent_at IS NOT NULL; INSERT INTO attempts (outbox_id, begun_at, sent_at) SELECT id, coalesce(attempted_at,
due_at), sent_at FROM outbox WHERE state IN ('sending', 'unknown', 'sent'); CREATE TABLE receipts ( target INTEGER NOT
NULL, person BLOB NOT NULL, window_ms INTEGER NOT NULL, PRIMARY KEY (target, person) ) STRICT, WITHOUT ROWID;
---- 6
CREATE TABLE listening ( realm TEXT PRIMARY KEY, until INTEGER NOT NULL ) STRICT, WITHOUT ROWID;
---- 7
CREATE TABLE chats ( conversation_id INTEGER PRIMARY KEY REFERENCES conversations (id) ON DELETE CASCADE, settings
BLOB NOT NULL, expires_at INTEGER ) STRICT; CREATE INDEX chats_expiring ON chats (expires_at) WHERE expires_at IS NOT
NULL; CREATE TABLE unanswered ( turn_id INTEGER PRIMARY KEY REFERENCES turns (id) ON DELETE CASCADE, question BLOB NOT
NULL ) STRICT;
---- 8
CREATE TABLE reminders ( id INTEGER PRIMARY KEY AUTOINCREMENT, conversation_id INTEGER NOT NULL REFERENCES
conversations (id) ON DELETE CASCADE, person BLOB NOT NULL, origin TEXT NOT NULL UNIQUE, turn_id INTEGER REFERENCES
turns (id) ON DELETE SET NULL, number INTEGER NOT NULL, plan BLOB, words BLOB, due_at INTEGER NOT NULL, expires_at
INTEGER, settled_at INTEGER ) STRICT; CREATE INDEX reminders_due ON reminders (due_at) WHERE settled_at IS NULL;
CREATE INDEX reminders_expiring ON reminders (expires_at) WHERE expires_at IS NOT NULL AND words IS NOT NULL; CREATE
INDEX reminders_by_person ON reminders (person) WHERE settled_at IS NULL; CREATE INDEX reminders_settled ON reminders
(settled_at) WHERE settled_at IS NOT NULL; CREATE INDEX reminders_by_conversation ON reminders (conversation_id);
CREATE INDEX reminders_by_turn ON reminders (turn_id) WHERE turn_id IS NOT NULL; CREATE TABLE zones ( conversation_id
INTEGER PRIMARY KEY REFERENCES conversations (id) ON DELETE CASCADE, zone BLOB NOT NULL ) STRICT;
---- 9
CREATE TABLE facts ( id INTEGER PRIMARY KEY AUTOINCREMENT, conversation_id INTEGER NOT NULL REFERENCES conversations
(id) ON DELETE CASCADE, origin TEXT NOT NULL UNIQUE, turn_id INTEGER REFERENCES turns (id) ON DELETE SET NULL, number
INTEGER NOT NULL, fact BLOB, kept_at INTEGER NOT NULL, expires_at INTEGER ) STRICT; CREATE INDEX facts_by_conversation
ON facts (conversation_id, number); CREATE INDEX facts_by_turn ON facts (turn_id) WHERE turn_id IS NOT NULL; CREATE
INDEX facts_expiring ON facts (expires_at) WHERE expires_at IS NOT NULL; CREATE INDEX facts_forgotten ON facts
(kept_at) WHERE fact IS NULL; CREATE TABLE summaries ( conversation_id INTEGER PRIMARY KEY REFERENCES conversations
(id) ON DELETE CASCADE, first_turn INTEGER NOT NULL, last_turn INTEGER NOT NULL, summary BLOB NOT NULL, expires_at
INTEGER ) STRICT; CREATE INDEX summaries_expiring ON summaries (expires_at) WHERE expires_at IS NOT NULL;
---- 10
CREATE TABLE quotas ( service TEXT PRIMARY KEY, month TEXT NOT NULL, used INTEGER NOT NULL ) STRICT;
---- 11
ALTER TABLE outbox ADD COLUMN removes INTEGER NOT NULL DEFAULT 0;
---- 12
CREATE TABLE feeds ( id INTEGER PRIMARY KEY AUTOINCREMENT, given TEXT NOT NULL UNIQUE, is_set INTEGER NOT NULL, url
TEXT NOT NULL, title TEXT NOT NULL DEFAULT '', etag TEXT, last_modified TEXT, digest BLOB, due_at INTEGER, read_at
INTEGER, failures INTEGER NOT NULL DEFAULT 0, trouble TEXT ) STRICT; CREATE INDEX feeds_due ON feeds (due_at) WHERE
due_at IS NOT NULL; CREATE TABLE articles ( id INTEGER PRIMARY KEY AUTOINCREMENT, feed_id INTEGER NOT NULL REFERENCES
feeds (id), key TEXT NOT NULL, url TEXT UNIQUE, title TEXT NOT NULL, summary TEXT NOT NULL, published_at INTEGER NOT
NULL, is_dated INTEGER NOT NULL, is_listed INTEGER NOT NULL, UNIQUE (feed_id, key) ) STRICT; CREATE INDEX
articles_by_time ON articles (published_at);
---- 13
CREATE TABLE predictions ( id INTEGER PRIMARY KEY AUTOINCREMENT, conversation_id INTEGER NOT NULL REFERENCES
conversations (id) ON DELETE CASCADE, person BLOB NOT NULL, origin TEXT NOT NULL UNIQUE, turn_id INTEGER REFERENCES
turns (id) ON DELETE SET NULL, number INTEGER NOT NULL, words BLOB, outcome BLOB, outcome_turn_id INTEGER REFERENCES
turns (id) ON DELETE SET NULL, due_at INTEGER NOT NULL, settled_at INTEGER, expires_at INTEGER ) STRICT; CREATE INDEX
predictions_by_conversation ON predictions (conversation_id, number); CREATE INDEX predictions_by_person ON
predictions (person); CREATE INDEX predictions_by_turn ON predictions (turn_id) WHERE turn_id IS NOT NULL; CREATE
INDEX predictions_by_outcome_turn ON predictions (outcome_turn_id) WHERE outcome_turn_id IS NOT NULL; CREATE INDEX
predictions_expiring ON predictions (expires_at) WHERE expires_at IS NOT NULL; CREATE INDEX predictions_ageing ON
predictions (coalesce(settled_at, due_at));
---- 14
ALTER TABLE quotas RENAME COLUMN month TO period;
---- 15
CREATE TABLE IF NOT EXISTS restored ( id INTEGER PRIMARY KEY CHECK (id = 1), copied_at INTEGER, restored_at INTEGER )
STRICT;
---- 16
CREATE TABLE rosters ( conversation_id INTEGER PRIMARY KEY REFERENCES conversations (id) ON DELETE CASCADE, listed_at
INTEGER NOT NULL ) STRICT; CREATE TABLE members ( conversation_id INTEGER NOT NULL REFERENCES rosters
(conversation_id) ON DELETE CASCADE, person BLOB NOT NULL, left_at INTEGER, PRIMARY KEY (conversation_id, person) )
STRICT, WITHOUT ROWID; CREATE INDEX members_by_person ON members (person); ALTER TABLE receipts DROP COLUMN window_ms;
ALTER TABLE attempts ADD COLUMN open_until INTEGER;
---- 17
CREATE TABLE own_time ( id INTEGER PRIMARY KEY CHECK (id = 1), boot TEXT NOT NULL, counted_ns INTEGER NOT NULL,
wall_ns INTEGER NOT NULL, own_ns INTEGER NOT NULL ) STRICT; ALTER TABLE reminders ADD COLUMN set_back_ms INTEGER;
---- 18
CREATE TABLE identities ( person BLOB PRIMARY KEY, key BLOB NOT NULL, noticed_at INTEGER NOT NULL, is_open INTEGER NOT
NULL, is_verified INTEGER NOT NULL DEFAULT 0, told_at INTEGER ) STRICT, WITHOUT ROWID; CREATE TABLE holds (
conversation_id INTEGER PRIMARY KEY REFERENCES conversations (id) ON DELETE CASCADE, held_at INTEGER NOT NULL )
STRICT;
---- 19
ALTER TABLE attempts ADD COLUMN ahead_ms INTEGER NOT NULL DEFAULT 0; ALTER TABLE receipts ADD COLUMN ahead_ms INTEGER
NOT NULL DEFAULT 0;
---- 20
ALTER TABLE facts ADD COLUMN labels BLOB; ALTER TABLE summaries ADD COLUMN labels BLOB;
---- 21
ALTER TABLE people ADD COLUMN mac BLOB; ALTER TABLE pins ADD COLUMN mac BLOB; ALTER TABLE identities ADD COLUMN mac
BLOB; ALTER TABLE spent ADD COLUMN mac BLOB; CREATE TABLE guard ( id INTEGER PRIMARY KEY CHECK (id = 1), generation
INTEGER NOT NULL, digest BLOB NOT NULL, mac BLOB ) STRICT;
---- 22
CREATE TABLE accounts ( realm TEXT NOT NULL, id BLOB NOT NULL, number BLOB, name BLOB NOT NULL, PRIMARY KEY (realm,
id), UNIQUE (realm, number) ) STRICT, WITHOUT ROWID;
---- 23
ALTER TABLE turns ADD COLUMN deaths INTEGER NOT NULL DEFAULT 0; ALTER TABLE turns ADD COLUMN reached INTEGER NOT NULL
DEFAULT 0;
---- 24
CREATE TABLE notices ( topic BLOB NOT NULL, name BLOB NOT NULL, seen_at INTEGER NOT NULL, PRIMARY KEY (topic, name) )
STRICT, WITHOUT ROWID;
---- 25
CREATE TABLE grants ( conversation_id INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE, person BLOB
NOT NULL, tool TEXT NOT NULL, shape TEXT NOT NULL, granted_at INTEGER NOT NULL, mac BLOB, PRIMARY KEY
(conversation_id, person, tool) ) STRICT;
---- 26
ALTER TABLE outbox ADD COLUMN removal BLOB; CREATE TABLE copies ( outbox_id INTEGER NOT NULL REFERENCES outbox (id) ON
DELETE CASCADE, name INTEGER NOT NULL, is_taken INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (outbox_id, name) ) STRICT,
WITHOUT ROWID; CREATE INDEX copies_open ON copies (outbox_id) WHERE NOT is_taken;
---- 27
CREATE TABLE reactions ( id INTEGER PRIMARY KEY, chat BLOB NOT NULL, in_group INTEGER NOT NULL, begun_at INTEGER NOT
NULL, ended_at INTEGER, ahead_ms INTEGER NOT NULL, name INTEGER ) STRICT;
---- 28
CREATE TABLE tool_shapes ( tool TEXT PRIMARY KEY, shape TEXT NOT NULL, seen_at INTEGER NOT NULL, mac BLOB ) STRICT;
DELETE FROM quotas; ALTER TABLE quotas ADD COLUMN mac BLOB;
---- 29
CREATE INDEX inbox_by_conversation ON inbox (conversation_id); CREATE INDEX outbox_by_conversation ON outbox
(conversation_id); CREATE INDEX turns_by_conversation ON turns (conversation_id);
---- 30
---- 31
CREATE TABLE lessons ( subject TEXT PRIMARY KEY, lessons TEXT NOT NULL, learnt_at INTEGER NOT NULL ) STRICT;
---- 32
ALTER TABLE receipts ADD COLUMN came_at INTEGER NOT NULL DEFAULT 4611686018427387904;
---- 33
ALTER TABLE turns ADD COLUMN origin TEXT; CREATE INDEX turns_by_origin ON turns (origin) WHERE origin IS NOT NULL;
---- 34
ALTER TABLE outbox ADD COLUMN unsent TEXT; CREATE INDEX outbox_owed ON outbox (conversation_id) WHERE unsent = 'owed';
CREATE INDEX outbox_told ON outbox (turn_id) WHERE unsent = 'told';
---- 35
ALTER TABLE inbox ADD COLUMN final INTEGER NOT NULL DEFAULT 0;
