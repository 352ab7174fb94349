-- Sums of spending. Budgets are checked before each model call, and forgetting a conversation must not renew them: the
-- rows of the ledger may go, these sums stay.

CREATE TABLE spent (
    scope BLOB NOT NULL,                    -- handle of a person or of a group's chat; 'all' for everything in here
    period TEXT NOT NULL,                   -- '2026-11-22' or '2026-11', by the calendar of the people's time zone
    cost_usd TEXT NOT NULL,                 -- a decimal number: the calls whose price is known
    calls INTEGER NOT NULL,
    unknown_costs INTEGER NOT NULL,         -- how many of the calls are not in cost_usd
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    warned INTEGER NOT NULL DEFAULT 0,      -- 1: people were told that the budget is nearly used up
    PRIMARY KEY (scope, period)
) STRICT, WITHOUT ROWID;
