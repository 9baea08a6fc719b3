"""Waiting with a time limit."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")


def until(claim: Callable[[], Found], seconds: float, pause: float = 0.05) -> Found:
    """Calls `claim` until it returns a true value or `seconds` have passed. Returns its last value."""
    deadline = time.monotonic() + seconds
    while True:
        is_late = time.monotonic() >= deadline
        if (found := claim()) or is_late:
            return found
        time.sleep(pause)
