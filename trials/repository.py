"""The package from a signed Debian repository, on a fresh system."""

from __future__ import annotations

import argparse
import functools
import http.server
import os
import shutil
import subprocess
import threading
from pathlib import Path

from .backlog import Backlog
from .failure import Failed
from .package import CONFIGURATION, LATER, Packages, dependencies, packaged
from .processes import call
from .simulator import Simulator
from .system import System
from .waypost import ROOT

KEY, SOURCES = "/etc/apt/keyrings/waypost.asc", "/etc/apt/sources.list.d/waypost.sources"


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


class WebServer(http.server.ThreadingHTTPServer):
    """Serves the files of a directory, like any web server."""

    def __init__(self, directory: Path) -> None:
        super().__init__(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(directory)))
        self.origin = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self.shutdown()
        self.server_close()


class SigningKey:
    """A key for one trial, in a file as written by `gpg --export-secret-keys`."""

    def __init__(self, directory: Path, name: str) -> None:
        self.path, ring = directory / f"{name}.key", directory / f"{name}.ring"
        ring.mkdir(mode=0o700)
        gpg = ["env", f"GNUPGHOME={ring}", "gpg", "--quiet", "--batch"]
        call(*gpg, "--passphrase", "", "--quick-generate-key", f"{name} <{name}@waypost.invalid>", "ed25519", "sign", "1d")
        self.path.write_text(call(*gpg, "--armor", "--export-secret-keys"))
        call("env", f"GNUPGHOME={ring}", "gpgconf", "--kill", "all")


class Repository(Packages):
    """Installs and upgrades a fresh Debian from a signed repository. A changed package and another signer must be
    rejected.
    """

    name = "repository-test"
    tools = {"apt-ftparchive": "apt-utils", "dpkg-deb": "dpkg", "gpg": "gnupg", "mmdebstrap": "mmdebstrap",
             "nsenter": "util-linux"}

    @classmethod
    def prepare(cls, arguments: argparse.Namespace) -> None:
        Backlog.prepare(arguments)
        arguments.package = arguments.package or str(packaged(call("dpkg", "--print-architecture").strip()))
        arguments.system = ROOT / f"build/repository-test-{arguments.release}"
        shutil.rmtree(arguments.system, ignore_errors=True)
        # No library that Waypost needs is installed. apt fetches the libraries now, because the trial has its own network.
        System.make(arguments.system, arguments.release, [])
        shutil.copy("/etc/resolv.conf", arguments.system / "etc/resolv.conf")
        for command in (["update"], ["install", "--download-only", "--no-install-recommends",
                                     *dependencies(Path(arguments.package))]):
            subprocess.run(["chroot", arguments.system, "apt-get", "--quiet=2", "--yes", *command], check=True,
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def run(self) -> str:
        self.ends_with(lambda: shutil.rmtree(self.arguments.system, ignore_errors=True))
        self.package = Path(self.arguments.package)
        self.key, self.repository = SigningKey(self.directory, "release"), self.directory / "apt"
        self.publish(self.key, self.package)
        self.web = WebServer(self.repository)
        self.ends_with(self.web.stop)
        self.publish(self.key, self.package)  # again, now with the server's address
        self.simulator = Simulator(self.waypost, self.directory)
        self.ends_with(self.simulator.stop)
        self.system = System(self.arguments.system, self.directory / "systemd.log")
        self.system.boot()
        self.ends_with(self.system.end)
        self.times: list[tuple[str, float]] = []

        self.step("repository added", self.add)
        self.step("installed", self.install)
        self.step("configured", self.configure)
        self.step("delivering", self.start)
        self.step("backlog made", self.start_with_a_backlog)
        self.step("upgraded", lambda: self.replace(self.repacked(LATER, change_example=True)))
        self.step("changed package rejected", self.refuse_changed)
        self.step("other signer rejected", self.refuse_other_signer)
        self.step("drained", self.drain)
        times = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in self.times)
        return f"Debian {self.arguments.release}: {times}; {self.accepted} accepted, delivered and arrived"

    def publish(self, key: SigningKey, *packages: Path) -> None:
        """Adds the packages to the repository, like `make apt-repository`."""
        incoming = self.directory / "incoming"
        shutil.rmtree(incoming, ignore_errors=True)
        incoming.mkdir()
        for package in packages:
            fields = call("dpkg-deb", "--field", package, "Package", "Version", "Architecture")
            name, version, architecture = (line.partition(": ")[2] for line in fields.splitlines())
            shutil.copy(package, incoming / f"{name}_{version}_{architecture}.deb")
        origin = getattr(self, "web", None)
        made = subprocess.run(
            [ROOT / "scripts/apt-repository", key.path], stdin=subprocess.DEVNULL, capture_output=True, text=True,
            env=os.environ | {"PACKAGES": str(incoming), "REPOSITORY": str(self.repository),
                              "ORIGIN": origin.origin if origin else "http://127.0.0.1"})
        if made.returncode != 0:
            raise Failed(f"scripts/apt-repository: {made.stderr}")

    # The commands of an operator.

    def apt(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.system.attempt("apt-get", "--quiet", "--yes", "-o", "Dpkg::Options::=--force-confdef",
                                   "-o", "Dpkg::Options::=--force-confold", *words)

    def update(self) -> subprocess.CompletedProcess[str]:
        """Updates the lists of this repository only."""
        return self.apt("update", "-o", f"Dir::Etc::SourceList={SOURCES}", "-o", "Dir::Etc::SourceParts=-",
                        "-o", "APT::Get::List-Cleanup=0", "-o", "APT::Update::Error-Mode=any")

    def add(self) -> None:
        for name, place in (("waypost.asc", KEY), ("waypost.sources", SOURCES)):
            self.system.file(place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(self.repository / name, self.system.file(place))
            self.system.file(place).chmod(0o644)
        # apt reports a missing file as ignored, and falls back to the index whose name doesn't change.
        if "Ign:" in (updated := self.expect(self.update())):
            raise Failed(f"the repository lacks a file that apt asked for: {updated}")

    def dpkg(self, *words: object) -> subprocess.CompletedProcess[str]:
        """Publishes the package, unless it is the first one, and installs it with apt."""
        if words[-1] == self.package:
            return self.apt("install", "--no-install-recommends", "waypost")
        assert isinstance(words[-1], Path)
        self.publish(self.key, words[-1])
        self.expect(self.update())
        return self.apt("install", "--only-upgrade", "waypost")

    def refuse_changed(self) -> None:
        """Changes one byte of a package after it was signed: apt must reject it."""
        version = self.version()
        newer = self.repacked("99.3", change_example=False)
        self.publish(self.key, newer)
        self.expect(self.update())
        [published] = self.repository.glob("pool/main/w/waypost/waypost_99.3_*.deb")
        content = bytearray(published.read_bytes())
        content[len(content) // 2] ^= 1
        published.write_bytes(content)
        refused = self.apt("install", "--only-upgrade", "waypost")
        if refused.returncode == 0 or "Hash Sum mismatch" not in refused.stderr:
            raise Failed(f"apt didn't reject a changed package: {refused.stdout}{refused.stderr}")
        if self.version() != version:
            raise Failed(f"the version was {version} and is now {self.version()}")

    def refuse_other_signer(self) -> None:
        stranger, package = SigningKey(self.directory, "stranger"), self.repacked("99.4", change_example=False)
        try:
            self.publish(stranger, package)
        except Failed as failure:
            if "which no vehicle has" not in str(failure):
                raise
        else:
            raise Failed("another key was accepted for the same repository")
        (self.repository / "waypost.asc").unlink()
        self.publish(stranger, package)
        refused = self.update()
        if refused.returncode == 0 or "NO_PUBKEY" not in refused.stderr and "Missing key" not in refused.stderr:
            raise Failed(f"apt didn't reject another signer's repository: {refused.stdout}{refused.stderr}")
        if self.system.file(CONFIGURATION).read_text() != self.edited:
            raise Failed("the edited configuration was overwritten")
