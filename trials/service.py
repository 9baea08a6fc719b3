"""`waypost run`, its figures, and the receiver that writes to it."""

from __future__ import annotations

import json
import os
import re
import select
import subprocess
import threading
import time
import urllib.error
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from .drive import RADIUS_METERS, epoch
from .failure import Failed
from .network import fetch, free_port
from .processes import ONE_COMMAND_SECONDS, end_now
from .waiting import until
from .waypost import Waypost

FEED_SECONDS = 60  # a service that reads nothing for this long is stalled
STOP_SECONDS = 20
QUIET_SECONDS = 2  # after this time without a new update, the receiver's last fix has been processed

Found = TypeVar("Found")


class Service:
    """`waypost run` that reads standard input and answers at a status address.

    `before` precedes the command, for example to enter a network namespace; `options` follow it.
    """

    def __init__(self, waypost: Waypost, configuration: Path, log: Path, environment: Mapping[str, str] | None = None,
                 before: Sequence[str] = (), options: Sequence[object] = (), status: str | None = None) -> None:
        self.port = free_port()
        document = json.loads(configuration.read_text())
        document["status"] = {"listen": status or f"127.0.0.1:{self.port}"}
        configuration.write_text(json.dumps(document, indent=2))
        self.waypost, self.configuration, self.log, self.before = waypost, configuration, log, before
        self.feed: Feed | None = None
        self.started = time.time()
        with open(log, "ab") as errors:
            self.process = subprocess.Popen(
                [*before, str(waypost.path), "run", "--config", str(configuration), *map(str, options)],
                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=errors, env=environment)
        assert self.process.stdin is not None
        self._input = self.process.stdin.fileno()
        os.set_blocking(self._input, False)

    def write(self, text: str) -> None:
        """Writes everything; fails if the service has ended, or reads nothing for a minute."""
        left = memoryview(text.encode())
        while left:
            if not select.select([], [self._input], [], FEED_SECONDS)[1]:
                raise Failed(f"the service reads nothing for {FEED_SECONDS} s: {self.last_words()}")
            try:
                left = left[os.write(self._input, left):]
            except BlockingIOError:
                continue
            except OSError:
                raise Failed(f"the service no longer reads; {self.state()}") from None

    def wait(self, what: str, claim: Callable[[], Found | None], seconds: float, pause: float = 0.05) -> Found:
        """Returns the value of `claim` as soon as it has one, while the service runs and reads the receiver's
        sentences.
        """
        def found() -> Found | None:
            if self.feed:
                self.feed.check()
            if self.is_over():
                raise Failed(self.state())
            try:
                return claim()
            except OSError:
                return None

        if said := until(found, seconds, pause):
            return said
        raise Failed(f"not within {seconds:.0f} s: {what}; {self.state()}")

    def metrics(self) -> dict[str, float] | None:
        """Returns values by name, including labels; `None` if there is no answer."""
        try:
            lines = fetch(f"http://127.0.0.1:{self.port}/metrics").splitlines()
        except (urllib.error.URLError, OSError):
            return None
        return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if line[:1] not in "#")}

    def status(self) -> dict[str, Any] | None:
        """Returns the output of `waypost status`, run in the service's namespace; `None` if there is no answer."""
        answer = subprocess.run(
            [*self.before, str(self.waypost.path), "status", "--json", "--config", str(self.configuration)],
            stdin=subprocess.DEVNULL, capture_output=True, timeout=ONE_COMMAND_SECONDS)
        # 1 means that there is a problem, which is usual in these trials.
        return json.loads(answer.stdout) if answer.returncode in (0, 1) else None

    def is_over(self) -> bool:
        return self.process.poll() is not None

    def settle(self, seconds: float) -> dict[str, Any]:
        """Waits until nothing is pending and nothing more is accepted. Returns the status."""
        # The service is asked instead of its outbox, to which the last delivery is written with the next update or at
        # the end.
        status: dict[str, Any] | None = None
        since = time.monotonic()

        def quiet() -> dict[str, Any] | None:
            nonlocal status, since
            before, status = status, self.status()
            if not (status and before) or status["ledger"] != before["ledger"] or status["ledger"]["pending"]:
                since = time.monotonic()
            return status if time.monotonic() >= since + QUIET_SECONDS else None

        if settled := until(lambda: self.is_over() or quiet(), seconds, pause=0.2):
            if settled is not True:
                return settled
        words = status["ledger"] if status else "no status"
        raise Failed(f"not everything is delivered {seconds} s after the drive: {words}; {self.state()}")

    def stop(self) -> None:
        """Stops the service cleanly; fails if it ends in another way."""
        self.process.terminate()
        try:
            status = self.process.wait(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Failed(f"the service does not stop within {STOP_SECONDS} s: {self.last_words()}") from None
        if status != 0:
            raise Failed(f"the service exited with {status}: {self.last_words()}")

    def kill(self) -> None:
        end_now(self.process)

    def state(self) -> str:
        """Returns a sentence that says whether the service runs or how it ended, with its last messages."""
        try:
            return f"the service exited with {self.process.wait(timeout=1)}: {self.last_words()}"
        except subprocess.TimeoutExpired:
            return f"the service runs: {self.last_words()}"

    def last_words(self) -> str:
        return self.log.read_text(errors="replace")[-2000:]

    def memory(self, name: str) -> int:
        """Returns a memory figure of /proc/PID/status, such as VmHWM, in KiB."""
        return int(self._proc("status").split(f"\n{name}:", 1)[1].split(None, 1)[0])

    def descriptors(self) -> int:
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def threads(self) -> int:
        return len(os.listdir(f"/proc/{self.process.pid}/task"))

    def bytes_read(self) -> tuple[int, int]:
        """Returns the number of bytes read by system calls, and how many of them came from the device."""
        figures = dict(line.split(": ") for line in self._proc("io").splitlines())
        return int(figures["rchar"]), int(figures["read_bytes"])

    def _proc(self, name: str) -> str:
        return Path(f"/proc/{self.process.pid}/{name}").read_text()


class Feed(threading.Thread):
    """A receiver at 1 Hz, from now on. Each epoch is written at the time that it states.

    With `first`, in seconds since 1970, the drive starts at that time and is `speed` times as fast.
    """

    def __init__(self, service: Service, first: float | None = None, speed: float = 1,
                 radius: float = RADIUS_METERS) -> None:
        super().__init__(daemon=True)
        self.service, self.first, self.speed, self.radius = service, first, speed, radius
        self.failure: Failed | None = None
        self.seconds = 0
        self._ended = threading.Event()
        service.feed = self
        self.start()

    def run(self) -> None:
        begin = time.monotonic()
        try:
            while not self._ended.wait(max(0, begin + self.seconds / self.speed - time.monotonic())):
                now = time.time() if self.first is None else self.first + self.seconds
                self.service.write(epoch(self.seconds, now, self.radius))
                self.seconds += 1
        except Failed as failure:
            self.failure = failure

    def check(self) -> None:
        """Fails if the service stopped reading."""
        if self.failure:
            raise self.failure

    def end(self) -> int:
        """Ends the drive. Returns its length in seconds."""
        self._ended.set()
        self.join()
        self.check()
        return self.seconds


def find_no_token(directory: Path) -> None:
    """Fails if a file of the trial contains text that looks like a JSON Web Token."""
    for path in directory.iterdir():
        if path.is_file() and re.search(rb"eyJ[\w-]{20}", path.read_bytes()):
            raise Failed(f"{path} contains a token")
