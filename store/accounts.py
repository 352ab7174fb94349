"""The Signal accounts of Aldis, each known by its id whatever happens to its phone number.

In the handles of other repositories an account goes by its name here (`Repository.account_name`): the id, or the number
if the file knew the account by that before it learned the id. Messages, access and compared keys thus stay with the
account when an older file is opened, when a bridge fails to tell the id, and when the number is added, changed or
removed.
"""

from store.repository import Repository, account_place


class Accounts(Repository):
    """The repository of accounts. All methods run inside a transaction."""

    def meet(self, account: str, *, number: str | None) -> None:
        """Records an account of Aldis; `account` is its id, or its number while the id is unknown."""
        if account == number:
            return
        id_, called = self.keyring.handle(account), None if number is None else self.keyring.handle(number)
        name = number if number is not None and self._was_called(number) else account
        self.execute(
            "UPDATE accounts SET number = NULL WHERE realm = ? AND number = ? AND id <> ?", (self.realm, called, id_)
        )
        self.execute(
            "INSERT INTO accounts (realm, id, number, name) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (realm, id) DO UPDATE SET number = excluded.number",
            (self.realm, id_, called, self.keyring.seal_own(account_place(id_), name.encode())),
        )

    def _was_called(self, number: str) -> bool:
        """Whether this file has rows under the number, and the number is no other account's by now.

        People are kept by handles alone. While no account is known by its id, they belong to this one.
        """
        known = self.column("SELECT id FROM accounts WHERE realm = ?", (self.realm,))
        if number in map(self.name_of_account, known):
            return False
        if self.exists("SELECT 1 FROM inbox WHERE account = ? LIMIT 1", (self.keyring.handle(number),)):
            return True
        return not known and self.exists("SELECT 1 FROM people UNION ALL SELECT 1 FROM identities LIMIT 1")
