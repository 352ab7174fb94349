-- Quotas by day, as posts of X are paid one by one. A row counts for one service in one period.

ALTER TABLE quotas RENAME COLUMN month TO period;    -- YYYY-MM or YYYY-MM-DD in UTC: a new one counts from zero
