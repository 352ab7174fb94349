-- Feeds and their articles. Not sealed on purpose: the text is public, full-text search needs to read it, and nothing in it
-- comes from a conversation; searches are not recorded. The list of feeds does show the operator's interests to whoever has
-- this file. The full-text index (`article_words`, FTS5) is created with the first article (`store.feeds`), as SQLite may
-- lack FTS5.

CREATE TABLE feeds (
    id INTEGER PRIMARY KEY AUTOINCREMENT,   -- what people call it, never used twice
    given TEXT NOT NULL UNIQUE,             -- the address as it was asked for, in its one spelling
    is_set INTEGER NOT NULL,                -- 1: it stands in the settings, and goes when it goes from there
    url TEXT NOT NULL,                      -- where it is read now: it may have moved for good
    title TEXT NOT NULL DEFAULT '',
    etag TEXT,                              -- what the server wants to be asked with the next time, word for word
    last_modified TEXT,
    digest BLOB,                            -- of what was read last, for servers that know neither of the two
    due_at INTEGER,                         -- when it is read next; null: never again, it is gone
    read_at INTEGER,                        -- when it was read last, changed or not
    failures INTEGER NOT NULL DEFAULT 0,    -- since then
    trouble TEXT                            -- a word for what went wrong the last time; null: nothing
) STRICT;

CREATE INDEX feeds_due ON feeds (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE articles (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    feed_id INTEGER NOT NULL REFERENCES feeds (id),  -- no cascade: its words have to leave the index as well
    key TEXT NOT NULL,                      -- what the feed calls it
    url TEXT UNIQUE,                        -- in its one spelling: an article that stands in two feeds is kept once
    title TEXT NOT NULL,
    summary TEXT NOT NULL,
    published_at INTEGER NOT NULL,          -- as the feed says; where it does not, when it was seen first
    is_dated INTEGER NOT NULL,              -- 1: the feed says so
    is_listed INTEGER NOT NULL,             -- 1: it stands in the feed still; were it gone here, it would be new again
    UNIQUE (feed_id, key)
) STRICT;

CREATE INDEX articles_by_time ON articles (published_at);
