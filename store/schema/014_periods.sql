-- Quotas run by days, too: posts of X are paid one by one. A row counts for one service in one span of time.

ALTER TABLE quotas RENAME COLUMN month TO period;    -- YYYY-MM or YYYY-MM-DD in UTC: a new one counts from nothing
