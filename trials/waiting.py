"""Waiting with an end."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")


def until(claim: Callable[[], Found], seconds: float, pause: float = 0.05) -> Found:
    """What `claim` says as soon as it says something; after `seconds` whatever it says then."""
    deadline = time.monotonic() + seconds
    while True:
        is_late = time.monotonic() >= deadline
        if (found := claim()) or is_late:
            return found
        time.sleep(pause)
