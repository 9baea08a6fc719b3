"""Runs of the vans' services."""

from __future__ import annotations

import threading


class Runs:
    """Notices that two gateways use one van's credential. Waypost sends a random id that changes whenever the service
    starts. If an earlier id returns, the service with that id is still running. Stores the last `KEPT` ids of each van."""

    KEPT = 4

    def __init__(self) -> None:
        self._latest: dict[str, list[str]] = {}
        self._lock = threading.Lock()

    def has_returned(self, van: str, id: str) -> bool:
        """Records a request, and returns whether the van's previous request came from a later run."""
        with self._lock:
            latest = self._latest.setdefault(van, [])
            has_returned = id in latest[:-1]
            if id in latest:
                latest.remove(id)
            latest.append(id)
            del latest[:-self.KEPT]
            return has_returned
