-- What was spent, summed up as it is spent: budgets are looked at before each model call, and must not be renewed by
-- forgetting a conversation. The ledger's rows may go, these sums stay.

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
