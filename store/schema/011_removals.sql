-- Removals of messages, which are sent like messages but are none: nothing replaces them.

ALTER TABLE outbox ADD COLUMN removes INTEGER NOT NULL DEFAULT 0;  -- 1: it removes an earlier message
