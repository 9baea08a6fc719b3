"""A long drive during which everything fails that can fail."""

from __future__ import annotations

import random
import signal
import statistics
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from .drive import NARROW_METERS, epoch
from .failure import Failed
from .service import Service
from .simulator import Simulator, disorder
from .trial import Option, Trial
from .waypost import Ledger, configuration

INTERVAL = 10  # between two updates, in seconds
# The tolerated growth of memory over the whole drive: a few pages of the allocator.
GROWTH_KIBIBYTES = 512
WARM_UP = 0.4  # as a share of the drive
DRAIN_SECONDS = 180  # at the end; a rejected token holds delivery for up to 60 s, and so does a silent issuer
# The faults in each kind of the simulator's lives. Each life has a new signing key, so the current token is rejected.
LIVES = {
    "calm": [],
    "errors": ["--errors", "503:0.2,401:0.02", "--delay", "0..0.05"],
    "connections": ["--resets", "0.1", "--drops", "0.1", "--stalls", "0.01"],
    "tokens": ["--token-errors", "503:0.3,page:0.1,empty:0.1,expired:0.1", "--token-life", "310"],
    "outage": ["--outage", "0.5..4"],
    "stopped": [],
}


class Sample(NamedTuple):
    """The state of the service at a second of the drive. Memory is in KiB; `resident` includes the pages of files."""

    second: int
    allocated: int
    descriptors: int
    threads: int
    resident: int


class Weather:
    """Kills the simulator at random moments, restarts it with other faults, and stops it in between."""

    def __init__(self, simulator: Simulator, seconds: float, chance: random.Random) -> None:
        self.simulator, self.chance = simulator, chance
        self.mean_life = min(30, max(4, seconds / 12))
        self.moods: list[str] = []
        self.counts = {mood: 0 for mood in LIVES}
        self.next_change = time.monotonic() + self.mean_life
        self.continues: float | None = None
        # The periods from each stop to the end of that life, in seconds since 1970. Requests that were abandoned in such a
        # period arrive in any order.
        self.standstills: list[tuple[float, float]] = []
        self.stopped_at: float | None = None
        simulator.start("--seed", 1)

    def advance(self, now: float) -> None:
        """Carries out the actions that are due."""
        if self.continues and now >= self.continues:
            self.simulator.signal(signal.SIGCONT)
            self.continues = None
        if now < self.next_change:
            return
        if self.simulator.is_up():
            self.simulator.stop()
            if self.stopped_at:
                self.standstills.append((self.stopped_at, time.time()))
            self.continues = self.stopped_at = None
            # No program listens for a while.
            self.next_change = now + self.chance.uniform(0, 0.1 * self.mean_life)
            return
        if not self.moods:
            self.moods = self.chance.sample(list(LIVES), len(LIVES))
        mood = self.moods.pop()
        self.counts[mood] += 1
        self.simulator.start("--seed", self.chance.randrange(1, 1_000_000), *LIVES[mood])
        if mood == "stopped":
            # The stop is sometimes longer than an exchange may take.
            self.simulator.signal(signal.SIGSTOP)
            self.stopped_at = time.time()
            self.continues = now + self.chance.uniform(0.1, 0.8) * self.mean_life
        self.next_change = now + self.chance.uniform(0.5, 1.5) * self.mean_life

    def clear(self) -> None:
        self.simulator.stop()
        if self.stopped_at:
            self.standstills.append((self.stopped_at, time.time()))
        self.simulator.start()

    def __str__(self) -> str:
        return ", ".join(f"{count} {mood}" for mood, count in self.counts.items())


class Soak(Trial):
    """Drives `waypost run` for hours, faster than real time, while everything around it fails: memory must not grow, and
    nothing may be lost.
    """

    name = "soak-test"
    options = (Option("--hours", 24, "hours of the drive", float), Option("--speed", 60, "multiple of real speed", float))
    has_seed = True

    def run(self) -> str:
        self.speed: float = self.arguments.speed
        self.length = round(self.arguments.hours * 3600)
        self.first = round(time.time()) - self.length
        self.simulator = Simulator(self.waypost, self.directory)
        self.ends_with(self.simulator.stop)
        self.weather = Weather(self.simulator, self.length / self.speed, self.chance)
        configured = configuration(
            self.directory / "soak.json", self.simulator.origin, log={"level": "warning"},
            reporting={"intervalSeconds": INTERVAL})
        service = Service(self.waypost, configured, self.directory / "service.log")
        self.ends_with(service.kill)
        samples = self.drive(service)
        self.weather.clear()
        status = service.settle(DRAIN_SECONDS)
        time.sleep(1)  # abandoned connections are closed
        at_rest = (service.descriptors(), service.threads())
        service.stop()
        (self.directory / "samples.csv").write_text("".join(",".join(map(str, sample)) + "\n" for sample in samples))
        ledger = self.waypost.ledger(configured)
        repeated = self.judge_delivery(ledger)
        return self.judge_growth(samples, at_rest, ledger, repeated, status)

    def drive(self, service: Service) -> list[Sample]:
        """Writes the drive's epochs at their pace."""
        every = min(10, max(1, self.length / self.speed / 60))
        begin = time.monotonic()
        next_sample, samples = begin + every, []
        for second in range(self.length):
            service.write(epoch(second, self.first + second, NARROW_METERS))
            now = time.monotonic()
            self.weather.advance(now)
            if now >= next_sample:
                samples.append(Sample(second, service.memory("RssAnon"), service.descriptors(), service.threads(),
                                      service.memory("VmRSS")))
                next_sample += every
            time.sleep(max(0, begin + second / self.speed - now))
        return samples

    def judge_delivery(self, ledger: Ledger) -> int:
        """Checks the arrivals. Returns the number of updates that arrived more than once."""
        if ledger["delivered"] != ledger["accepted"]:
            raise Failed(f"not everything was delivered: {ledger}")
        arrivals = list(self.simulator.record.all())
        in_order = [arrival for arrival in arrivals if not any(
            begin <= arrival.received <= end for begin, end in self.weather.standstills)]
        if wrong := disorder(in_order):
            raise Failed(f"an update arrived out of order: {wrong[0]}")
        times = [arrival.fixed for arrival in arrivals]
        arrived = set(times)
        if len(arrived) != ledger["accepted"]:
            raise Failed(f"{ledger['accepted']} updates were accepted, {len(arrived)} times of fix arrived")
        if strangers := arrived - {float(self.first + second) for second in range(self.length)}:
            raise Failed(f"{len(strangers)} times of fix arrived that no receiver stated; the first is {min(strangers)}")
        # A fix may be replaced by a newer one while the machine is busy.
        if ledger["accepted"] < 0.8 * self.length / INTERVAL:
            raise Failed(f"only {ledger['accepted']} updates of a drive of {self.length} s were accepted")
        return len(times) - len(arrived)

    def judge_growth(self, samples: list[Sample], at_rest: tuple[int, int], ledger: Ledger, repeated: int,
                     status: dict[str, Any]) -> str:
        warm = [sample for sample in samples if sample.second >= WARM_UP * self.length]
        if len(warm) < 5:
            raise Failed(f"only {len(samples)} samples, because the drive is too short")
        per_second, error = slope([(sample.second, sample.allocated) for sample in warm])
        growth, doubt = per_second * self.length, error * self.length
        open_now, running = [one.descriptors for one in warm], [one.threads for one in warm]
        figures = (
            f"{self.length / 3600:g} h at {self.speed:g} times real speed: {ledger['accepted']} accepted, delivered and "
            f"arrived, {repeated} more than once; {status['counts']['requests']} requests, {status['counts']['retries']} failed, "
            f"{status['counts']['tokenFetches']} tokens; lives of the simulator: {self.weather}; resident "
            f"{warm[0].resident / 1024:.1f} to {warm[-1].resident / 1024:.1f} MiB in {len(warm)} samples after two fifths "
            f"of it, {warm[0].allocated / 1024:.2f} to {warm[-1].allocated / 1024:.2f} MiB of it allocated, slope "
            f"{per_second * 3600:+.1f} ± {error * 3600:.1f} KiB per hour of the drive; descriptors {min(open_now)} to "
            f"{max(open_now)}, {at_rest[0]} at rest; threads {min(running)} to {max(running)}, {at_rest[1]} at rest")
        if growth - doubt > GROWTH_KIBIBYTES:
            raise Failed(f"memory grew by {growth:.0f} ± {doubt:.0f} KiB in this drive, at most {GROWTH_KIBIBYTES} are allowed: "
                         f"{figures}")
        # All descriptors and threads at the end must have existed early: those of an exchange end with it, and the pool
        # has few threads.
        for name, values, rest in (("descriptors", open_now, at_rest[0]), ("threads", running, at_rest[1])):
            before = max(values[:len(values) // 3])
            if rest > before + 1 or max(values) > before + 3:
                raise Failed(f"{name} are not constant, {before} at most in the beginning: {figures}")
        return figures


def slope(samples: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Returns the slope of (seconds, value) by least squares, and twice its standard error."""
    times, values = zip(*samples)
    line = statistics.linear_regression(times, values)
    middle = statistics.mean(times)
    residual = sum((y - line.intercept - line.slope * x) ** 2 for x, y in samples) / max(1, len(samples) - 2)
    return line.slope, 2 * (residual / sum((x - middle) ** 2 for x in times)) ** 0.5
