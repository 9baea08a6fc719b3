"""The package for arm64, in the Debian releases that it is for, under emulation, beside what x86-64 does."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import time
from pathlib import Path

from .emulation import EmulatedSystem, emulated_arm64, guest_memory
from .failure import Failed, require
from .package import dependencies, packaged
from .processes import call
from .service import Feed, Service
from .simulator import Simulator
from .trial import Option, Trial, count
from .waypost import ROOT, Waypost, configuration

RELEASES = ("12", "13")
# Tests are linked with Swift's shared libraries, of which those for arm64 need a newer C library than Debian 12 has.
TESTED = "13"
RUNTIME = Path("/var/cache/waypost/arm64/swift/runtime/swift/linux")
BUILD = ("--scratch-path", ".build/arm64", "--configuration", "release", "-Xswiftc", "-enable-testing")
# What stands behind some tests; a test without its program says that it is left out.
TOOLS = ("faketime", "gpsd", "nginx-light", "openssl", "procps", "python3")
DRIVE = ROOT / "fixtures/nmea/town.nmea"
DEMO_SECONDS = 600
SERVICE_SECONDS = 60
RESIDENT_MEBIBYTES = 22


class OtherArchitecture(Trial):
    """Installs the package for arm64 in Debian 12 and 13 and has it do what x86-64 does; runs the tests; all under qemu."""

    name = "arm64-test"
    options = (Option("--limit", 5400, "seconds that the tests may take", count),)
    root = "it makes systems, and"
    tools = {"mmdebstrap": "mmdebstrap", "qemu-aarch64-static": "qemu-user-static"}

    @classmethod
    def prepare(cls, arguments: argparse.Namespace) -> None:
        arguments.package = packaged("arm64")
        subprocess.run([ROOT / "scripts/cross", "env", "ONLY_BUILD=1", "scripts/test", *BUILD], check=True)
        arguments.systems = {release: EmulatedSystem(ROOT / f"build/arm64-test-{release}") for release in RELEASES}
        with emulated_arm64():
            for release, system in arguments.systems.items():
                shutil.rmtree(system.root, ignore_errors=True)
                tools = TOOLS if release == TESTED else ()
                system.make(system.root, release, [*dependencies(arguments.package), *tools])

    def run(self) -> str:
        with emulated_arm64():
            told = [self.installed(release, system) for release, system in self.arguments.systems.items()]
            told.append(self.tested(self.arguments.systems[TESTED]))
        return "\n".join([*told, "arm64 was seen under qemu, and on no board"])

    def installed(self, release: str, system: EmulatedSystem) -> str:
        """What the installed program does there."""
        logs = [folder for folder in (ROOT / "fixtures/nmea", ROOT.parent / "shared/data") if folder.is_dir()]
        system.furnish(ROOT, *logs[1:])
        folder = self.folder / release
        folder.mkdir()
        system.call("dpkg", "--install", self.arguments.package)
        there = Waypost(system.program(folder / "waypost", "/usr/bin/waypost"))
        if (version := call(there.path, "--version")) != call(self.waypost.path, "--version"):
            raise Failed(f"the package has {version.strip()}; type: make release && make deb ARCH=arm64")

        files = [file for log in logs for file in sorted(log.rglob("*")) if file.is_file()]
        expected = {file: fixes(self.waypost, file) for file in files}
        if differ := [str(file) for file in files if fixes(there, file) != expected[file]]:
            raise Failed(f"Debian {release}: the fixes of {len(differ)} of {len(files)} files differ: {differ}")
        lines = sum(written.count(b"\n") for _, written, _ in expected.values())
        demo = system.call("/usr/bin/waypost", "demo", seconds=DEMO_SECONDS)
        size = (system.root / "usr/bin/waypost").stat().st_size / 2**20
        return (f"Debian {release}: {lines} fixes of {len(files)} files are those of x86-64; {self.replayed(there, folder)}; "
                f"demo: {' '.join(demo.split())}; binary {size:.1f} MiB; {self.resident(there, folder)}")

    def replayed(self, there: Waypost, folder: Path) -> str:
        """Delivers a drive as fast as it goes; everything that was accepted must arrive."""
        simulator = Simulator(there, folder)
        simulator.start()
        self.ends_with(simulator.stop)
        configured = configuration(folder / "replay.json", simulator.origin)
        call(*there.replay(DRIVE, configured))
        accepted, arrived = there.ledger(configured)["accepted"], len(simulator.record.fixes())
        simulator.stop()
        return require(f"replay: {arrived} of {accepted}", ("not everything arrived", arrived == accepted > 0))

    def resident(self, there: Waypost, folder: Path) -> str:
        """What the service has resident after a minute with a receiver and a Fleet Engine, on either architecture."""
        found = []
        for name, waypost in (("arm64", there), ("x86-64", self.waypost)):
            place = folder / name
            place.mkdir()
            simulator = Simulator(self.waypost, place)
            simulator.start()
            self.ends_with(simulator.stop)
            service = Service(waypost, configuration(place / "config.json", simulator.origin), place / "service.log")
            self.ends_with(service.kill)
            feed = Feed(service)
            time.sleep(SERVICE_SECONDS)
            feed.end()
            maps = Path(f"/proc/{service.process.pid}/smaps").read_text()
            kibibytes = guest_memory(maps) if waypost is there else service.memory("VmRSS")
            delivered = service.settle(SERVICE_SECONDS)["ledger"]["delivered"]
            service.stop()
            simulator.stop()
            found.append((name, kibibytes / 1024, delivered))
        figures = ", ".join(f"{name} {mebibytes:.1f} MiB, {delivered} delivered" for name, mebibytes, delivered in found)
        return require(f"resident after {SERVICE_SECONDS} s: {figures}",
                       *((f"{name} has more than {RESIDENT_MEBIBYTES} MiB", 0 < mebibytes <= RESIDENT_MEBIBYTES)
                         for name, mebibytes, _ in found))

    def tested(self, system: EmulatedSystem) -> str:
        """The tests, as `make test` runs them."""
        system.show(RUNTIME)
        (system.root / "etc/ld.so.conf.d/swift.conf").write_text(f"{RUNTIME}\n")
        system.call("ldconfig")
        limit = int(self.arguments.limit)
        program = ROOT / ".build/arm64/release/waypostPackageTests.xctest"
        ended = subprocess.run(
            system.command(ROOT / "scripts/test", TEST_PROGRAM=program, LIMIT=limit, TEST_LOG=self.folder / "test.log"),
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=limit + 60)
        summary = ended.stderr.strip().splitlines()[-1]
        return require(f"tests in Debian {TESTED}: {summary}", ("tests fail", ended.returncode == 0))


def fixes(waypost: Waypost, log: Path) -> tuple[int, bytes, bytes]:
    """How `waypost fixes` ends, and what it writes."""
    ended = subprocess.run([waypost.path, "fixes", log], stdin=subprocess.DEVNULL, capture_output=True)
    return ended.returncode, ended.stdout, ended.stderr
