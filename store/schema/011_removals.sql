-- What takes a message out of the chat is sent like a message, and is none: nothing takes its place.

ALTER TABLE outbox ADD COLUMN removes INTEGER NOT NULL DEFAULT 0;  -- 1: it removes an earlier message
