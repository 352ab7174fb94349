-- Whatever is asked of one conversation is found by it: without these, forgetting one looked through all the others.

CREATE INDEX inbox_by_conversation ON inbox (conversation_id);
CREATE INDEX outbox_by_conversation ON outbox (conversation_id);
CREATE INDEX turns_by_conversation ON turns (conversation_id);
