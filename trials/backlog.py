"""A start with a large backlog."""

from __future__ import annotations

import argparse
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from .failure import Failed, require
from .service import Feed, Service
from .simulator import Record, Simulator
from .trial import Option, Trial
from .waypost import ROOT, Ledger, configuration

FIRST_LIVE_SECONDS = 1.0  # from the start of the process to its live position at the simulator
RESIDENT_MEBIBYTES = 32
DRAINED_PER_SECOND = 2000
# What a start may read in excess of one with an empty outbox: the ends of the store, and the updates sent meanwhile.
READ_MORE_MEBIBYTES = 1
LIVE_UPDATES = 4  # the live updates whose bytes are compared with those of the backlog


class Counts(NamedTuple):
    """The service's counts at one moment."""

    at: float
    delivered: float
    pending: float
    sent_bytes: float

    @classmethod
    def of(cls, service: Service) -> Counts:
        figures = service.metrics() or {}
        return cls(time.monotonic(), *(figures.get(name, 0.0) for name in (
            "waypost_updates_delivered_total", 'waypost_updates{state="pending"}', "waypost_sent_bytes_total")))


class Start(NamedTuple):
    """A running service, the seconds until its first live position, and the bytes that it had read by then."""

    service: Service
    feed: Feed
    took: float
    read: int
    read_from_device: int


class Backlog(Trial):
    """Starts `waypost run` with pending updates: the live position must be sent at once, and memory and time to drain must
    stay within their limits.
    """

    name = "backlog-test"
    options = (Option("--updates", 1_000_000, "the number of pending updates"),)

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--generator", help="BacklogGenerator (default: it is built)")

    @classmethod
    def prepare(cls, arguments: argparse.Namespace) -> None:
        if arguments.generator is None:
            shown = subprocess.run([ROOT / "scripts/build-release", "BacklogGenerator"], cwd=ROOT, check=True,
                                   stdout=subprocess.PIPE, text=True)
            arguments.generator = shown.stdout.strip()

    def run(self) -> str:
        updates: int = self.arguments.updates
        self.simulator = Simulator(self.waypost, self.directory)
        self.ends_with(self.simulator.stop)
        self.simulator.start()
        large = {"maximumMegabytes": 1024}
        empty = self.start(configuration(self.directory / "empty.json", self.simulator.origin, "van-0", outbox=large))
        empty.feed.end()
        empty.service.stop()

        configured = configuration(self.directory / "full.json", self.simulator.origin, outbox=large)
        store = configured.with_suffix(".sqlite")
        subprocess.run([self.arguments.generator, str(store), str(updates)], check=True)
        size = store.stat().st_size
        full = self.start(configured)
        before = Counts.of(full.service)
        after = self.counts(
            full.service, "the backlog is delivered", updates / DRAINED_PER_SECOND + 60,
            lambda now: now.pending < 5 and now.delivered >= updates)
        live = self.counts(
            full.service, "live updates are delivered", 60,
            lambda now: now.delivered >= after.delivered + LIVE_UPDATES and now.pending == 0)
        peak = full.service.memory("VmHWM") / 1024
        full.feed.end()
        self.counts(full.service, "all is delivered", 20, lambda now: now.pending == 0)
        full.service.stop()
        ledger = self.waypost.ledger(configured)
        lateness = judge_arrivals(self.simulator.record, ledger, updates, full.service.started)

        drained, seconds = after.delivered - before.delivered, max(after.at - before.at, 0.001)
        sent_draining = (after.sent_bytes - before.sent_bytes) / drained
        sent_live = (live.sent_bytes - after.sent_bytes) / (live.delivered - after.delivered)
        more = (full.read - empty.read) / 2**20
        return require(
            f"{updates} pending, a store of {size / 2**20:.1f} MiB; "
            f"first live position after {full.took:.2f} s ({empty.took:.2f} s with an empty outbox); "
            f"{full.read / 2**20:.2f} MiB read until then, {more:.2f} MiB more than with an empty outbox "
            f"({full.read_from_device / 2**20:.2f} MiB from the device); "
            f"{drained / seconds:.0f} updates/s drained in {seconds:.0f} s; "
            f"live positions at most {lateness:.2f} s late meanwhile; at most {peak:.1f} MiB resident; "
            f"{sent_draining:.0f} bytes per update while draining, {sent_live:.0f} live; "
            f"{ledger['accepted']} accepted, delivered and arrived",
            (f"first live position later than {FIRST_LIVE_SECONDS} s", full.took <= FIRST_LIVE_SECONDS),
            (f"more than {RESIDENT_MEBIBYTES} MiB resident", peak <= RESIDENT_MEBIBYTES),
            (f"fewer than {DRAINED_PER_SECOND} updates/s drained", drained / seconds >= DRAINED_PER_SECOND),
            (f"over {READ_MORE_MEBIBYTES} MiB more read at the start than with an empty outbox", more <= READ_MORE_MEBIBYTES),
            ("as many or more bytes per update while draining than live", sent_draining < sent_live))

    def start(self, configured: Path) -> Start:
        """Starts a service. Returns once its first live position has arrived."""
        service = Service(self.waypost, configured, self.directory / "service.log")
        self.ends_with(service.kill)
        feed = Feed(service)

        def first_live() -> float | None:
            # Find a position that is as recent as the service's start.
            return next((arrival.received for arrival in self.simulator.record.news()
                         if arrival.kind == "last" and arrival.fixed > service.started - 2), None)

        arrived = service.wait("a live position arrives", first_live, 30, pause=0.002)
        return Start(service, feed, arrived - service.started, *service.bytes_read())

    @staticmethod
    def counts(service: Service, what: str, seconds: float, are_reached: Callable[[Counts], bool]) -> Counts:
        """Returns the first counts for which `are_reached` is true."""
        now = Counts.of(service)

        def reached() -> Counts | None:
            nonlocal now
            now = Counts.of(service)
            return now if are_reached(now) else None

        try:
            return service.wait(what, reached, seconds, pause=0.1)
        except Failed as failure:
            raise Failed(f"{now.delivered:.0f} updates are delivered, {now.pending:.0f} pending: {failure}") from None


def judge_arrivals(record: Record, ledger: Ledger, updates: int, since: float) -> float:
    """Checks that everything accepted has arrived. Returns the maximum delay of a live position in seconds."""
    if ledger["delivered"] != ledger["accepted"] or ledger["accepted"] <= updates:
        raise Failed(f"not everything was delivered: {ledger}")
    arrived: set[float] = set()
    lateness = 0.0
    for arrival in record.all():
        if arrival.vehicle != "van-1":
            continue
        if arrival.fixed > since and arrival.fixed not in arrived:
            lateness = max(lateness, arrival.received - arrival.fixed)
        arrived.add(arrival.fixed)
    if len(arrived) != ledger["accepted"]:
        raise Failed(f"{ledger['accepted']} updates were accepted, {len(arrived)} arrived")
    return lateness
