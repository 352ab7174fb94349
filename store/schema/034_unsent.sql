-- Notices that a message may not have arrived, given as soon as anything goes out to that chat if not at once.

ALTER TABLE outbox ADD COLUMN unsent TEXT;  -- of a dead item: 'told', people know; 'owed', they have to be told; null: neither
CREATE INDEX outbox_owed ON outbox (conversation_id) WHERE unsent = 'owed';
CREATE INDEX outbox_told ON outbox (turn_id) WHERE unsent = 'told';
