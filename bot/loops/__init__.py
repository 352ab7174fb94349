"""The four loops: intake, worker, courier, housekeeping. Only the store stands between them."""
