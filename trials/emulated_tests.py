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
# The runtime of the compiler that scripts/cross uses. Programs linked with it need a newer C library than Debian 12's.
RUNTIME = Path(os.environ.get("CROSS", "/var/cache/waypost/arm64")) / "swift/runtime/swift/linux"
# Tests of these modules start programs, with time limits that an emulator exceeds. Their failures are reported, but
# don't fail the trial.
STARTING = frozenset({
    "AgentTests", "BackendAuthorizationTests", "CurlTransportTests", "DeliverySimulationTests",
    "FleetEngineSimulatorTests", "GNSSReceiverTests", "LinkTests", "SQLiteOutboxTests"})
LEFT_OUT = {"ArchitectureTests": "it only reads the sources"}
# Limitations of the emulator: a test that fails because of one is reported with the reason.
EMULATOR = {"LinuxPlatformTests.SerialLines/useTheirBaudRate(baudRate:speed:)": "qemu 7.2 sets no rate above 460,800 baud"}
# Programs that some tests need. A test whose program is missing is skipped and reports it.
TOOLS = ("faketime", "gpsd", "libstdc++6", "nginx-light", "openssl", "procps")


class Outcome(NamedTuple):
    """The results of the tests of one module, by test name."""

    cases: int
    passed: frozenset[str]
    failed: frozenset[str]
    left_out: frozenset[str]
    is_whole: bool

    @staticmethod
    def read(events: Iterable[str]) -> Outcome:
        """Reads the events of one run. A test that didn't end has failed."""
        cases, is_whole = 0, False
        tests: dict[str, set[str]] = {"testStarted": set(), "testEnded": set(), "testSkipped": set(), "issueRecorded": set()}
        for line in events:
            try:
                event = json.loads(line)
            except ValueError:
                continue  # the run ended while this line was written
            payload = event["payload"] if event["kind"] == "event" else {}
            kind, test = payload.get("kind"), payload.get("testID", "")
            cases += kind == "testCaseEnded"
            is_whole |= kind == "runEnded"
            # A suite's name doesn't contain its file.
            if kind in tests and ".swift:" in test and not payload.get("issue", {}).get("isKnown", False):
                tests[kind].add(test.rpartition("/")[0])
        failed = tests["issueRecorded"] | tests["testStarted"] - tests["testEnded"]
        return Outcome(
            cases, frozenset(tests["testEnded"] - failed), frozenset(failed), frozenset(tests["testSkipped"]), is_whole)


def modules() -> list[str]:
    """Returns the names of all modules with tests, the largest first."""
    sizes = {directory.name: sum(file.stat().st_size for file in directory.rglob("*.swift")) for directory in ROOT.glob("Tests/*Tests")}
    return sorted(sizes.keys() - LEFT_OUT.keys(), key=lambda name: -sizes[name])


def build() -> None:
    """Builds the tests like a release, but with testability.

    They are linked in a Debian 12, whose C library lacks symbols that Swift's shared libraries find where the tests run.
    """
    place, kind = BUILD
    subprocess.run([ROOT / "scripts/cross", "env", "ONLY_BUILD=1", "scripts/test", "--scratch-path", place,
                    "--configuration", kind, "-Xswiftc", "-enable-testing", "-Xlinker", "--allow-shlib-undefined"],
                   cwd=ROOT, check=True)


def run(system: EmulatedSystem, directory: Path, limit: int) -> str:
    """Runs the tests in a system with the package, whose program they start; one module at a time per processor."""
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
    left_out = [f"{name} left out: {reason}" for name, reason in LEFT_OUT.items()]
    return "; ".join([judge(outcomes, round(time.monotonic() - began)), *left_out])


def command(system: EmulatedSystem, name: str, directory: Path, limit: int) -> list[str]:
    """Returns the command that runs the tests of one module for at most this many seconds, and writes their events to
    `directory`.
    """
    return ["timeout", "--kill-after=10", str(limit), *system.command(
        ROOT.joinpath(*BUILD, "waypostPackageTests.xctest"), "--testing-library", "swift-testing", "--no-parallel",
        "--filter", f"^{name}[.]", "--event-stream-output-path", directory / f"{name}.jsonl", "--event-stream-version", 0,
        LD_LIBRARY_PATH=RUNTIME, WAYPOST_PROGRAM="/usr/bin/waypost")]


def judge(outcomes: Mapping[str, Outcome], seconds: int) -> str:
    """Reports the passed and failed tests. Only the tests of modules that start no programs must have passed."""
    passed = sum(len(outcome.passed) for outcome in outcomes.values())
    ended = passed + sum(len(outcome.failed) for outcome in outcomes.values())
    left_out = sum(len(outcome.left_out) for outcome in outcomes.values())
    summary = (f"{sum(outcome.cases for outcome in outcomes.values())} test cases; {passed} of {ended} tests passed in "
               f"{len(outcomes)} modules, {left_out} left out, in {seconds} s")
    free = {name: outcome for name, outcome in outcomes.items() if name in STARTING}
    if failed := sorted(test for outcome in free.values() for test in outcome.failed):
        summary += f"; failed in modules that start programs: {', '.join(failed)}"
    if broken_off := sorted(name for name, outcome in free.items() if not outcome.is_whole):
        summary += f"; stopped early: {', '.join(broken_off)}"
    bound = {name: outcome for name, outcome in outcomes.items() if name not in STARTING}
    wrong = {name: outcome.failed - EMULATOR.keys() for name, outcome in bound.items()}
    for test in sorted(EMULATOR.keys() & {test for outcome in bound.values() for test in outcome.failed}):
        summary += f"; {test} failed: {EMULATOR[test]}"
    return require(
        summary,
        *((f"{name}: {', '.join(sorted(tests))} failed", not tests) for name, tests in wrong.items()),
        *((f"{name} stopped early", outcome.is_whole) for name, outcome in bound.items()),
        *((f"no test of {name} passed", bool(outcome.passed)) for name, outcome in bound.items()))
