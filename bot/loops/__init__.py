"""The loops: intake, worker, courier, housekeeping, with the store between them, and the lookout beside them."""
