-- The origin of facts and summaries, as sealed JSON because it names people, hosts and files. Null: from before there were
-- labels. Messages of the history, reminders and predictions have theirs in what is sealed already.

ALTER TABLE facts ADD COLUMN labels BLOB;
ALTER TABLE summaries ADD COLUMN labels BLOB;
