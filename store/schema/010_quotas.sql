-- How often each outside service was used in a month, so that no plan is exceeded, whatever crashes in between. Contains
-- nothing about people.

CREATE TABLE quotas (
    service TEXT PRIMARY KEY,               -- as the tools call it
    month TEXT NOT NULL,                    -- YYYY-MM in UTC: a new one counts from nothing
    used INTEGER NOT NULL
) STRICT;
