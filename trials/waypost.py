"""The installed program: its commands, the ledger of its outbox, and its configuration."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .failure import Failed
from .processes import call

ROOT = Path(__file__).resolve().parent.parent
WORDS = ("accepted", "delivered", "pending", "evicted", "quarantined")

Ledger = dict[str, int]


class Waypost:
    """The binary, and the commands that trials use."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def installed(cls, given: str | None) -> Waypost:
        """Returns the binary named by `given` or $WAYPOST; otherwise builds build/waypost."""
        given = given or os.environ.get("WAYPOST")
        if given is None:
            subprocess.run([ROOT / "scripts/release"], check=True, stdout=sys.stderr)
        return cls(Path(given or ROOT / "build/waypost").resolve())

    def replay(self, drive: Path, configuration: Path) -> list[str]:
        """Returns the command that delivers a log as fast as possible, through the configured outbox."""
        outbox = json.loads(configuration.read_text())["outbox"]["path"]
        return [str(self.path), "replay", str(drive), "--config", str(configuration), "--outbox", outbox, "--speed", "max",
                "--keep-time", "--json"]

    def outbox(self, configuration: Path, verb: str, *options: str) -> list[dict[str, Any]]:
        """Returns the lines of `waypost outbox VERB`."""
        lines = call(self.path, "outbox", verb, "--config", configuration, *options)
        return [json.loads(line) for line in lines.splitlines()]

    def ledger(self, configuration: Path) -> Ledger:
        """Returns the five counts of the outbox, which must balance."""
        [listing] = self.outbox(configuration, "list", "--json")
        words = {word: listing[word] for word in WORDS}
        if words["accepted"] != sum(words[word] for word in WORDS[1:]):
            raise Failed(f"the ledger does not balance: {words}")
        return words


def configuration(path: Path, origin: str, vehicle: str = "van-1", **sections: Mapping[str, object]) -> Path:
    """Writes a configuration for the simulator at `origin`; `sections` replace the sections with the same names."""
    document: dict[str, dict[str, object]] = {
        "vehicle": {"providerId": "trial", "vehicleId": vehicle},
        "receiver": {"type": "stdin"},
        "authorization": {"type": "http", "url": origin + "/token/driver/{vehicleId}"},
        "reporting": {"intervalSeconds": 5, "heartbeatSeconds": 60},
        # The pace is unlimited, because a trial has no hours to drain a backlog.
        "upload": {"endpoint": origin, "timeoutSeconds": 5, "backlogUpdatesPerSecond": 0,
                   "retry": {"initialDelaySeconds": 0.05, "maximumDelaySeconds": 1}},
        "outbox": {"path": str(path.with_suffix(".sqlite"))},
    }
    for name, section in sections.items():
        document[name] = document.get(name, {}) | dict(section)
    path.write_text(json.dumps(document, indent=2))
    return path
