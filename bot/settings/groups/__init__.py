"""The groups of settings, a module each: `ACCESS__STRANGERS` is the field `strangers` in `access.py`."""
