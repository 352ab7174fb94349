"""Errors of the store. The operator has to act on each but `StepMissing`; messages name files, never contents.

StoreError <- StoreInUse, SchemaTooNew, WrongKey, Damaged, StepMissing, StoreFull
"""


class StoreError(Exception):
    """The store could not do what was asked; nothing of the transaction was kept. Base of all others."""


class StoreInUse(StoreError):
    """Another process has the store open: stop it, or choose another file."""


class SchemaTooNew(StoreError):
    """The file was written by a newer Aldis: start that one, or restore an older backup."""


class WrongKey(StoreError):
    """The master key is not the one the store was sealed with: provide the right one."""


class Damaged(StoreError):
    """Stored data is not what was written: restore a backup (`aldis restore FILE`)."""


class StepMissing(StoreError):
    """The step of a turn that comes before is not written: write that one first."""


class StoreFull(StoreError):
    """The disk is full: free some space; everything committed is safe."""
