"""Errors of the store, and who has to act on each.

    StoreError
    |- StoreInUse      the operator: another Aldis has this store open
    |- SchemaTooNew    the operator: a newer Aldis wrote this store
    |- WrongKey        the operator: the master key does not open this store
    |- Damaged         the operator: a sealed value or the file itself is not what was written
    |- StepMissing     no one: an earlier step of the turn could not be written; write that one first
    '- StoreFull       the operator: the disk is full; works again once there is space

Messages name files and versions, never contents.
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
