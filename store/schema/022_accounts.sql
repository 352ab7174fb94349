-- The accounts of Aldis, each known by its id for good, as numbers come, change and go. If this file first knew an account by
-- its number, its rows stay under that.

CREATE TABLE accounts (
    realm TEXT NOT NULL,
    id BLOB NOT NULL,                       -- handle of the account's uuid
    number BLOB,                            -- handle of its phone number as last told; null: none
    name BLOB NOT NULL,                     -- sealed: what stands for the account in the handles of inbox and people
    PRIMARY KEY (realm, id),
    UNIQUE (realm, number)                  -- a number that goes to another account is that one's
) STRICT, WITHOUT ROWID;
