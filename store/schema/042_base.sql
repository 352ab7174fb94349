-- One schema in one file, sealed rows for what decides access. A new store begins with it, earlier ones are carried over
-- (store/migrations.py).
--
-- Times are milliseconds since 1970 (UTC). Sealed columns are encrypted with AES-256-GCM under the data key of the
-- conversation and bound to their row (store/sealing.py). Handles are keyed hashes, so the file names nobody.
-- Each column that refers to another table has an index: deleting a row there would scan the whole table without.

-- The queue: what came in, what is being answered, what is to be said, and what proves that it went out.

-- Turns: a turn answers messages, or Aldis speaks of its own accord.
CREATE TABLE turns (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation_id INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    state TEXT NOT NULL CHECK (state IN ('running', 'kept', 'failed', 'ignored')),
    started_at INTEGER NOT NULL,
    ended_at INTEGER,                       -- null while it runs
    expires_at INTEGER,                     -- when its first message disappears; null: it stays
    replaces INTEGER REFERENCES turns (id) ON DELETE SET NULL,  -- the turn that it repeats
    deaths INTEGER NOT NULL DEFAULT 0,      -- of processes while it ran
    origin TEXT,                            -- the call or message that it speaks for, or `translation`; null: it
                                            -- answers a message
    is_indexed INTEGER NOT NULL DEFAULT 0   -- 1: its words are among the passages; a change of them sets it back
) STRICT;
-- Loading the last turns walks this index backwards, so its cost does not depend on the size of the file.
CREATE INDEX turns_kept ON turns (conversation_id, id) WHERE state = 'kept';
CREATE INDEX turns_expiring ON turns (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX turns_ended ON turns (ended_at) WHERE state IN ('kept', 'failed');
-- Deleting a row searches these columns for references to it, which would scan the whole table without an index.
CREATE INDEX turns_by_replaced ON turns (replaces) WHERE replaces IS NOT NULL;
CREATE INDEX turns_by_conversation ON turns (conversation_id);
CREATE INDEX turns_by_origin ON turns (origin) WHERE origin IS NOT NULL;
CREATE INDEX turns_unindexed ON turns (id) WHERE state = 'kept' AND is_indexed = 0;

-- The people who asked, so that what one person caused can be shown and deleted, in groups, too.
CREATE TABLE askers (
    turn_id INTEGER NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    person BLOB NOT NULL,                   -- handle
    PRIMARY KEY (turn_id, person)
) STRICT, WITHOUT ROWID;
CREATE INDEX askers_by_person ON askers (person);

-- Incoming messages, from arrival until they are answered. Their names stay for a while, so that a redelivery is
-- recognised.
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
                                                               -- messages are taken together again, as the journal
                                                               -- expects
    attempts INTEGER NOT NULL DEFAULT 0,    -- claims that were not handed back on purpose
    claimed_until INTEGER,                  -- set while claimed
    received_at INTEGER NOT NULL,
    urgent INTEGER NOT NULL DEFAULT 0,      -- 1: handled at once, even while a turn runs
    expires_at INTEGER,                     -- null: the message stays
    refusal TEXT,                           -- why it is refused instead of answered; null: it is not
    revises INTEGER REFERENCES inbox (id) ON DELETE SET NULL,  -- the message that this one edits
    put_off_until INTEGER,                  -- set while its turn waits for a person's word; null: it does not
    UNIQUE (account, author, device, sent_at, kind)  -- a redelivery changes nothing
) STRICT;
CREATE INDEX inbox_open ON inbox (conversation_id, id) WHERE state IN ('waiting', 'claimed');
CREATE INDEX inbox_settled ON inbox (received_at) WHERE state IN ('done', 'dead');
CREATE INDEX inbox_dead ON inbox (id) WHERE state = 'dead';
-- A deletion or an edit names its message by author and time; taking a turn back looks up its messages.
CREATE INDEX inbox_by_name ON inbox (author, sent_at);
CREATE INDEX inbox_by_turn ON inbox (turn_id) WHERE turn_id IS NOT NULL;
CREATE INDEX inbox_by_revised ON inbox (revises) WHERE revises IS NOT NULL;
CREATE INDEX inbox_by_conversation ON inbox (conversation_id);

-- The steps of running turns, so that none is repeated after a crash.
CREATE TABLE journal (
    turn_id INTEGER NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,              -- the order of the steps within the turn
    step BLOB NOT NULL,                     -- sealed JSON
    PRIMARY KEY (turn_id, position)
) STRICT, WITHOUT ROWID;

-- What is to be said, and whether it went out. A removal is sent like a message but is none: nothing replaces it.
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
    settled_at INTEGER,                     -- in the future while its last attempt may still go out
    replaces INTEGER REFERENCES outbox (id) ON DELETE SET NULL,  -- the answer that it edits
    revision INTEGER NOT NULL DEFAULT 0,    -- how many edits lead to it
    original_at INTEGER,                    -- Signal's name for the first revision; null: it is the first
    removes INTEGER NOT NULL DEFAULT 0,     -- 1: it removes an earlier message
    unsent TEXT,                            -- of a dead item: 'told', people know; 'owed', they have to be told;
                                            -- null: neither
    UNIQUE (turn_id, position)
) STRICT;
CREATE INDEX outbox_open ON outbox (conversation_id, id) WHERE state IN ('waiting', 'sending', 'unknown');
CREATE INDEX outbox_sent ON outbox (sent_at) WHERE sent_at IS NOT NULL;
CREATE INDEX outbox_settled ON outbox (settled_at) WHERE settled_at IS NOT NULL;
CREATE INDEX outbox_dead ON outbox (id) WHERE state = 'dead';
CREATE INDEX outbox_by_replaced ON outbox (replaces) WHERE replaces IS NOT NULL;
CREATE INDEX outbox_by_conversation ON outbox (conversation_id);
CREATE INDEX outbox_owed ON outbox (conversation_id) WHERE unsent = 'owed';
CREATE INDEX outbox_told ON outbox (turn_id) WHERE unsent = 'told';

-- Every send that may have gone out, as a receipt proves a send only if it can mean no other.
CREATE TABLE attempts (
    id INTEGER PRIMARY KEY,
    outbox_id INTEGER NOT NULL REFERENCES outbox (id) ON DELETE CASCADE,
    begun_at INTEGER NOT NULL,
    sent_at INTEGER                         -- Signal's name for what went out; null: not known, and perhaps nothing
                                            -- did. It can get it until its item is settled
) STRICT;
CREATE INDEX attempts_by_item ON attempts (outbox_id, id);
CREATE INDEX attempts_open ON attempts (begun_at) WHERE sent_at IS NULL;
CREATE INDEX attempts_sent ON attempts (sent_at) WHERE sent_at IS NOT NULL;

-- Receipts that could mean several sends; which one may become clear when the others have ended.
CREATE TABLE receipts (
    target INTEGER NOT NULL,                -- Signal's name for the message that was received
    person BLOB NOT NULL,                   -- handle of the one it came from
    came_at INTEGER NOT NULL DEFAULT 4611686018427387904,  -- it cannot mean a later send; 2^62: from before this was
                                                           -- kept
    PRIMARY KEY (target, person)
) STRICT, WITHOUT ROWID;

-- Reactions, which phones confirm like messages: their receipts must not be taken for those of an answer in doubt.
CREATE TABLE reactions (
    id INTEGER PRIMARY KEY,
    chat BLOB NOT NULL,                     -- handle of the conversation that it went to
    in_group INTEGER NOT NULL,
    begun_at INTEGER NOT NULL,
    ended_at INTEGER,                       -- until when it can have got its name; null: it is being sent
    name INTEGER                            -- Signal's name for it; null: not known (signal-cli-rest-api tells none)
) STRICT;

-- Groups whose members are known. A receipt names no conversation, but its author can only have received what went
-- to them or to a group that they are in.
CREATE TABLE rosters (
    conversation_id INTEGER PRIMARY KEY REFERENCES conversations (id) ON DELETE CASCADE,  -- a group's
    listed_at INTEGER NOT NULL              -- when the bridge was last asked who is in it, and told; 0: it is to be
                                            -- asked
) STRICT;

-- Who is in a group, as handles, as long as its conversation is kept.
CREATE TABLE members (
    conversation_id INTEGER NOT NULL REFERENCES rosters (conversation_id) ON DELETE CASCADE,
    person BLOB NOT NULL,                   -- handle of their direct chat, whether there is one or not
    left_at INTEGER,                        -- when a list first came without them; null: they are in the group
    PRIMARY KEY (conversation_id, person)
) STRICT, WITHOUT ROWID;
CREATE INDEX members_by_person ON members (person);

-- Conversations held until a person trusts a new safety number.
CREATE TABLE holds (
    conversation_id INTEGER PRIMARY KEY REFERENCES conversations (id) ON DELETE CASCADE,
    held_at INTEGER NOT NULL                -- when a send to it last failed for this
) STRICT;

-- History: conversations, what was said in them, and what was made of it.

-- Conversations. A forgotten one goes on under another data key; the old one is destroyed, so that no copy can be
-- opened.
CREATE TABLE conversations (
    id INTEGER PRIMARY KEY AUTOINCREMENT,   -- never used twice: data keys are bound to it
    realm TEXT NOT NULL,                    -- 'signal' or 'terminal': what came by one way is answered by that way
                                            -- only
    handle BLOB NOT NULL UNIQUE,            -- of the realm and the chat's address: finds it, reveals nobody
    created_at INTEGER NOT NULL,
    served_at INTEGER NOT NULL DEFAULT 0,   -- when the worker last took something: who waited longest comes first
    key_generation INTEGER NOT NULL DEFAULT 0  -- which of its data keys it goes on under: a forgotten one is
                                               -- destroyed
) STRICT;

-- What was said, as whole turns that any model can be sent.
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

-- The last unanswered question of a conversation, so that it can be asked again; the end of the next turn deletes
-- it.
CREATE TABLE unanswered (
    turn_id INTEGER PRIMARY KEY REFERENCES turns (id) ON DELETE CASCADE,
    question BLOB NOT NULL                  -- sealed JSON
) STRICT;

-- Settings of conversations: how Aldis speaks there, which tools it uses, whether it is paused.
CREATE TABLE chats (
    conversation_id INTEGER PRIMARY KEY REFERENCES conversations (id) ON DELETE CASCADE,  -- forgotten with its words
    settings BLOB NOT NULL,                 -- sealed JSON
    expires_at INTEGER                      -- when words in it disappear: they came under a timer; null: they stay
) STRICT;
CREATE INDEX chats_expiring ON chats (expires_at) WHERE expires_at IS NOT NULL;

-- Summaries of older turns.
CREATE TABLE summaries (
    conversation_id INTEGER PRIMARY KEY REFERENCES conversations (id) ON DELETE CASCADE,
    first_turn INTEGER NOT NULL,            -- of those that it sums up; they are not asked about: no reference
    last_turn INTEGER NOT NULL,
    summary BLOB NOT NULL,                  -- sealed
    expires_at INTEGER,                     -- when the first of these turns disappears; null: they stay
    labels BLOB                             -- the same
) STRICT;
CREATE INDEX summaries_expiring ON summaries (expires_at) WHERE expires_at IS NOT NULL;

-- Facts that a person wants remembered.
CREATE TABLE facts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    -- the direct one of its person
    conversation_id INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    origin TEXT NOT NULL UNIQUE,            -- the call that kept it: a repetition keeps nothing more
    turn_id INTEGER REFERENCES turns (id) ON DELETE SET NULL,  -- in which it was told
    number INTEGER NOT NULL,                -- what the person calls it, as long as it is kept
    fact BLOB,                              -- sealed; null once it is forgotten
    kept_at INTEGER NOT NULL,
    expires_at INTEGER,                     -- when it disappears with the message that told it; null: it stays
    labels BLOB                             -- where it comes from, as sealed JSON: it names people, hosts and files;
                                            -- null: from before there were labels
) STRICT;
CREATE INDEX facts_by_conversation ON facts (conversation_id, number);
CREATE INDEX facts_by_turn ON facts (turn_id) WHERE turn_id IS NOT NULL;
CREATE INDEX facts_expiring ON facts (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX facts_forgotten ON facts (kept_at) WHERE fact IS NULL;

-- Reminders. The due time is not sealed, so that it can be searched for; the words are.
CREATE TABLE reminders (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation_id INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    person BLOB NOT NULL,                   -- handle of whoever wants to be reminded
    origin TEXT NOT NULL UNIQUE,            -- the call or message that planned it: a repetition plans nothing more
    turn_id INTEGER REFERENCES turns (id) ON DELETE SET NULL,  -- whose question planned it; null: a command did
    number INTEGER NOT NULL,                -- what the person calls it, as long as it is planned
    plan BLOB,                              -- sealed JSON: where and when; null once it is settled
    words BLOB,                             -- sealed JSON: of what; null once they have disappeared, or it is over
    due_at INTEGER NOT NULL,                -- the next time
    expires_at INTEGER,                     -- when the words disappear with their message; null: never
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

-- Predictions: what people expect to happen, how likely, and how it turned out. The words are sealed. In a group
-- they belong to the group, with the person who said them.
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

-- Watches: what a person wants to hear of as soon as it happens. The times are not sealed, so that they can be searched
-- for.
CREATE TABLE watches (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation_id INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    person BLOB NOT NULL,                   -- handle of the person who wants to hear of it
    origin TEXT NOT NULL UNIQUE,            -- the call that made it: a repetition makes nothing more; its turns have it
    turn_id INTEGER REFERENCES turns (id) ON DELETE SET NULL,  -- whose question made it
    number INTEGER NOT NULL,                -- what the person calls it, until it ends
    watch BLOB,                             -- sealed JSON: what is watched, for whom and where; null once it has ended
    state BLOB,                             -- sealed JSON: what was seen and said; null: not known, in a restored copy: the
                                            -- next look says nothing
    due_at INTEGER,                         -- when it is looked at next; null: it is paused
    expires_at INTEGER,                     -- when it ends with the message that it came from; null: that stays
    settled_at INTEGER                      -- when it ended; null: it goes on
) STRICT;
CREATE INDEX watches_due ON watches (due_at) WHERE settled_at IS NULL;
CREATE INDEX watches_expiring ON watches (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX watches_by_person ON watches (person);
CREATE INDEX watches_settled ON watches (settled_at) WHERE settled_at IS NOT NULL;
CREATE INDEX watches_by_conversation ON watches (conversation_id);
CREATE INDEX watches_by_turn ON watches (turn_id) WHERE turn_id IS NOT NULL;

-- What is found again (store/passages.py). There is no index of words: a search opens the passages.

-- Files of the operator's folder.
CREATE TABLE folder_files (
    id INTEGER PRIMARY KEY AUTOINCREMENT,   -- never used twice: passages are bound to it
    name BLOB NOT NULL UNIQUE,              -- handle
    version TEXT NOT NULL,                  -- its time and size: with others it is read again
    size_bytes INTEGER NOT NULL             -- of its text, against the limit of all together; 0: it had no room
) STRICT;

-- Pieces of what was said and of files, a few sentences each.
CREATE TABLE passages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,   -- never used twice: vectors are bound to it
    conversation_id INTEGER REFERENCES conversations (id) ON DELETE CASCADE,  -- null: of the operator's folder
    turn_id INTEGER REFERENCES turns (id) ON DELETE CASCADE,  -- in which it was said, or the file was given
    file_id INTEGER REFERENCES folder_files (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,              -- its place in the turn or file
    said_at INTEGER NOT NULL,               -- of a file: when it was read
    words BLOB NOT NULL,                    -- sealed; of a file with its name and page
    vector BLOB,                            -- sealed: a bit for each number of its embedding; null: there is none
    embedded_by TEXT                        -- the model of the vector; null: it is still to be made
) STRICT;
CREATE INDEX passages_by_conversation ON passages (conversation_id, id);
CREATE INDEX passages_by_turn ON passages (turn_id) WHERE turn_id IS NOT NULL;
CREATE INDEX passages_by_file ON passages (file_id) WHERE file_id IS NOT NULL;
CREATE INDEX passages_by_model ON passages (embedded_by, id);

-- People: who may write, whom and what to trust.

-- People let in besides the lists in the settings. Rows that decide access are sealed, bound to their table and key
-- columns.
CREATE TABLE people (
    handle BLOB PRIMARY KEY,                -- of the account that was written to and the person who wrote
    sealed BLOB NOT NULL                    -- when they were let in, and the handle of the admin
) STRICT, WITHOUT ROWID;

-- The accounts that phone numbers on the lists in the settings belong to.
CREATE TABLE pins (
    handle BLOB PRIMARY KEY,                -- of a number on a list
    sealed BLOB NOT NULL                    -- handle of the account that had it first, since when
) STRICT, WITHOUT ROWID;

-- Safety numbers that have changed. Handles only, as in people and pins.
CREATE TABLE identities (
    handle BLOB PRIMARY KEY,                -- of the account that is written from and the person, as in people
    sealed BLOB NOT NULL                    -- handle of the newest key, when it was noticed, if it is not trusted
                                            -- yet
) STRICT, WITHOUT ROWID;

-- Tools that a person has allowed for good, in one conversation and for their own questions there.
CREATE TABLE grants (
    conversation_id INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    person BLOB NOT NULL,                   -- handle of the person who allowed it
    tool TEXT NOT NULL,
    sealed BLOB NOT NULL,                   -- the shape of the tool at that time, and when that was
    PRIMARY KEY (conversation_id, person, tool)
) STRICT;

-- The accounts of Aldis, each known by its id for good, as numbers come, change and go. If this file first knew an
-- account by its number, its rows stay under that.
CREATE TABLE accounts (
    realm TEXT NOT NULL,
    id BLOB NOT NULL,                       -- handle of the account's uuid
    number BLOB,                            -- handle of its phone number as last told; null: none
    name BLOB NOT NULL,                     -- sealed: what stands for the account in the handles of inbox and people
    PRIMARY KEY (realm, id),
    UNIQUE (realm, number)
) STRICT, WITHOUT ROWID;

-- Notices to the admins that are not over yet, such as that a key is refused: each is told once, whatever crashes in
-- between. Handles only.
CREATE TABLE notices (
    topic BLOB NOT NULL,                    -- handle of what was looked at; what stands no more goes by it
    name BLOB NOT NULL,                     -- handle of what was told
    seen_at INTEGER NOT NULL,               -- when it stood last
    PRIMARY KEY (topic, name)
) STRICT, WITHOUT ROWID;

-- The ledger: what was used and paid.

-- What was asked of models and tools, and what it cost. Budgets add the rows up, so forgetting keeps them.
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
    output_tokens INTEGER NOT NULL DEFAULT 0,
    cost_usd TEXT                           -- a decimal number; null when the price is unknown
) STRICT;
CREATE INDEX ledger_by_conversation ON ledger (conversation_id, id);
CREATE INDEX ledger_by_turn ON ledger (turn_id) WHERE turn_id IS NOT NULL;
CREATE INDEX ledger_by_time ON ledger (at, kind, person, conversation_id, cost_usd);

-- How often each outside service was used in a day or month, so that no plan is exceeded. Contains nothing about
-- people.
CREATE TABLE quotas (
    service TEXT PRIMARY KEY,               -- as the tools call it
    period TEXT NOT NULL,                   -- YYYY-MM or YYYY-MM-DD in UTC: a new one counts from zero
    used INTEGER NOT NULL
) STRICT;

-- Feeds.

-- Feeds and their articles. Not sealed on purpose: the text is public, full-text search needs to read it, and
-- nothing in it comes from a conversation; searches are not recorded. The list of feeds does show the operator's
-- interests to those who have this file.
CREATE TABLE feeds (
    id INTEGER PRIMARY KEY AUTOINCREMENT,   -- what people call it, never used twice
    given TEXT NOT NULL UNIQUE,             -- the address as it was asked for, in its one spelling
    is_set INTEGER NOT NULL,                -- 1: it stands in the settings, and goes when it goes from there
    url TEXT NOT NULL,                      -- where it is read now: it may have moved for good
    title TEXT NOT NULL DEFAULT '',
    etag TEXT,                              -- what the server wants to be asked with the next time, word for word
    last_modified TEXT,
    due_at INTEGER,                         -- when it is read next; null: never again, it is gone
    read_at INTEGER,                        -- when it was read last, changed or not
    trouble TEXT                            -- a word for what went wrong the last time; null: nothing
) STRICT;
CREATE INDEX feeds_due ON feeds (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE articles (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    feed_id INTEGER NOT NULL REFERENCES feeds (id),
    key TEXT NOT NULL,                      -- what the feed calls it
    url TEXT UNIQUE,                        -- in its one spelling: an article that stands in two feeds is kept once
    title TEXT NOT NULL,
    summary TEXT NOT NULL,
    published_at INTEGER NOT NULL,          -- as the feed says; where it does not, when it was seen first
    is_dated INTEGER NOT NULL,              -- 1: the feed says so
    is_listed INTEGER NOT NULL,             -- 1: it stands in the feed still; were it gone here, it would be new
    vector BLOB,                            -- as of a passage, but not sealed: its words are not either
    embedded_by TEXT,                       -- as of a passage
    UNIQUE (feed_id, key)
) STRICT;
CREATE INDEX articles_by_time ON articles (published_at);
CREATE INDEX articles_by_model ON articles (embedded_by);

-- The full-text index of the articles, kept by triggers. Source: https://sqlite.org/fts5.html, 4.4.3 (2026-11).
CREATE VIRTUAL TABLE article_words USING fts5 (
    title, summary, content = 'articles', content_rowid = 'id', tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE TRIGGER articles_come AFTER INSERT ON articles BEGIN
    INSERT INTO article_words (rowid, title, summary) VALUES (new.id, new.title, new.summary);
END;
CREATE TRIGGER articles_go AFTER DELETE ON articles BEGIN
    INSERT INTO article_words (article_words, rowid, title, summary) VALUES ('delete', old.id, old.title, old.summary);
END;
CREATE TRIGGER articles_change AFTER UPDATE OF title, summary ON articles
WHEN (old.title, old.summary) <> (new.title, new.summary) BEGIN
    INSERT INTO article_words (article_words, rowid, title, summary) VALUES ('delete', old.id, old.title, old.summary);
    INSERT INTO article_words (rowid, title, summary) VALUES (new.id, new.title, new.summary);
    UPDATE articles SET embedded_by = NULL WHERE id = new.id;
END;

-- The file itself.

-- Marks a store as a copy until the work that was open in it is closed (store/backup.py).
CREATE TABLE restored (
    id INTEGER PRIMARY KEY CHECK (id = 1)   -- one row
) STRICT;

-- The last known time, by which a start sees that the machine's clock was set (see bot/clock.py). Deadlines of the
-- queues move in the transaction that stores a step here.
CREATE TABLE last_time (
    id INTEGER PRIMARY KEY CHECK (id = 1),  -- one row
    boot TEXT NOT NULL,                     -- names the run of the machine; empty: it has no name
    counted_ns INTEGER NOT NULL,            -- what the machine had counted since it was started
    wall_ns INTEGER NOT NULL,               -- what its clock showed, without a step since; since 1970
    believed_ns INTEGER NOT NULL            -- the same without a step that was still in doubt
) STRICT;
