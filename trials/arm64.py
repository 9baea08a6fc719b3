"""The package for arm64 under emulation, in the Debian releases that it supports, compared with x86-64."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import time
from pathlib import Path

from . import emulated_tests
from .emulation import EmulatedSystem, emulated_arm64, guest_memory
from .failure import Failed, require
from .package import dependencies, packaged
from .processes import call
from .service import Feed, Service
from .simulator import Simulator
from .trial import Option, Trial, count
from .waypost import ROOT, Waypost, configuration

RELEASES = ("12", "13")
# The release in which the tests run, because their shared Swift libraries for arm64 run there.
TESTED = "13"
DRIVE = ROOT / "fixtures/nmea/town.nmea"
DEMO_SECONDS = 600
SETTLE_SECONDS = 60
RESIDENT_MEBIBYTES = 22


class OtherArchitecture(Trial):
    """Compares the package for arm64 with that for x86-64 in Debian 12 and 13 under qemu, and runs the tests."""

    name = "arm64-test"
    options = (Option("--seconds", 60, "seconds of service, after which its memory is read", count),
               Option("--limit", 900, "maximum seconds of a module's tests", count))
    root = "it makes systems, and"
    tools = {"arch-test": "arch-test", "mmdebstrap": "mmdebstrap", "qemu-aarch64-static": "qemu-user-static"}

    @classmethod
    def prepare(cls, arguments: argparse.Namespace) -> None:
        arguments.package = packaged("arm64")
        emulated_tests.build()
        arguments.systems = {release: EmulatedSystem(ROOT / f"build/arm64-test-{release}") for release in RELEASES}
        with emulated_arm64():
            for release, system in arguments.systems.items():
                shutil.rmtree(system.root, ignore_errors=True)
                tools = emulated_tests.TOOLS if release == TESTED else ()
                system.make(system.root, release, [*dependencies(arguments.package), *tools])

    def run(self) -> str:
        with emulated_arm64():
            results = [self.installed(release, system) for release, system in self.arguments.systems.items()]
            results.append(emulated_tests.run(self.arguments.systems[TESTED], self.directory, self.arguments.limit))
        return "\n".join([*results, "arm64 was tested under qemu, not on a board"])

    def installed(self, release: str, system: EmulatedSystem) -> str:
        """Installs the package in a system. Returns the results of its program, compared with x86-64."""
        logs = [directory for directory in (ROOT / "fixtures/nmea", ROOT.parent / "shared/data") if directory.is_dir()]
        system.furnish(ROOT, *logs[1:])
        directory = self.directory / release
        directory.mkdir()
        system.call("dpkg", "--install", self.arguments.package)
        there = Waypost(system.program(directory / "waypost", "/usr/bin/waypost"))
        found, expected = call(there.path, "--version").split()[-1], call(ROOT / "scripts/version").strip()
        if found != expected:
            raise Failed(f"the package contains version {found}, not {expected}; type: make deb ARCH=arm64")

        files = [file for log in logs for file in sorted(log.rglob("*")) if file.is_file()]
        expected = {file: fixes(self.waypost, file) for file in files}
        if differ := [str(file) for file in files if fixes(there, file) != expected[file]]:
            raise Failed(f"Debian {release}: the fixes of {len(differ)} of {len(files)} files differ: {differ}")
        lines = sum(written.count(b"\n") for _, written, _ in expected.values())
        demo = system.call("/usr/bin/waypost", "demo", seconds=DEMO_SECONDS)
        size = (system.root / "usr/bin/waypost").stat().st_size / 2**20
        return (f"Debian {release}: {lines} fixes of {len(files)} files are the same as on x86-64; {self.replayed(there, directory)}; "
                f"demo: {' '.join(demo.split())}; binary {size:.1f} MiB; {self.resident(there, directory)}")

    def replayed(self, there: Waypost, directory: Path) -> str:
        """Delivers a drive as fast as possible. Everything that was accepted must arrive."""
        simulator = Simulator(there, directory)
        simulator.start()
        self.ends_with(simulator.stop)
        configured = configuration(directory / "replay.json", simulator.origin)
        call(*there.replay(DRIVE, configured))
        accepted, arrived = there.ledger(configured)["accepted"], len(simulator.record.fixes())
        simulator.stop()
        return require(f"replay: {arrived} of {accepted}", ("not everything arrived", arrived == accepted > 0))

    def resident(self, there: Waypost, directory: Path) -> str:
        """Measures the service's resident memory on each architecture, after a while with a receiver and a Fleet Engine.
        """
        found, seconds = [], self.arguments.seconds
        for name, waypost in (("arm64", there), ("x86-64", self.waypost)):
            place = directory / name
            place.mkdir()
            simulator = Simulator(self.waypost, place)
            simulator.start()
            self.ends_with(simulator.stop)
            service = Service(waypost, configuration(place / "config.json", simulator.origin), place / "service.log")
            self.ends_with(service.kill)
            feed = Feed(service)
            time.sleep(seconds)
            feed.end()
            maps = Path(f"/proc/{service.process.pid}/smaps").read_text()
            kibibytes = guest_memory(maps) if waypost is there else service.memory("VmRSS")
            delivered = service.settle(SETTLE_SECONDS)["ledger"]["delivered"]
            service.stop()
            simulator.stop()
            found.append((name, kibibytes / 1024, delivered))
        figures = ", ".join(f"{name} {mebibytes:.1f} MiB, {delivered} delivered" for name, mebibytes, delivered in found)
        return require(f"resident after {seconds} s: {figures}",
                       *((f"{name} has more than {RESIDENT_MEBIBYTES} MiB", 0 < mebibytes <= RESIDENT_MEBIBYTES)
                         for name, mebibytes, _ in found))


def fixes(waypost: Waypost, log: Path) -> tuple[int, bytes, bytes]:
    """Returns the exit status and the output of `waypost fixes`."""
    ended = subprocess.run([waypost.path, "fixes", log], stdin=subprocess.DEVNULL, capture_output=True)
    return ended.returncode, ended.stdout, ended.stderr
