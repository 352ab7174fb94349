"""The operator's own databases, as `db_query` and `db_describe` ask them: never by SQL that a model wrote."""
