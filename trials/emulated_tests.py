"""The project's own tests, built for arm64 and run under emulation, one module after the other."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from .emulation import EmulatedSystem
from .failure import require
from .processes import end_now, start
from .waypost import ROOT

BUILD = (".build/arm64", "release")
# Of the compiler that scripts/cross has; what it links needs a newer C library than Debian 12's.
RUNTIME = Path(os.environ.get("CROSS", "/var/cache/waypost/arm64")) / "swift/runtime/swift/linux"
# Their tests start programs, with limits of time that an emulator exceeds: what fails there is told, and fails nothing.
STARTING = frozenset({
    "AgentTests", "BackendAuthorizationTests", "CurlTransportTests", "DeliverySimulationTests",
    "FleetEngineSimulatorTests", "GNSSReceiverTests", "LinkTests", "SQLiteOutboxTests"})
LEFT_OUT = {"ArchitectureTests": "it reads the sources, and runs nothing of them"}
# What the emulator does not do: a test that does not pass for it is told with the reason.
EMULATOR = {"LinuxPlatformTests.SerialLines/hasItsBaudRate(baudRate:speed:)": "qemu 7.2 sets no rate above 460,800 baud"}
# What stands behind some tests; those whose program is not there are left out, and say so.
TOOLS = ("faketime", "gpsd", "libstdc++6", "nginx-light", "openssl", "procps")


class Outcome(NamedTuple):
    """What became of the tests of one module, by their names."""

    cases: int
    passed: frozenset[str]
    failed: frozenset[str]
    left_out: frozenset[str]
    is_whole: bool

    @staticmethod
    def read(events: Iterable[str]) -> Outcome:
        """Of the events of one run; a test that did not come to its end has failed."""
        cases, is_whole = 0, False
        told: dict[str, set[str]] = {"testStarted": set(), "testEnded": set(), "testSkipped": set(), "issueRecorded": set()}
        for line in events:
            try:
                event = json.loads(line)
            except ValueError:
                continue  # the run ended while it was written
            payload = event["payload"] if event["kind"] == "event" else {}
            kind, test = payload.get("kind"), payload.get("testID", "")
            cases += kind == "testCaseEnded"
            is_whole |= kind == "runEnded"
            # A suite has no place in a file in its name.
            if kind in told and ".swift:" in test and not payload.get("issue", {}).get("isKnown", False):
                told[kind].add(test.rpartition("/")[0])
        failed = told["issueRecorded"] | told["testStarted"] - told["testEnded"]
        return Outcome(
            cases, frozenset(told["testEnded"] - failed), frozenset(failed), frozenset(told["testSkipped"]), is_whole)


def modules() -> list[str]:
    """Every module of tests that there is something to run of, those with most to run first."""
    sizes = {directory.name: sum(file.stat().st_size for file in directory.rglob("*.swift")) for directory in ROOT.glob("Tests/*Tests")}
    return sorted(sizes.keys() - LEFT_OUT.keys(), key=lambda name: -sizes[name])


def build() -> None:
    """Builds the tests as a release is built, but with what they may see of it.

    They are linked in a Debian 12, whose C library lacks what Swift's shared libraries find where the tests run.
    """
    place, kind = BUILD
    subprocess.run([ROOT / "scripts/cross", "env", "ONLY_BUILD=1", "scripts/test", "--scratch-path", place,
                    "--configuration", kind, "-Xswiftc", "-enable-testing", "-Xlinker", "--allow-shlib-undefined"],
                   cwd=ROOT, check=True)


def run(system: EmulatedSystem, directory: Path, limit: int) -> str:
    """Runs them in a system that has the package, whose program is what they start; one module on each processor."""
    system.show(RUNTIME)
    began = time.monotonic()
    waiting, outcomes = modules(), dict[str, Outcome]()
    running: dict[str, subprocess.Popen[bytes]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < (os.cpu_count() or 1):
                name = waiting.pop(0)
                running[name] = start(*command(system, name, directory, limit), log=directory / f"{name}.log")
            time.sleep(1)
            for name in [name for name, program in running.items() if program.poll() is not None]:
                del running[name]
                events = directory / f"{name}.jsonl"
                outcomes[name] = Outcome.read(events.read_text().splitlines() if events.exists() else [])
    finally:
        for program in running.values():
            end_now(program)
    told = [f"{name} left out: {reason}" for name, reason in LEFT_OUT.items()]
    return "; ".join([judge(outcomes, round(time.monotonic() - began)), *told])


def command(system: EmulatedSystem, name: str, directory: Path, limit: int) -> list[str]:
    """What runs the tests of one module, for so many seconds at most, and writes their events to `directory`."""
    return ["timeout", "--kill-after=10", str(limit), *system.command(
        ROOT.joinpath(*BUILD, "waypostPackageTests.xctest"), "--testing-library", "swift-testing", "--no-parallel",
        "--filter", f"^{name}[.]", "--event-stream-output-path", directory / f"{name}.jsonl", "--event-stream-version", 0,
        LD_LIBRARY_PATH=RUNTIME, WAYPOST_PROGRAM="/usr/bin/waypost")]


def judge(outcomes: Mapping[str, Outcome], seconds: int) -> str:
    """Tells what passed and what did not; only what starts no program must have passed."""
    passed = sum(len(outcome.passed) for outcome in outcomes.values())
    ended = passed + sum(len(outcome.failed) for outcome in outcomes.values())
    left_out = sum(len(outcome.left_out) for outcome in outcomes.values())
    told = (f"{sum(outcome.cases for outcome in outcomes.values())} test cases in {passed} tests passed of {ended} in "
            f"{len(outcomes)} modules, {left_out} left out, in {seconds} s")
    free = {name: outcome for name, outcome in outcomes.items() if name in STARTING}
    if failed := sorted(test for outcome in free.values() for test in outcome.failed):
        told += f"; of modules that start programs did not pass: {', '.join(failed)}"
    if broken_off := sorted(name for name, outcome in free.items() if not outcome.is_whole):
        told += f"; broken off: {', '.join(broken_off)}"
    bound = {name: outcome for name, outcome in outcomes.items() if name not in STARTING}
    wrong = {name: outcome.failed - EMULATOR.keys() for name, outcome in bound.items()}
    for test in sorted(EMULATOR.keys() & {test for outcome in bound.values() for test in outcome.failed}):
        told += f"; {test} did not pass: {EMULATOR[test]}"
    return require(
        told,
        *((f"{name}: {', '.join(sorted(tests))} did not pass", not tests) for name, tests in wrong.items()),
        *((f"{name} did not come to its end", outcome.is_whole) for name, outcome in bound.items()),
        *((f"nothing of {name} ran", bool(outcome.passed)) for name, outcome in bound.items()))
