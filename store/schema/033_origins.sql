-- Messages that Aldis sends of its own accord, such as reminders, must not go out once the message behind them is taken back.

ALTER TABLE turns ADD COLUMN origin TEXT;  -- the call or message that it speaks for; null: it answers a message
CREATE INDEX turns_by_origin ON turns (origin) WHERE origin IS NOT NULL;
