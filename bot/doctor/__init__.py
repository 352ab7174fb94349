"""Everything that Aldis stands on, looked at: one module a place, each gives findings; `checkup` puts them together."""
