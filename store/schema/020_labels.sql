-- Where a remembered fact and a summary come from: sealed JSON, for it names people, hosts and files. Null: from before
-- there were labels. The messages of the history, reminders and predictions have theirs within what is sealed already.

ALTER TABLE facts ADD COLUMN labels BLOB;
ALTER TABLE summaries ADD COLUMN labels BLOB;
