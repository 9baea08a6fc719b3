"""System calls that fail."""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from . import guard
from .drive import NARROW_METERS, moment, write_drive
from .failure import Failed
from .simulator import Simulator, disorder
from .trial import Option, Trial
from .waypost import ROOT, Waypost, configuration

CALLS = {
    "write": "write,pwrite64",
    "sync": "fsync,fdatasync",
    "open": "openat",
    "rename": "rename,renameat,renameat2",
}
ERRORS = ("ENOSPC", "EIO", "EINTR")
LAST_CALL = 200  # per thread, as strace counts
DRIVE_SECONDS = 600
WRITTEN = ["output", "errors"] + [f"config.sqlite{suffix}" for suffix in (
    "", "-wal", "-shm", ".lock", ".reserve", ".count", ".rebuilt", ".rebuilt-wal", ".rebuilt-shm")]
RUN_SECONDS = 120
WORKERS = 2
# After this many runs of a kind without a failed call, all further runs would be the same.
UNREACHED = 3
# The exit codes for success, failure, bad data, unavailable and bad configuration. The loader exits with 127 if it can't
# open a library.
NAMED = (0, 1, 65, 69, 78)
LOADER = "error while loading shared libraries"
# libdispatch ends a process that can't read the state of its own threads. If /proc/self/maps can't be read, Swift's
# runtime finds no arguments, which is reported as wrong usage. A program can't prevent either.
RUNTIME_READS, RUNTIME_ENDS = re.compile(r'"/proc/(\d+/stat|self/maps)"'), (-signal.SIGILL, 64)
# The maximum number of broken runs that are printed, because one cause may break many.
SHOWN = 10


class Case(NamedTuple):
    """A failing system call: its kind, its error, and its number within the run."""

    call: str
    error: str
    number: int

    @property
    def kind(self) -> str:
        return f"{self.call}:{self.error}"

    def strace(self, directory: Path, trace: Path) -> list[str]:
        calls = CALLS[self.call]
        command = ["strace", "-f", "-qq", "-o", str(trace), "-e", f"trace={calls}", "-e", "signal=none",
                   "-e", f"inject={calls}:error={self.error}:when={self.number}"]
        if self.call != "write":
            return [*command, "--seccomp-bpf"]
        # An eventfd never fails like a file, so only writes to the store and to the output fail.
        return command + [word for name in WRITTEN for word in ("-P", str(directory / name))]

    def reproduction(self) -> str:
        if self.error == "short":
            return f"LD_PRELOAD=short-writes.so SHORT_WRITE={self.number} waypost replay ..."
        return " ".join([*self.strace(Path("DIRECTORY"), Path("trace")), "waypost replay ..."])


class Ended(NamedTuple):
    """The end of a run, and its output."""

    status: int
    output: str
    errors: str

    def words(self) -> str:
        return (self.output + self.errors)[-500:]

    def reported_count(self) -> int:
        """Returns the number of updates that the run reported as accepted."""
        try:
            accepted: int = json.loads(self.output)["accepted"]
            return accepted
        except (json.JSONDecodeError, KeyError):
            return 0


class Found(NamedTuple):
    """The result of a case."""

    case: Case
    status: int | None
    was_injected: bool
    loss: str | None


class FailingCalls(Trial):
    """Makes one system call of `waypost replay` fail in each run, out of the first 200 of a kind: it must not crash, and
    nothing may be lost.
    """

    name = "fault-test"
    options = (Option("--calls", LAST_CALL, "the number of calls of each kind, at increasing distances"),)
    tools = {"strace": "strace", "clang": "clang"}

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--only", help="only one kind, such as sync:EIO or write:short")

    def run(self) -> str:
        chosen = [kind for kind in cases(numbers(self.arguments.calls)) if self.arguments.only in (None, kind[0].kind)]
        shorten = self.directory / "short-writes.so"
        subprocess.run(["clang", "-shared", "-fPIC", "-O1", "-o", str(shorten),
                        str(ROOT / "Tests/Faults/ShortWrites.c"), "-ldl"], check=True)
        benches: queue.Queue[Bench] = queue.Queue()
        for worker in range(WORKERS):
            bench = Bench(self.waypost, shorten, self.directory / str(worker))
            self.ends_with(bench.simulator.stop)
            bench.simulator.start()
            benches.put(bench)
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            kinds = list(pool.map(lambda kind: examine_kind(kind, benches), chosen))
        for found in kinds:
            print(row(found))
        if idle := [found[0].case.kind for found in kinds if not any(one.was_injected for one in found)]:
            raise Failed(f"no call of {', '.join(idle)} failed; check that strace may trace here")
        if not kinds:
            raise Failed(f"{self.arguments.only} isn't a kind of fault")
        runs, broken = sum(map(len, kinds)), [one for found in kinds for one in found if one.loss]
        for one in broken[:SHOWN]:
            print(f"fault-test: {one.case.reproduction()}: {one.loss}", file=sys.stderr)
        if broken:
            raise Failed(f"{len(broken)} of {runs} runs broke a promise")
        return f"{runs} runs, no crash, nothing accepted was lost ({self.seconds()} s)"


class Bench:
    """One worker's directory: a simulator, two consecutive drives, and an outbox for each case."""

    def __init__(self, waypost: Waypost, shorten: Path, directory: Path) -> None:
        self.waypost, self.shorten, self.directory = waypost, shorten, directory
        directory.mkdir()
        self.simulator = Simulator(waypost, directory)
        begin = round(time.time()) - 3 * DRIVE_SECONDS
        self.drives = [directory / "first.nmea", directory / "second.nmea"]
        for number, path in enumerate(self.drives):
            write_drive(path, begin + number * (DRIVE_SECONDS + 60), DRIVE_SECONDS, NARROW_METERS)

    def examine(self, case: Case) -> Found:
        directory = self.directory / f"{case.call}-{case.error}-{case.number}"
        directory.mkdir()
        configured = configuration(directory / "config.json", self.simulator.origin)
        status, was_injected, loss = None, True, None
        try:
            ended, failed = self.faulty(case, configured, directory)
            status, was_injected = ended.status, bool(failed)
            judge_end(ended, failed)
            accepted, pending = self.judge_store(ended, configured)
            self.judge_clean_run(configured, accepted, pending)
            shutil.rmtree(directory)
        except Failed as failure:
            loss = str(failure)
        except subprocess.TimeoutExpired as late:
            loss = f"no end within {late.timeout:.0f} s"
        self.simulator.record.news()
        return Found(case, status, was_injected, loss)

    def replay(self, drive: Path, configured: Path, before: Sequence[str] = (),
               environment: Mapping[str, str] | None = None) -> Ended:
        """Runs the program to its end. Its output goes to files, which can fail like all files."""
        outputs = [configured.parent / "output", configured.parent / "errors"]
        with open(outputs[0], "wb") as output, open(outputs[1], "wb") as errors:
            process = subprocess.Popen(
                [*before, *self.waypost.replay(drive, configured)], stdin=subprocess.DEVNULL, stdout=output,
                stderr=errors, env=environment, start_new_session=True)
        try:
            status = process.wait(timeout=RUN_SECONDS)
        except subprocess.TimeoutExpired:
            # Killing strace alone would leave the traced program behind.
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
        printed, said = (path.read_text(errors="replace") for path in outputs)
        return Ended(status, printed, said.strip())

    def faulty(self, case: Case, configured: Path, directory: Path) -> tuple[Ended, list[str]]:
        """Runs a replay in which a call fails. Returns its end, and the trace lines of the calls that failed."""
        trace = directory / "trace"
        if case.error == "short":
            environment = dict(os.environ, LD_PRELOAD=str(self.shorten), SHORT_WRITE=str(case.number),
                               SHORT_WRITE_TRACE=str(trace))
            ended = self.replay(self.drives[0], configured, environment=environment)
        else:
            ended = self.replay(self.drives[0], configured, before=case.strace(directory, trace))
        lines = trace.read_text(errors="replace").splitlines() if trace.exists() else []
        return ended, [line for line in lines if "(INJECTED)" in line]

    def pending(self, configured: Path) -> set[float]:
        return {moment(update["time"]) for update in self.waypost.outbox(configured, "export")}

    def judge_store(self, ended: Ended, configured: Path) -> tuple[int, set[float]]:
        """Returns the contents of the outbox after the fault: the number of accepted updates, and the pending ones."""
        if not configured.with_suffix(".sqlite").exists():
            return 0, set()
        words, pending = self.waypost.ledger(configured), self.pending(configured)
        if words["evicted"] or words["quarantined"] or len(pending) != words["pending"]:
            raise Failed(f"after the fault, the ledger is {words}, but {len(pending)} updates are pending: {ended.words()}")
        if ended.reported_count() > words["accepted"]:
            raise Failed(f"{ended.reported_count()} updates were reported as accepted, but {words['accepted']} are: {ended.words()}")
        return words["accepted"], pending

    def judge_clean_run(self, configured: Path, accepted: int, pending: set[float]) -> None:
        ended = self.replay(self.drives[1], configured)
        if ended.status != 0:
            raise Failed(f"the clean run after it exits with {ended.status}: {ended.words()}")
        words = self.waypost.ledger(configured)
        arrivals = self.simulator.record.news()
        arrived = {arrival.fixed for arrival in arrivals}
        if words["delivered"] != words["accepted"] or words["accepted"] < accepted + 1:
            raise Failed(f"after the clean run, the ledger is {words}; {accepted} updates were accepted before")
        if missing := pending - arrived:
            raise Failed(f"{len(missing)} accepted updates never arrived; the first is of {min(missing)}")
        if len(arrived) < words["accepted"]:
            raise Failed(f"{words['accepted']} updates were accepted, {len(arrived)} arrived")
        if wrong := disorder(arrivals):
            raise Failed(f"an update arrived out of order: {wrong[0]}")


def judge_end(ended: Ended, failed: list[str]) -> None:
    if ended.status == 127 and LOADER in ended.output + ended.errors:
        return
    if ended.status in RUNTIME_ENDS and any(RUNTIME_READS.search(line) for line in failed):
        return
    if ended.status not in NAMED:
        raise Failed(f"exits with {ended.status}: {ended.words()}")
    could_speak = not any(" write(2, " in line for line in failed)
    if ended.status != 0 and could_speak and not ended.errors:
        raise Failed(f"exits with {ended.status} and no message")


def numbers(count: int) -> list[int]:
    """Returns the numbers of `count` calls at increasing distances, or of all calls."""
    if count >= LAST_CALL:
        return list(range(1, LAST_CALL + 1))
    return sorted({round(LAST_CALL ** (index / max(1, count - 1))) for index in range(count)})


def cases(numbers: list[int]) -> list[list[Case]]:
    """Returns the cases of each kind of fault, in order."""
    kinds = [(call, error) for call in CALLS for error in ERRORS] + [("write", "short")]
    return [[Case(call, error, number) for number in numbers] for call, error in kinds]


def examine_kind(kind: list[Case], benches: queue.Queue[Bench]) -> list[Found]:
    """Runs the cases of one kind until no call is left to fail."""
    bench = benches.get()
    try:
        found: list[Found] = []
        for case in kind:
            if guard.is_ending:
                break
            found.append(bench.examine(case))
            if len(found) >= UNREACHED and not any(one.was_injected for one in found[-UNREACHED:]):
                break
        return found
    finally:
        benches.put(bench)


def row(found: list[Found]) -> str:
    """Returns the exit statuses of the runs of a kind in which a call failed."""
    case, reached = found[0].case, [one for one in found if one.was_injected]
    statuses = collections.Counter(one.status for one in reached)
    words = ", ".join(f"{count} exited with {status}" for status, count in sorted(statuses.items(), key=str))
    return f"{case.call:7} {case.error:7} {len(reached):4} calls failed: {words or 'none was made'}"
