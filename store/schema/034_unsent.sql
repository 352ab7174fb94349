-- People are told that something may not have arrived: where that cannot be said at once, as soon as anything goes out there.

ALTER TABLE outbox ADD COLUMN unsent TEXT;  -- of what is dead: 'told', people know; 'owed', they are to be told; null: neither
CREATE INDEX outbox_owed ON outbox (conversation_id) WHERE unsent = 'owed';
CREATE INDEX outbox_told ON outbox (turn_id) WHERE unsent = 'told';
