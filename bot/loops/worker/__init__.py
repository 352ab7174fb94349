"""Claims what waits in the inbox, and sees each turn through."""
