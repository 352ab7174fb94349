"""Tools for models that cannot call them natively."""
