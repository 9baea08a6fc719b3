"""A network that fails and returns."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from .drive import moment
from .failure import Failed, require
from .front import Front
from .network import HERE, VehicleNetwork
from .service import Feed, Service
from .simulator import Simulator
from .trial import Option, Trial, count
from .waypost import ROOT, Ledger, configuration

INTERVAL = 5  # between two updates, in seconds
# The maximum 95th percentile of the seconds from the network's return to the acceptance of a fresh position, by whether
# the kernel announces the return.
LIMITS = {True: 3.0, False: 15.0}
RETURN_SECONDS = 45
SETTLE_SECONDS = 60  # at the end: the maximum backoff, and a few exchanges


class BrokenLink(Trial):
    """Cuts `waypost run` off its network, 1 to 20 s each time, and measures how soon a fresh position arrives."""

    name = "link-test"
    options = (Option("--flaps", 20, "how often the network is cut", count),)
    has_seed = True
    tools = {"ip": "iproute2", "nginx": "nginx-light", "openssl": "openssl"}

    def run(self) -> str:
        self.network = VehicleNetwork()
        self.network.make()
        self.simulator = Simulator(self.waypost, self.directory)
        self.ends_with(self.simulator.stop)
        self.simulator.start()
        front, authority = self.front()
        self.log = Log(self.directory / "service.log")
        # Use the shipped settings, because they determine the time of the next attempt, which is measured here.
        shipped = json.loads((ROOT / "config.example.json").read_text())["upload"]
        configured = configuration(
            self.directory / "config.json", front, upload=shipped | authority | {"endpoint": front}, authorization=authority,
            reporting={"intervalSeconds": INTERVAL}, log={"level": "debug", "format": "json"})
        self.service = Service(self.waypost, configured, self.log.path, before=self.network.ENTER)
        self.ends_with(self.service.kill)
        feed = Feed(self.service)
        self.wait_for_arrival(time.time() - 1, 30)
        # The seconds from the network's return to a fresh position, by whether the kernel announced it.
        latencies: dict[bool, list[float]] = {True: [], False: []}
        kinds = list(self.network.KINDS.items())
        for number in range(self.arguments.flaps):
            kind, is_announced = kinds[number % len(kinds)]
            latencies[is_announced].append(self.flap(number + 1, kind))
        feed.end()
        self.service.settle(SETTLE_SECONDS)
        self.service.stop()
        # This is exact: each fix states a different time, and an update has the time of its fix.
        arrived = len(self.simulator.record.fixes())
        figures = judge(latencies, self.log.failures(), self.waypost.ledger(configured), arrived)
        return f"{figures}\n{self.arguments.flaps} flaps, seed {self.arguments.seed}, {self.seconds()} s"

    def front(self) -> tuple[str, dict[str, object]]:
        """Starts nginx with TLS and HTTP/2 in front of the simulator, reachable for the vehicle. Returns its origin and
        authority.
        """
        front = Front(self.directory, self.simulator.origin, HERE)
        self.ends_with(front.stop)
        return front.origin, {"caFile": str(front.authority)}

    def flap(self, number: int, kind: str) -> float:
        """Cuts the network for a while. Returns the delay of the first fresh position after its return."""
        down = 20 ** self.chance.random()
        time.sleep(self.chance.uniform(2, 5))
        self.network.take(kind)
        time.sleep(down)
        since = self.network.give_back(kind)
        arrival = self.wait_for_arrival(since, RETURN_SECONDS)
        # If nothing was pending, the next position is the first that can be late.
        due = since if self.log.was_waiting(since) else min(arrival, self.log.next_accepted(since))
        print(f"link-test: {number}: {kind}, {down:.1f} s down, fresh position after {arrival - due:.2f} s",
              file=sys.stderr)
        return arrival - due

    def wait_for_arrival(self, since: float, seconds: float) -> float:
        """Returns the arrival of the first last location after `since` that was known at the given moment or later."""
        def fresh() -> float | None:
            return next((one.received for one in self.simulator.record.all()
                         if one.kind == "last" and one.received >= since and one.fixed >= since - INTERVAL - 1.5), None)

        return self.service.wait("a fresh position arrives", fresh, seconds)


class Log:
    """The service's log, with its times in seconds since 1970."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def entries(self, words: str) -> list[tuple[float, str]]:
        """Returns the time and the rest of each line that starts with these words, in order."""
        with open(self.path) as lines:
            lines_read = [json.loads(line) for line in lines if line.endswith("\n") and words in line]
        return [(moment(entry["time"]), entry["message"].removeprefix(words)) for entry in lines_read
                if entry["message"].startswith(words)]

    def was_waiting(self, at: float) -> bool:
        """Returns whether an update was accepted but not delivered at that moment."""
        accepted = sum(1 for when, _ in self.entries("accepted update ") if when <= at)
        return accepted > sum(int(rest.split()[0]) for when, rest in self.entries("delivered ") if when <= at)

    def next_accepted(self, since: float) -> float:
        return next((at for at, _ in self.entries("accepted update ") if at > since), since)

    def failures(self) -> list[float]:
        return [at for at, _ in self.entries("next attempt in ")]


def percentile(values: Iterable[float], part: int) -> float:
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * part / 100) - 1)]


def returns(is_announced: bool, values: list[float]) -> tuple[str, bool]:
    """Returns the figures of one kind of return, and whether they are within the limit."""
    middle, late, limit = percentile(values, 50), percentile(values, 95), LIMITS[is_announced]
    return (f"{'announced by the kernel' if is_announced else 'unannounced'}: {len(values)} returns, "
            f"p50 {middle:.2f} s, p95 {late:.2f} s, max {max(values):.2f} s (limit of p95 {limit:.0f} s)"), late <= limit


def judge(latencies: dict[bool, list[float]], failures: list[float], ledger: Ledger, arrived: int) -> str:
    measured = [returns(is_announced, values) for is_announced, values in latencies.items() if values]
    rate = max((sum(1 for other in failures if 0 <= other - one < 1) for one in failures), default=0)
    return require(
        "\n".join([
            *(words for words, _ in measured), f"{len(failures)} failed attempts, at most {rate} in a second",
            f"{ledger['accepted']} accepted, {ledger['delivered']} delivered, {arrived} arrived"]),
        ("no return was measured", bool(measured)),
        ("a fresh position was late", all(is_soon for _, is_soon in measured)),
        # A failure is logged when it is noticed, not when its attempt started, so two may be logged in one second.
        ("attempts too close together", rate <= 2),
        ("not everything was delivered", ledger["delivered"] == ledger["accepted"]),
        ("the arrived updates differ from the accepted ones", arrived == ledger["accepted"]))
