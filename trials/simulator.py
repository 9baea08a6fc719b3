"""The simulated Fleet Engine, the positions that arrived at it, and an issuer of tokens that can fail."""

from __future__ import annotations

import http.server
import json
import subprocess
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from .drive import moment
from .failure import Failed
from .network import fetch, free_port, listens
from .processes import end_now, start
from .waypost import Waypost


class Arrival(NamedTuple):
    """A position that arrived. Its times are in seconds since 1970."""

    kind: str
    fixed: float
    received: float
    vehicle: str
    is_heartbeat: bool

    @classmethod
    def of(cls, line: bytes) -> Arrival:
        entry = json.loads(line)
        return cls(entry["kind"], moment(entry["time"]), moment(entry["receivedAt"]), entry["vehicle"].rpartition("/")[2],
                   "timeSinceUpdateSeconds" in entry)


def disorder(arrivals: Iterable[Arrival]) -> list[Arrival]:
    """Returns one vehicle's positions that arrived out of order: a last location that is older than an earlier one, or a
    location that is older than the past location before it in the same request.
    """
    found: list[Arrival] = []
    newest, before = 0.0, None
    for arrival in arrivals:
        if before and before.kind == "past" and arrival.received == before.received and arrival.fixed < before.fixed:
            found.append(arrival)
        elif arrival.kind == "last":
            if arrival.fixed < newest:
                found.append(arrival)
            newest = max(newest, arrival.fixed)
        before = arrival
    return found


class Record:
    """The positions that arrived at a simulator, read from a file with one line per position; the last line may be
    incomplete.
    """

    def __init__(self, path: Path) -> None:
        self.path, self._place = path, 0

    def all(self) -> Iterator[Arrival]:
        if self.path.exists():
            with open(self.path, "rb") as lines:
                yield from (Arrival.of(line) for line in lines if line.endswith(b"\n"))

    def news(self) -> list[Arrival]:
        """Returns the positions that have arrived since the last call."""
        if not self.path.exists():
            return []
        with open(self.path, "rb") as lines:
            lines.seek(self._place)
            text = lines.read()
        text = text[:text.rfind(b"\n") + 1]
        self._place += len(text)
        return [Arrival.of(line) for line in text.splitlines()]

    def fixes(self) -> set[float]:
        """Returns the times of the fixes that arrived."""
        return {arrival.fixed for arrival in self.all()}


class Simulator:
    """`waypost simulator` on a port that it keeps across restarts."""

    process: subprocess.Popen[bytes] | None = None

    def __init__(self, waypost: Waypost, directory: Path, records: bool = True) -> None:
        self.waypost, self.log, self.records = waypost, directory / "simulator.log", records
        self.record = Record(directory / "record.jsonl")
        self.port = free_port()
        self.origin = f"http://127.0.0.1:{self.port}"

    def start(self, *faults: object) -> None:
        record = ["--record", self.record.path] if self.records else []
        self.process = start(
            self.waypost.path, "simulator", "--listen", f"127.0.0.1:{self.port}", *faults, *record, log=self.log)
        if not listens(self.process, "127.0.0.1", self.port):
            self.stop()
            raise Failed("the simulator does not answer: " + self.log.read_text())

    def stop(self) -> None:
        end_now(self.process)

    def is_up(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def signal(self, number: int) -> None:
        if self.process:
            self.process.send_signal(number)

    def summary(self) -> dict[str, Any]:
        summary: dict[str, Any] = json.loads(fetch(self.origin + "/record.json"))["summary"]
        return summary

    def vehicle(self, name: str = "van-1") -> dict[str, Any]:
        """Returns the simulator's record of a vehicle since the start."""
        found: dict[str, Any] | None = json.loads(fetch(self.origin + "/record.json"))["vehicles"].get(
            f"providers/trial/vehicles/{name}")
        return found or {"fixTimes": [], "forgottenFixTimes": 0}


class Issuer(http.server.ThreadingHTTPServer):
    """Passes token requests on to the simulator at `origin` after `delay` seconds; answers 500 while it is down."""

    def __init__(self, origin: str, delay: float = 0, vehicle: str = "van-1") -> None:
        super().__init__(("127.0.0.1", 0), _IssuerRequest)
        self.origin, self.delay, self.is_down = origin, delay, False
        self.fetches: list[tuple[float, bool]] = []  # the time of each in seconds since 1970, and whether it failed
        self.url = f"http://127.0.0.1:{self.server_port}/token/driver/{vehicle}"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class _IssuerRequest(http.server.BaseHTTPRequestHandler):
    server: Issuer

    def do_GET(self) -> None:
        is_down = self.server.is_down
        self.server.fetches.append((time.time(), is_down))
        time.sleep(self.server.delay)
        body = b"" if is_down else fetch(self.server.origin + self.path).encode()
        self.send_response(500 if is_down else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass
