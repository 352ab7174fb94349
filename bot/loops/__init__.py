"""The loops: intake, worker, sender, maintenance, with the store between them, and the watchdog beside them."""
