"""How often: a sliding window of calls, kept in memory and bounded."""

from collections import OrderedDict, deque
from datetime import datetime, timedelta

_MINUTE = timedelta(minutes=1)
_MOST_KEYS = 10_000


class Rate:
    """At most so many calls a minute for each key, a person and a tool; the key used longest ago is forgotten first."""

    def __init__(self, calls_per_minute: int) -> None:
        self._most = calls_per_minute
        self._calls: OrderedDict[str, deque[datetime]] = OrderedDict()

    def admits(self, key: str, now: datetime) -> bool:
        """Whether one more call is within the limit; it is counted if so."""
        calls = self._calls.setdefault(key, deque())
        self._calls.move_to_end(key)
        while len(self._calls) > _MOST_KEYS:
            self._calls.popitem(last=False)
        while calls and now - calls[0] >= _MINUTE:
            calls.popleft()
        if len(calls) >= self._most:
            return False
        calls.append(now)
        return True
