"""The Debian package, on systems like an operator's."""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import shutil
import socketserver
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .backlog import Backlog
from .drive import epoch
from .failure import Failed, require
from .processes import call
from .simulator import Simulator
from .system import System
from .trial import Option, Trial
from .waiting import until
from .waypost import ROOT, Ledger, Waypost, configuration

CONFIGURATION = "/etc/waypost/config.json"
STORE = "/var/lib/waypost/outbox.sqlite"
PATIENCE = 60
INSTALLED_SECONDS = 300  # the time that an operator has from package to delivery
# Later versions of the same package, which is repacked, not built.
LATER, BROKEN = "99.1", "99.2"


def packaged(architecture: str) -> Path:
    """Returns the package that `make deb` made for an architecture."""
    found = sorted((ROOT / "build/deb").glob(f"waypost_*_{architecture}.deb"))
    if len(found) != 1:
        raise SystemExit(f"{len(found)} packages for {architecture} are in build/deb; type: make deb ARCH={architecture}")
    return found[0]


def dependencies(package: Path) -> list[str]:
    """Returns the packages that the package depends on. A system needs them to install it without a network."""
    depends = call("dpkg-deb", "--field", package, "Depends").strip()
    return [re.split(r"[ |(]", word.strip())[0] for word in depends.split(",")]


class Receiver(socketserver.ThreadingTCPServer):
    """A receiver in the vehicle's network, at 1 Hz."""

    allow_reuse_address = daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _ReceiverLine)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def stop(self) -> None:
        """Stops listening. Connected programs still receive data."""
        self.shutdown()
        self.server_close()


class _ReceiverLine(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        with contextlib.suppress(OSError):  # the program has disconnected
            while True:
                now = time.time()
                self.wfile.write(epoch(int(now) % 100_000, now).encode())
                time.sleep(1)


class Installed(Trial):
    """A trial of the service that is installed in a system."""

    system: System

    def ledger(self) -> Ledger:
        answer = self.system.attempt("waypost", "status", "--json", "--config", CONFIGURATION)
        if answer.returncode not in (0, 1):  # 1 means that there is a problem
            raise Failed(f"waypost status exited with {answer.returncode}: {answer.stderr}")
        ledger: Ledger = json.loads(answer.stdout)["ledger"]
        return ledger

    def wait_for_ledger(self, what: str, claim: Callable[[Ledger], bool]) -> None:
        def holds() -> bool:
            try:
                return claim(self.ledger())
            except Failed:
                return False  # the service isn't up yet

        if not until(holds, PATIENCE, pause=0.2):
            words = self.system.attempt("journalctl", "--unit", "waypost", "--no-pager", "--lines", "30").stdout
            raise Failed(f"not within {PATIENCE} s: {what}; {words}")


class Packages(Installed):
    """Installs, upgrades, downgrades, removes and purges the package in a Debian with systemd: nothing accepted may be
    lost.
    """

    name = "deb-test"
    options = (Option("--updates", 10_000, "the number of pending updates at the upgrade"),)
    root = "it boots a system"
    tools = {"dpkg-deb": "dpkg", "mmdebstrap": "mmdebstrap", "nsenter": "util-linux"}

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        Backlog.add_options(parser)
        parser.add_argument("--release", default="12", help="of Debian (default 12)")
        parser.add_argument("--package", help="the package (default: the one in build/deb)")

    @classmethod
    def prepare(cls, arguments: argparse.Namespace) -> None:
        Backlog.prepare(arguments)
        if arguments.package is None:
            ours = call("dpkg", "--print-architecture").strip()
            arguments.package = str(packaged(ours))
        arguments.system = ROOT / f"build/deb-test-{arguments.release}"
        shutil.rmtree(arguments.system, ignore_errors=True)
        System.make(arguments.system, arguments.release, dependencies(Path(arguments.package)))

    def run(self) -> str:
        self.ends_with(lambda: shutil.rmtree(self.arguments.system, ignore_errors=True))
        self.package = Path(self.arguments.package)
        self.simulator = Simulator(self.waypost, self.directory)
        self.ends_with(self.simulator.stop)
        self.system = System(self.arguments.system, self.directory / "systemd.log")
        self.system.boot()
        self.ends_with(self.system.end)
        self.times: list[tuple[str, float]] = []

        self.refuse_beside_one_by_hand()
        self.step("installed", self.install)
        self.step("configured", self.configure)
        self.step("delivering", self.start)
        self.step("reloaded three times", self.reload)
        installed = sum(seconds for _, seconds in self.times)
        self.step("backlog made", self.start_with_a_backlog)
        self.step("upgraded", lambda: self.replace(self.repacked(LATER, change_example=True)))
        self.step("upgrade that fails", self.fail_to_upgrade)
        self.step("downgraded", lambda: self.replace(self.package))
        self.step("drained", self.drain)
        self.step("removed", self.remove)
        self.step("installed again", self.install_again)
        self.step("purged", self.purge)
        times = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in self.times)
        return require(
            f"Debian {self.arguments.release}: {times}; {self.accepted} accepted, delivered and arrived",
            (f"not delivering within {INSTALLED_SECONDS} s", installed <= INSTALLED_SECONDS))

    def step(self, name: str, action: Callable[[], None]) -> None:
        begin = time.monotonic()
        action()
        self.times.append((name, time.monotonic() - begin))

    # The steps of an operator.

    def refuse_beside_one_by_hand(self) -> None:
        by_hand = self.system.file("/usr/local/bin/waypost")
        by_hand.touch()
        refused = self.dpkg("--install", self.package)
        if refused.returncode == 0 or "make uninstall" not in refused.stderr:
            raise Failed(f"installed next to one built by hand: {refused.stderr}")
        by_hand.unlink()

    def install(self) -> None:
        self.expect(self.dpkg("--install", self.package))
        owner = self.system.call("stat", "--format", "%U:%G %a", CONFIGURATION).strip()
        if owner != "root:waypost 640":
            raise Failed(f"{CONFIGURATION} is {owner}")
        if (state := self.system.property("waypost", "ActiveState")) != "inactive":
            raise Failed(f"the service is {state} before it is configured")
        if words := self.system.call(
                "systemd-analyze", "verify", "--man=no", self.system.property("waypost", "FragmentPath")):
            raise Failed(f"systemd reports problems of the unit: {words}")

    def configure(self) -> None:
        receiver = Receiver()
        self.ends_with(receiver.stop)
        written = configuration(
            self.directory / "config.json", self.simulator.origin,
            receiver={"type": "tcp", "host": "127.0.0.1", "port": receiver.server_address[1]}, outbox={"path": STORE},
            status={"listen": "127.0.0.1:9464"})
        # An editor also keeps the file with its permissions.
        self.system.file(CONFIGURATION).write_text(written.read_text())
        self.edited = written.read_text()
        # Root checks in the sandbox, as in the README; the service's user checks outside it.
        for user, lines in (("root", 1), ("waypost", 2)):
            said = self.system.call("waypost", "check", user=user)
            if said.count("\n") != lines or "ok " not in said or ("sandbox not checked" in said) != (user == "waypost"):
                raise Failed(f"the check by {user} reports more than success: {said}")
        self.check_in_sandbox()

    def check_in_sandbox(self) -> None:
        """Checks configurations with a directory, a device and a file in /tmp that the unit hides from the service."""
        for section, key, path, words in (
                ("outbox", "path", "/data/outbox.sqlite", "ReadWritePaths=/data"),
                ("receiver", "device", "/dev/ttySC0", "DeviceAllow=/dev/ttySC0 rw"),
                ("authorization", "path", "/tmp/token", "hides /tmp from it")):
            written = json.loads(self.edited)
            written[section] = {"path": path} if section == "outbox" else {
                "type": "serial" if section == "receiver" else "file", key: path}
            self.system.call("mkdir", "--parents", "/data")
            self.system.attempt("mknod", "--mode=660", "/dev/ttySC0", "c", "204", "209")
            self.system.call("chgrp", "dialout", "/dev/ttySC0")
            self.system.file(CONFIGURATION).write_text(json.dumps(written))
            checked = self.system.attempt("waypost", "check")
            if checked.returncode != 78 or words not in checked.stdout:
                raise Failed(f"{path}: the check in the sandbox exited with {checked.returncode}: {checked.stdout}{checked.stderr}")
        self.system.file(CONFIGURATION).write_text(self.edited)

    def start(self) -> None:
        self.simulator.start()
        self.system.call("systemctl", "enable", "waypost")
        self.system.attempt("systemctl", "start", "waypost")
        self.wait_for_ledger("a position is delivered", lambda ledger: ledger["delivered"] >= 1)

    def reload(self) -> None:
        """Reloads a valid, an invalid and the first configuration. The process keeps its id, and systemd sees it ready."""
        process = self.system.property("waypost", "MainPID")
        changed = json.dumps(json.loads(self.edited) | {"log": {"level": "debug"}})
        for text, is_rejected, reloads in ((changed, False, 1), ("{", True, 1), (self.edited, False, 2)):
            accepted = self.status()["ledger"]["accepted"]
            self.system.file(CONFIGURATION).write_text(text)
            self.system.call("systemctl", "reload", "waypost")

            def is_done() -> bool:
                with contextlib.suppress(OSError):  # the status address is closed while the process executes itself
                    status = self.status()
                    journal = self.system.call("journalctl", "--unit", "waypost", "--no-pager", "--output", "cat")
                    return (journal.count("configuration reloaded") == reloads and status["ledger"]["accepted"] > accepted
                            and is_rejected == any(found["code"] == "reload_rejected" for found in status["conditions"]))
                return False

            if not until(is_done, PATIENCE, pause=0.2):
                raise Failed(f"not within {PATIENCE} s: the reload of {text}")
            state = tuple(self.system.property("waypost", name) for name in ("MainPID", "ActiveState", "SubState", "NRestarts"))
            if state != (process, "active", "running", "0"):
                raise Failed(f"after a reload the service is {state}; its process was {process}")

    def status(self) -> Any:
        """Returns the status without the configuration, which a command would have to read. The network is the trial's."""
        with urllib.request.urlopen("http://127.0.0.1:9464/status", timeout=10) as answer:
            return json.load(answer)

    def start_with_a_backlog(self) -> None:
        self.system.call("systemctl", "stop", "waypost")
        self.simulator.stop()
        made = self.directory / "backlog.sqlite"
        subprocess.run([self.arguments.generator, made, str(self.arguments.updates)], check=True)
        self.system.call("rm", "-r", "/var/lib/waypost")
        self.system.call("install", "-d", "--owner=waypost", "--group=waypost", "--mode=750", "/var/lib/waypost")
        for file in self.directory.glob("backlog.sqlite*"):
            shutil.copy(file, self.system.file(STORE + file.name.removeprefix(made.name)))
        self.system.call("chown", "--recursive", "waypost:waypost", "/var/lib/waypost")
        self.system.call("systemctl", "start", "waypost")
        self.wait_for_ledger("more is accepted", lambda ledger: ledger["accepted"] > self.arguments.updates)

    def replace(self, package: Path) -> None:
        """Upgrades or downgrades: the service restarts with its outbox, and edited files are kept."""
        before, process = self.ledger(), self.system.property("waypost", "MainPID")
        self.expect(self.dpkg("--force-confdef", "--force-confold", "--install", package))
        if self.system.property("waypost", "MainPID") == process:
            raise Failed("the service was not restarted")
        if self.system.file(CONFIGURATION).read_text() != self.edited:
            raise Failed("the edited configuration was overwritten")
        if (owner := self.system.call("stat", "--format", "%U:%G %a", CONFIGURATION).strip()) != "root:waypost 640":
            raise Failed(f"{CONFIGURATION} is {owner}")
        self.wait_for_ledger("more is accepted", lambda ledger: ledger["accepted"] > before["accepted"])
        if (after := self.ledger())["pending"] < before["pending"]:
            raise Failed(f"before {before}, after {after}")

    def fail_to_upgrade(self) -> None:
        """Installs a package whose unpacking fails: the previous version must keep running."""
        version, before = self.version(), self.ledger()
        broken = self.repacked(BROKEN, change_example=False)
        broken.write_bytes(broken.read_bytes()[:-200_000])
        failed = self.dpkg("--install", broken)
        if failed.returncode == 0:
            raise Failed("a truncated package was installed")
        if (after := self.version()) != version:
            raise Failed(f"the version was {version} and is now {after}: {failed.stderr}")
        self.wait_for_ledger("more is accepted", lambda ledger: ledger["accepted"] > before["accepted"])

    def drain(self) -> None:
        self.simulator.start()
        self.wait_for_ledger("all is delivered", lambda ledger: ledger["accepted"] > 0 and ledger["pending"] == 0)
        self.system.call("systemctl", "stop", "waypost")
        ledger = self.ledger_at_rest()
        self.accepted = ledger["accepted"]
        arrived = {arrival.fixed for arrival in self.simulator.record.all()}
        # The first position was accepted before the outbox was replaced by the one with a backlog.
        if ledger["delivered"] != self.accepted or len(arrived) < self.accepted:
            raise Failed(f"{ledger}, and {len(arrived)} arrived")

    def remove(self) -> None:
        self.system.call("systemctl", "start", "waypost")
        removed = self.expect(self.dpkg("--remove", "waypost"))
        if "/var/lib/waypost is kept" not in removed or not self.system.file(STORE).exists():
            raise Failed(f"the outbox isn't kept, or this isn't reported: {removed}")
        if (state := self.system.property("waypost", "ActiveState")) not in ("inactive", "failed"):
            raise Failed(f"the removed service is {state}")

    def install_again(self) -> None:
        self.expect(self.dpkg("--install", self.package))
        if self.system.file(CONFIGURATION).read_text() != self.edited:
            raise Failed("the edited configuration was overwritten")
        self.system.call("systemctl", "start", "waypost")
        self.wait_for_ledger("the ledger continues", lambda ledger: ledger["accepted"] > self.accepted)

    def purge(self) -> None:
        purged = self.expect(self.dpkg("--purge", "waypost"))
        if STORE not in purged or self.system.file("/var/lib/waypost").exists():
            raise Failed(f"a purge left files, or doesn't report what it deleted: {purged}")
        if self.system.file(CONFIGURATION).exists():
            raise Failed(f"{CONFIGURATION} is left")

    # The system's answers.

    def dpkg(self, *words: object) -> subprocess.CompletedProcess[str]:
        """Runs dpkg in the system; a `Path` names a package outside it."""
        brought: list[object] = []
        for word in words:
            if isinstance(word, Path):
                shutil.copy(word, self.system.file("/waypost.deb"))
                word = "/waypost.deb"
            brought.append(word)
        return self.system.attempt("dpkg", *brought)

    def expect(self, ended: subprocess.CompletedProcess[str]) -> str:
        if ended.returncode != 0:
            raise Failed(f"dpkg exited with {ended.returncode}: {ended.stdout}{ended.stderr}")
        return ended.stdout + ended.stderr

    def version(self) -> str:
        return self.system.call("dpkg-query", "--show", "--showformat", "${db:Status-Abbrev} ${Version}", "waypost")

    def repacked(self, version: str, change_example: bool) -> Path:
        """Returns the same package with another version and, if requested, a changed example."""
        tree, package = self.directory / f"tree-{version}", self.directory / f"waypost_{version}.deb"
        call("dpkg-deb", "--raw-extract", self.package, tree)
        control = tree / "DEBIAN/control"
        control.write_text(re.sub(r"(?m)^Version: .*$", f"Version: {version}", control.read_text()))
        if change_example:
            example = tree / CONFIGURATION.removeprefix("/")
            example.write_text(example.read_text() + "\n")
        call("dpkg-deb", "--build", "--root-owner-group", tree, package)
        return package

    def ledger_at_rest(self) -> Ledger:
        [listing] = [json.loads(line) for line in self.system.call(
            "waypost", "outbox", "list", "--json", "--config", CONFIGURATION, user="waypost").splitlines()]
        return {word: listing[word] for word in ("accepted", "delivered", "pending")}
