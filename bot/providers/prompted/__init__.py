"""Tools for models that know none."""
