-- The accounts that Aldis has answered for, each known by its id for good: its number may come, change and go. Where this
-- file knew an account by its number first, everything of it goes on under that.

CREATE TABLE accounts (
    realm TEXT NOT NULL,
    id BLOB NOT NULL,                       -- handle of the account's uuid
    number BLOB,                            -- handle of its phone number as last told; null: none
    name BLOB NOT NULL,                     -- sealed: what stands for the account in the handles of inbox and people
    PRIMARY KEY (realm, id),
    UNIQUE (realm, number)                  -- a number that goes to another account is that one's
) STRICT, WITHOUT ROWID;
