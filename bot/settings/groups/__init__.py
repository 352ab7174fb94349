"""The groups of settings: `ACCESS__STRANGERS` is the field `strangers` in `access.py`, and so on for each."""
