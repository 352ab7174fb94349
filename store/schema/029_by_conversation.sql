-- Indexes by conversation: without them, forgetting one conversation would scan all others.

CREATE INDEX inbox_by_conversation ON inbox (conversation_id);
CREATE INDEX outbox_by_conversation ON outbox (conversation_id);
CREATE INDEX turns_by_conversation ON turns (conversation_id);
