"""Rate limits."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Allowance:
    """Allows each name `burst` calls at once, and one more every `seconds`. Stores one number per name."""

    def __init__(self, burst: int, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._lead, self._seconds, self._clock = (burst - 1) * seconds, seconds, clock
        self._due: dict[str, float] = {}
        self._lock = threading.Lock()

    def wait(self, name: str) -> float:
        """Counts a call and returns 0 if the call is allowed; otherwise returns the seconds until a call is allowed."""
        with self._lock:
            now = self._clock()
            due = max(now, self._due.get(name, now))
            if due - now > self._lead:
                return due - now - self._lead
            self._due[name] = due + self._seconds
            return 0
