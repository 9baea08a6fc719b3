"""A disk that fills up while the service runs."""

from __future__ import annotations

import argparse
import shutil
import signal
import threading
import time
from pathlib import Path

from .drive import NARROW_METERS, moment
from .failure import Failed
from .processes import call
from .service import Feed, Service
from .simulator import Simulator
from .trial import Option, Trial, count
from .waypost import Ledger, Waypost, configuration

FAULTS = ["--errors", "503:0.1", "--resets", "0.02"]
DISK_BYTES = 4 << 20
DRIVE_BEGAN = 5 * 86_400  # the start of the drive, in seconds before now
# The seconds of the drive per second of the trial. An update is due every five seconds of the drive.
PACE = 100
# An event that takes more seconds than this is missing. The limit is generous for a loaded machine.
PATIENCE = 60
# A store keeps up to 1,024 pages that a drained backlog left free. Each page has room for about fifteen updates.
FILL_SECONDS = PATIENCE + 1024 * 15 * 5 // PACE


class Filler(threading.Thread):
    """Uses up all space while the disk should be full, including the space that the service frees."""

    def __init__(self, disk: Path) -> None:
        super().__init__(daemon=True)
        self.file, self.is_full = disk / "filler", False
        self._ended, self._turn = threading.Event(), threading.Lock()
        self.start()

    def run(self) -> None:
        while not self._ended.wait(0.02):
            with self._turn:
                if self.is_full:
                    self._fill()

    def _fill(self) -> None:
        try:
            with open(self.file, "ab", buffering=0) as file:
                while file.write(b"x" * 4096):
                    pass
        except OSError:
            pass

    def free(self) -> None:
        with self._turn:
            self.is_full = False
            self.file.unlink(missing_ok=True)

    def end(self) -> None:
        self._ended.set()
        self.join()


class FullDisk(Trial):
    """Fills the disk of a running `waypost run`: the service must keep running and send the live position, and nothing may
    be lost.
    """

    name = "disk-test"
    options = (Option("--rounds", 20, "how often the disk is filled", count),)
    has_seed = True
    root = "mounting a small file system"

    def __init__(self, arguments: argparse.Namespace, waypost: Waypost, directory: Path) -> None:
        super().__init__(arguments, waypost, directory)
        self.disk, self.recording = directory / "disk", directory / "recording"
        self.simulator = Simulator(waypost, directory)
        self.configuration = configuration(
            directory / "config.json", self.simulator.origin, outbox={"path": str(self.disk / "outbox.sqlite")},
            upload={"retry": {"initialDelaySeconds": 0.05, "maximumDelaySeconds": 0.2}})
        # The times of the fixes that the outbox accepted, in seconds since 1970.
        self.accepted: set[float] = set()

    def run(self) -> str:
        self.disk.mkdir(mode=0o700)
        call("mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", self.disk)
        self.ends_with(lambda: call("umount", "--lazy", self.disk))
        self.ends_with(self.simulator.stop)
        self.simulator.start(*FAULTS)
        self.service = Service(
            self.waypost, self.configuration, self.directory / "service.log", options=["--record", self.recording])
        self.ends_with(self.service.kill)
        self.filler = Filler(self.disk)
        self.ends_with(self.filler.end)
        try:
            first = round(time.time()) - DRIVE_BEGAN
            self.feed = Feed(self.service, first, PACE, NARROW_METERS)
            self.service.wait("the service delivers", self.newest, PATIENCE)
            for number in range(1, self.arguments.rounds + 1):
                self.round(number)
            ledger, unstored = self.conclude(first)
        except Failed:
            self.keep_store()
            raise
        return (f"{self.arguments.rounds} of {self.arguments.rounds} times the disk was full: the service kept running, the live "
                f"position was sent, nothing was lost ({ledger['accepted']} accepted, delivered and arrived, "
                f"{unstored} sent from memory only; seed {self.arguments.seed}, {self.seconds()} s)")

    def round(self, number: int) -> None:
        self.filler.is_full = True
        # While nothing is delivered, pending updates need space until none is left.
        self.simulator.signal(signal.SIGSTOP)
        try:
            self.service.wait(f"round {number}: the outbox is full", lambda: self.says(is_memory_only=True), FILL_SECONDS)
        finally:
            self.simulator.signal(signal.SIGCONT)
        seen = self.newest()

        def newer() -> str | None:
            return now if (now := self.newest()) > seen else None

        for _ in range(3):
            seen = self.service.wait(
                f"round {number}: the live position arrives while the disk is full", newer, PATIENCE)
        time.sleep(self.chance.uniform(0, 1))
        self.filler.free()
        self.service.wait(
            f"round {number}: the outbox accepts updates again", lambda: self.says(is_memory_only=False), PATIENCE)
        time.sleep(self.chance.uniform(0, 2))
        self.note_accepted()

    def says(self, is_memory_only: bool) -> bool:
        """Returns whether the service answers, and reports that updates are stored or, with `is_memory_only`, that they aren't.
        """
        status = self.service.status()
        return status is not None and any(found["code"] == "disk_full" for found in status["conditions"]) == is_memory_only

    def newest(self) -> str:
        return max(self.simulator.vehicle()["fixTimes"], default="")

    def note_accepted(self) -> None:
        """Reads the updates accepted so far from the log that the service records on another disk."""
        for path in self.recording.glob("log-*.txt"):
            with open(path) as lines:
                self.accepted |= {moment(line.split()[-1]) for line in lines
                                  if " debug: accepted update " in line and line.endswith("\n")}

    def conclude(self, first: int) -> tuple[Ledger, int]:
        """Waits until everything is delivered while the disk has space, and checks the counts. Returns the ledger and the
        number of updates that were never stored.
        """
        stated = {float(first + second) for second in range(self.feed.end())}
        unstored: int = self.service.settle(PATIENCE)["counts"]["notStored"]
        self.service.stop()
        self.note_accepted()
        ledger = self.waypost.ledger(self.configuration)
        if ledger["delivered"] != ledger["accepted"]:
            raise Failed(f"not everything was delivered: {ledger}")
        # This is exact: each second of the drive has its own time of fix, an update has the time of its fix, and the
        # recording names the update once the outbox has accepted it. All others that arrived were sent from memory only.
        if len(self.accepted) != ledger["accepted"]:
            raise Failed(f"the ledger has {ledger['accepted']} accepted updates, the recorded log {len(self.accepted)}")
        arrived = self.simulator.record.fixes()
        if lost := self.accepted - arrived:
            raise Failed(f"{len(lost)} of {ledger['accepted']} accepted updates never arrived; the first is of {min(lost)}")
        if len(arrived - self.accepted) > unstored:
            raise Failed(f"{len(arrived - self.accepted)} updates arrived that weren't accepted, but only {unstored} weren't stored")
        if strangers := arrived - stated:
            raise Failed(f"{len(strangers)} times of fix arrived that no receiver stated; the first is {min(strangers)}")
        if list(self.disk.glob("*.damaged-*")):
            raise Failed("a full disk was treated as damage: " + self.service.last_words())
        return ledger, unstored

    def keep_store(self) -> None:
        """Copies the store for an investigation, because the disk is removed when the trial ends."""
        self.filler.end()
        self.service.kill()
        shutil.copytree(self.disk, self.directory / "store", ignore=shutil.ignore_patterns("filler"))
