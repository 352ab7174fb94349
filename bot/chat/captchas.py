"""Signal's captchas: submits a solution as people paste it, then sends at once whatever was waiting for it."""

import re

from bot.errors import CallRefused
from bot.signal.protocol import Outside, Receipts

PAGE = "https://signalcaptchas.org/challenge/generate.html"
"""Where people solve one. Source: signal-cli 0.14.6, `SendMessageResultUtils` (2026-11-22)."""

NO_LINK = (
    f"that is no solved captcha: solve one at {PAGE}, copy the link of “Open Signal”, and give it whole; "
    "it begins with signalcaptcha://"
)
MAX_PASTED_CHARS = 100_000

_LINK = re.compile(r"signalcaptcha:/*(\w[\w.~%+/=:-]*)", re.ASCII | re.IGNORECASE)


def solution_in(pasted: str) -> str | None:
    """The solution in pasted text: the link, also in quotes, in HTML, or broken into lines; None if there is none."""
    found = _LINK.search(re.sub(r"\s+", "", pasted[:MAX_PASTED_CHARS]))
    return found[1].rstrip(".") if found else None


class Captchas(Outside):
    """The captchas of one account."""

    async def solve(self, pasted: str) -> None:
        """Submits a pasted solution and sends whatever was waiting.

        Raises `CallRefused` with the reason, `Disconnected`, or `StoreError` if what waits goes out when scheduled.
        """
        solution = solution_in(pasted)
        if solution is None or not isinstance(self.transport, Receipts):
            raise CallRefused(NO_LINK)
        await self.transport.submit_challenge(solution)
        self.counts.add("captchas_solved")
        await self.store.transaction(lambda repos: repos.outbox.wake(now=self.clock.now()))
