"""A wrong clock, short-lived tokens, and a slow issuer."""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import Any

from .drive import epoch
from .failure import Failed, require
from .processes import call
from .service import Service, find_no_token
from .simulator import Issuer, Simulator
from .trial import Option, Trial
from .waypost import ROOT, configuration

INTERVAL = 5  # between two updates, in seconds
KEPT_LIFE = 300  # a token is renewed while this many seconds remain: the Driver SDK's rule
FETCH_DELAY = 3  # the issuer's delay; an update that waits for a token is this late
LATEST = 1.5  # an update's age on arrival: the receiver's cycle, half a second, and a loaded machine


class WrongClock(Trial):
    """Runs `waypost run` with short-lived tokens, a slow issuer and a wrong clock: no update may wait for a token."""

    name = "clock-test"
    options = (Option("--seconds", 1200, "seconds of the drive"),
               Option("--token-life", 360, "the tokens' life in seconds, more than 300"))
    tools = {"faketime": "faketime", "clang": "clang"}

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--right-clock", action="store_true", help="keep the clock right: only short-lived tokens and a slow issuer")

    def run(self) -> str:
        seconds = self.arguments.seconds
        schedule = [] if self.arguments.right_clock else clock_schedule(seconds)
        simulator = Simulator(self.waypost, self.directory)
        self.ends_with(simulator.stop)
        simulator.start("--token-life", self.arguments.token_life)
        issuer = Issuer(simulator.origin, delay=FETCH_DELAY)
        service = self.service(simulator.origin, issuer.url)
        self.drive(service, list(schedule), seconds)
        fetches = [at for at, _ in issuer.fetches]
        outcomes = simulator.summary()["fleetOutcomes"]
        service.stop()
        words = service.log.read_text(errors="replace")
        if schedule and "this host's clock is wrong: " not in words:
            raise Failed(f"the service never had the wrong clock: {words[-500:]}")
        find_no_token(self.directory)
        arrivals = [(one.received, one.fixed) for one in simulator.record.all() if not one.is_heartbeat]
        return judge(seconds, self.arguments.token_life - KEPT_LIFE, fetches, arrivals, outcomes)

    def service(self, origin: str, tokens: str) -> Service:
        """Starts the service, the only program with the wrong clock. Its timers stay right, as on a machine whose clock is set."""
        self.stamp = self.directory / "clock"
        self.stamp.write_text("+0\n")
        environment = dict(os.environ, LD_PRELOAD=f"{self.real_timers()}:{faketime_library()}",
                           FAKETIME_DONT_FAKE_MONOTONIC="1", DONT_FAKE_MONOTONIC="1",
                           FAKETIME_TIMESTAMP_FILE=str(self.stamp), FAKETIME_NO_CACHE="1", TZ="UTC")
        configured = configuration(
            self.directory / "outbox.json", origin, authorization={"url": tokens}, reporting={"intervalSeconds": INTERVAL})
        # libfaketime adds variables to the environment of the first program, after which Swift can't find its arguments.
        # So env is the first program.
        service = Service(self.waypost, configured, self.directory / "service.log", environment, before=["/usr/bin/env"],
                          status=f"unix:{self.directory / 'status'}")
        self.ends_with(lambda: remove_memory(service.process.pid))
        self.ends_with(service.kill)
        return service

    def real_timers(self) -> Path:
        library = self.directory / "real-timers.so"
        call("clang", "-shared", "-fPIC", "-o", library, ROOT / "Tests/Faults/RealTimers.c")
        return library

    def drive(self, service: Service, schedule: list[tuple[float, str]], seconds: int) -> None:
        """Sends one fix per second, each written at the time that it states."""
        begin = time.monotonic()
        for second in range(seconds):
            while schedule and schedule[0][0] <= second:
                self.stamp.write_text(schedule.pop(0)[1] + "\n")
            service.write(epoch(second, time.time()))
            time.sleep(max(0, begin + second + 1 - time.monotonic()))


def faketime_library() -> Path:
    found = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
    if not found:
        raise Failed("libfaketime is not installed; type: sudo apt-get install faketime")
    return found[0]


def remove_memory(process: int) -> None:
    """Removes the files that libfaketime leaves behind for a process that doesn't exit by itself."""
    for kind in ("sem.faketime_sem", "faketime_shm"):
        Path(f"/dev/shm/{kind}_{process}").unlink(missing_ok=True)


def clock_schedule(seconds: int) -> list[tuple[float, str]]:
    """The service's wrong times, each with the second from which it applies: years off, and jumps of an hour in each
    direction.
    """
    settings = ["@1970-01-01 00:01:00", "+0", "+3600", "+0", "-3600", "@2080-01-01 00:00:00"]
    return [(seconds * number / len(settings), setting) for number, setting in enumerate(settings)]


def judge(seconds: int, reuse: int, fetches: list[float], arrivals: list[tuple[float, float]],
          outcomes: dict[str, Any]) -> str:
    # The first update waits for the first token, and so do the updates that follow it meanwhile.
    after = [received - fixed for received, fixed in arrivals
             if fetches and received > fetches[0] + FETCH_DELAY + LATEST]
    due = (seconds - FETCH_DELAY) // INTERVAL
    few, many = seconds // reuse, seconds // (reuse // 2) + 2
    return require(
        f"{seconds} s: {len(arrivals)} updates of {due} due, the latest {max(after, default=0):.2f} s after its fix; "
        f"{len(fetches)} token fetches ({few} to {many} are right); Fleet Engine answered {outcomes}",
        ("updates are missing", len(arrivals) >= due - 2),
        ("an update waited", max(after, default=LATEST + 1) <= LATEST),
        ("tokens were fetched too often or too rarely", few <= len(fetches) <= many),
        ("Fleet Engine rejected a request", set(outcomes) == {"200"}))
