-- What Aldis says of its own accord for a message (a reminder, a broadcast) must not go out when that message is taken back.

ALTER TABLE turns ADD COLUMN origin TEXT;  -- names the call or the message that it is said for; null: it answers one
CREATE INDEX turns_by_origin ON turns (origin) WHERE origin IS NOT NULL;
