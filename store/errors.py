"""How the store fails.

    StoreError
    |- StoreInUse      the operator: another Aldis has this store open
    |- SchemaTooNew    the operator: a newer Aldis wrote this store
    |- WrongKey        the operator: the master key does not open this store
    |- DatabaseGone    the operator: the keys are there and the database is not
    |- Undecided       the operator: a backup was put back, and what was open in it is to be closed or done
    |- KeyGiven        the operator: the master key is in the settings, and is changed there
    |- Damaged         the operator: a sealed value or the file itself is not what was written
    '- StoreFull       the operator: no room on the disk; works again when there is

Messages name files and versions, never contents.
"""


class StoreError(Exception):
    """The root: the store cannot do what was asked; nothing of the transaction was kept."""


class StoreInUse(StoreError):
    """Another process has the store open: stop it, or choose another file."""


class SchemaTooNew(StoreError):
    """The file was written by a newer Aldis: start that one, or restore an older backup."""


class WrongKey(StoreError):
    """The master key is not the one the store was sealed with: give the right one."""


class DatabaseGone(StoreError):
    """The key file is there without its database: restore a backup, or take the key file away to start over."""


class Undecided(StoreError):
    """The store is a backup that was put back: decide what becomes of what was open in it."""


UNDECIDED = (
    "the store was restored from a backup or is an older copy, and nobody has decided what becomes of what was open in "
    "it: `aldis restore` lists it; with --settle it is closed, with --replay all of it is done"
)
"""What whoever starts such a store has to know."""


class KeyGiven(StoreError):
    """The master key comes from the settings: set another one there, and the former one as the old key."""


class Damaged(StoreError):
    """What was read is not what was written: restore a backup (`aldis restore FILE`)."""


class StoreFull(StoreError):
    """The disk is full: make room; what was committed is safe."""
