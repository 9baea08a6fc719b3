"""SIGKILL at random moments of a delivery."""

from __future__ import annotations

import argparse
import signal
import subprocess
import time
from pathlib import Path

from .drive import NARROW_METERS, moment, write_drive
from .failure import Failed
from .processes import end_now
from .simulator import Simulator
from .trial import Option, Trial, count
from .waiting import until
from .waypost import Waypost, configuration

# Every kind of fault that a delivery can have before it is killed.
FAULTS = ["--errors", "503:0.2,401:0.03", "--resets", "0.05", "--drops", "0.05", "--delay", "0..0.02"]
# The length of a run's drive. About every fifth fix becomes an update. Most updates are still pending when the run is
# killed, and wait for the last run.
DRIVE_SECONDS = 1800
FIRST_ACCEPTED_SECONDS = 20
# The last run delivers all remaining updates. It may be slow, but must not stall for this long.
STANDSTILL_SECONDS = 60


class Kills(Trial):
    """Kills `waypost replay` with SIGKILL at random moments, and checks that nothing accepted is lost."""

    name = "kill-test"
    options = (Option("--kills", 50, "the number of kills", count),)
    has_seed = True

    def __init__(self, arguments: argparse.Namespace, waypost: Waypost, directory: Path) -> None:
        super().__init__(arguments, waypost, directory)
        self.kills: int = arguments.kills
        self.simulator = Simulator(waypost, directory, records=False)
        self.configuration = configuration(
            directory / "outbox.json", self.simulator.origin,
            upload={"retry": {"initialDelaySeconds": 0.05, "maximumDelaySeconds": 0.2}})
        self.first = round(time.time()) - (self.kills + 2) * (DRIVE_SECONDS + 60)
        self.accepted = 0
        # The times of fix that were pending after a kill; each must have reached the simulator at the end.
        self.seen_pending: set[float] = set()
        # The times of pending shape points, which have only a time and a place.
        self.seen_points: set[float] = set()
        self.slowest_start = 0.0

    def run(self) -> str:
        self.ends_with(self.simulator.stop)
        self.simulator.start(*FAULTS)
        killed = 0
        for number in range(self.kills):
            killed += self.kill_one(number)
            self.check_after_kill(number)
        if killed < self.kills * 3 // 4:
            raise Failed(f"only {killed} of {self.kills} runs were still working when killed; the drives are too short")
        if (status := self.last()) != 0:
            raise Failed(f"the last run exited with {status}: {self.words()}")
        self.check_after_kill("the last")
        accepted, repeated = self.conclude()
        return (f"{self.kills} of {self.kills} kills: nothing lost "
                f"({killed} while working; {accepted} accepted and delivered, {repeated} delivered more than once; "
                f"{len(self.seen_points)} shape points were pending after a kill; "
                f"slowest start to first acceptance {self.slowest_start * 1000:.0f} ms; "
                f"seed {self.arguments.seed}, {self.seconds()} s)")

    def replay(self, number: int) -> subprocess.Popen[bytes]:
        """Starts a replay of this round's drive, which follows the previous one, so that every time of fix is unique."""
        log = self.directory / f"drive-{number}.nmea"
        write_drive(log, self.first + number * (DRIVE_SECONDS + 60), DRIVE_SECONDS, NARROW_METERS)
        with open(self.directory / "replay.out", "wb") as output, open(self.directory / "replay.err", "wb") as errors:
            return subprocess.Popen(self.waypost.replay(log, self.configuration), stdin=subprocess.DEVNULL,
                                    stdout=output, stderr=errors)

    def kill_one(self, number: int) -> bool:
        """Kills a run some time after its first acceptance. Returns whether it was still working."""
        before = self.size()
        started = time.monotonic()
        replay = self.replay(number)
        try:
            if not until(lambda: self.size() != before or replay.poll() is not None, FIRST_ACCEPTED_SECONDS, pause=0.001):
                raise Failed(f"start {number}: nothing accepted within {FIRST_ACCEPTED_SECONDS} s: {self.words()}")
            self.slowest_start = max(self.slowest_start, time.monotonic() - started)
            time.sleep(self.chance.uniform(0, 0.5))
        finally:
            ended_before = replay.poll()
            replay.send_signal(signal.SIGKILL)
            replay.wait()
        if ended_before not in (None, 0):
            raise Failed(f"start {number} exited by itself with {ended_before}: {self.words()}")
        return ended_before is None

    def last(self) -> int:
        """Runs one process to its end. Returns its exit status."""
        replay = self.replay(self.kills)
        delivered = -1
        try:
            while replay.poll() is None:
                before, delivered = delivered, self.waypost.ledger(self.configuration)["delivered"]
                if delivered == before:
                    raise Failed(f"the last run delivers nothing for {STANDSTILL_SECONDS} s and doesn't end: {self.words()}")
                until(lambda: replay.poll() is not None, STANDSTILL_SECONDS, pause=0.1)
            return replay.wait()
        finally:
            end_now(replay)

    def size(self) -> tuple[tuple[str, int, int], ...]:
        """Returns the sizes and times of the outbox's files, which change with each transaction."""
        return tuple(sorted((file.name, file.stat().st_size, file.stat().st_mtime_ns)
                            for file in self.directory.glob("outbox.sqlite*")))

    def delivered_times(self) -> set[float]:
        vehicle = self.simulator.vehicle()
        if forgotten := vehicle["forgottenFixTimes"]:
            raise Failed(f"the simulator's memory was too small: it forgot {forgotten} times of fix")
        return {moment(text) for text in vehicle["fixTimes"]}

    def check_after_kill(self, number: object) -> None:
        ledger = self.waypost.ledger(self.configuration)
        waiting = self.waypost.outbox(self.configuration, "export")
        pending = {moment(update["time"]) for update in waiting}
        if ledger["accepted"] < self.accepted:
            raise Failed(f"after kill {number}, {ledger['accepted']} updates are accepted, before it {self.accepted}")
        if ledger["evicted"] or ledger["quarantined"]:
            raise Failed(f"after kill {number}, updates are evicted or quarantined: {ledger}")
        there = len(self.delivered_times())
        if ledger["delivered"] > there:
            raise Failed(f"after kill {number}, {ledger['delivered']} updates are counted as delivered, but {there} arrived")
        if there > ledger["accepted"]:
            raise Failed(f"after kill {number}, {there} updates have arrived, but only {ledger['accepted']} were accepted")
        if len(pending) != ledger["pending"]:
            raise Failed(f"after kill {number}, {ledger['pending']} updates are counted as pending, but {len(pending)} are there")
        self.accepted = ledger["accepted"]
        self.seen_pending |= pending
        self.seen_points |= {moment(update["time"]) for update in waiting if "speedMetersPerSecond" not in update}

    def conclude(self) -> tuple[int, int]:
        """Checks the final counts. Returns the number of accepted updates, and of those that arrived more than once."""
        ledger = self.waypost.ledger(self.configuration)
        arrived = self.delivered_times()
        if ledger["pending"] or ledger["delivered"] != ledger["accepted"]:
            raise Failed(f"not everything was delivered: {ledger}")
        if missing := self.seen_pending - arrived:
            raise Failed(f"{len(missing)} pending updates never arrived; the first was of {min(missing)}")
        if len(arrived) != ledger["accepted"]:
            raise Failed(f"{ledger['accepted']} updates were accepted, {len(arrived)} arrived")
        summary = self.simulator.summary()
        if summary["lastLocationsBackInTime"] or summary["pastLocationsOutOfOrder"]:
            raise Failed(f"updates arrived out of order: {summary}")
        if not self.seen_points:
            raise Failed("no shape point was ever pending; the drives are too straight")
        return ledger["accepted"], summary["repeatedFixes"]

    def words(self) -> str:
        return (self.directory / "replay.err").read_text(errors="replace")[-2000:]
