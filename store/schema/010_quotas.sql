-- How often services of the outside were asked in a month, so that no plan is overrun, whatever dies in between. Of
-- people there is nothing in it.

CREATE TABLE quotas (
    service TEXT PRIMARY KEY,               -- as the tools call it
    month TEXT NOT NULL,                    -- YYYY-MM in UTC: a new one counts from nothing
    used INTEGER NOT NULL
) STRICT;
