-- How far own time was ahead of the machine's clock, when a send began and when a receipt came. The bridge names what it
-- sends by the machine's clock, which may be set while a send is in doubt, but all times here are in own time (see
-- bot/clock.py). A name given in between was given by one of the two.

ALTER TABLE attempts ADD COLUMN ahead_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE receipts ADD COLUMN ahead_ms INTEGER NOT NULL DEFAULT 0;
