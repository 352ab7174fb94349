"""The accounts that Aldis answers for: each is known by its id, whatever becomes of its phone number.

What stands for an account in the handles of other repositories is its name here (`Repository.account_name`): the id, or
the number where the file knew the account by that before it learned the id. So what came in, who was let in and whose
key was compared stay the account's when an older file is opened, when a bridge does not tell the id for once, and when
the account gets a number, another number, or none.
"""

from store.repository import Repository, account_place


class Accounts(Repository):
    """The repository of accounts. All methods run inside a transaction."""

    def meet(self, account: str, *, number: str | None) -> None:
        """Records that Aldis answers for this account; `account` is its id, or its number while no id is known."""
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
        """Whether this file has things that stand under a number, and it is no other account's by now.

        People are kept by handles alone: where no account is known by its id yet, they are of this one.
        """
        known = self.column("SELECT id FROM accounts WHERE realm = ?", (self.realm,))
        if number in map(self.name_of_account, known):
            return False
        if self.exists("SELECT 1 FROM inbox WHERE account = ? LIMIT 1", (self.keyring.handle(number),)):
            return True
        return not known and self.exists("SELECT 1 FROM people UNION ALL SELECT 1 FROM identities LIMIT 1")
