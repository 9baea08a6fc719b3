"""Vans that Ansible enrols, and a van whose disk is a read-only image."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

from .failure import Failed
from .package import CONFIGURATION, PATIENCE, STORE, Installed, Receiver, dependencies, packaged
from .processes import call
from .simulator import Simulator
from .system import System
from .token_backend import Backend
from .trial import Option, count
from .waiting import until
from .waypost import ROOT

VAN = "van-1"
IDENTITY = "/var/lib/vehicle"  # the files that identify this van, with a read-only image
PLAY_SECONDS = 300
# The maximum time from the first process until the service is ready, on a busy machine. There is no network, receiver or
# server, and a program that requests an address never ends.
START_SECONDS = 20
HANGING = """[Unit]
DefaultDependencies=no
Wants=network.target
Before=network.target

[Service]
Type=oneshot
ExecStart=/bin/sleep infinity
TimeoutStartSec=infinity

[Install]
WantedBy=multi-user.target
"""
# For Ansible this is a chroot, but the commands run in the system that was booted there.
ENTER = """#!/bin/sh
shift
exec nsenter --target {process} --mount --pid --uts --ipc --cgroup --wd=/ \\
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 "$@"
"""


class Fleet(Installed):
    """Runs Ansible twice to enrol a van in a Debian with systemd, and boots the result as a read-only image, which loses
    power.
    """

    name = "fleet-test"
    options = (Option("--boots", 3, "how often the image is booted", count),)
    root = "it boots a system"
    tools = {"ansible-playbook": "ansible", "dpkg-deb": "dpkg", "gunicorn": "gunicorn", "mmdebstrap": "mmdebstrap",
             "nsenter": "util-linux", "openssl": "openssl"}

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--release", default="12", help="of Debian (default 12)")
        parser.add_argument("--package", help="the package (default: the one in build/deb)")

    @classmethod
    def prepare(cls, arguments: argparse.Namespace) -> None:
        if arguments.package is None:
            arguments.package = str(packaged(call("dpkg", "--print-architecture").strip()))
        arguments.system = ROOT / f"build/fleet-test-{arguments.release}"
        shutil.rmtree(arguments.system, ignore_errors=True)
        # The programs that Ansible needs are part of the system.
        System.make(arguments.system, arguments.release,
                    [*dependencies(Path(arguments.package)), "python3", "python3-apt"])

    def run(self) -> str:
        self.ends_with(lambda: shutil.rmtree(self.arguments.system, ignore_errors=True))
        self.backend = Backend(self.directory)
        self.simulator = Simulator(self.waypost, self.directory)
        self.simulator.start("--trust-key", self.backend.public)
        self.ends_with(self.simulator.stop)
        self.backend.start(self.simulator.origin)
        self.ends_with(self.backend.stop)
        self.receiver = Receiver()
        self.ends_with(lambda: self.receiver.stop())
        self.system = System(self.arguments.system, self.directory / "systemd.log")
        self.system.boot()
        self.ends_with(lambda: self.system.end())

        results = [self.enrol(), self.change(), self.credentials(), self.refuse()]
        self.make_image()
        self.system.end()
        results.append(self.boot_image())
        return f"Debian {self.arguments.release}: " + "; ".join(results)

    # Ansible.

    def enrol(self) -> str:
        changes, seconds = self.play(self.configuration())
        self.wait_for_ledger("a position is delivered", lambda ledger: ledger["delivered"] >= 1)
        again, again_seconds = self.play(self.configuration())
        if not changes or again:
            raise Failed(f"the first run changed {changes}, the second {again}")
        if (found := (self.directory / "before-key").read_text().split()) != ["750", "0", "640", "0"]:
            raise Failed(f"mode and owner of the directory, mode and size of the key file, before there was a key: {found}")
        key = self.system.file("/etc/waypost/backend-key").read_text().strip()
        if (rights := self.system.call("stat", "--format", "%U:%G %a", "/etc/waypost/backend-key").strip()) != "root:waypost 640":
            raise Failed(f"the key's file is {rights}")
        secret = key.partition(":")[2]
        if any(secret in path.read_text() for path in self.directory.glob("*.log")):
            raise Failed("a log contains the key")
        return f"enrolled with {changes} changes in {seconds:.0f} s, then none in {again_seconds:.0f} s"

    def change(self) -> str:
        """Changes the configuration: a valid one must be applied by a reload, and an invalid one must change nothing."""
        process = self.system.property("waypost", "MainPID")
        changes, _ = self.play(self.configuration(reporting={"intervalSeconds": 7}))
        if changes != 2 or self.system.property("waypost", "MainPID") != process:
            raise Failed(f"a new configuration made {changes} changes or restarted the service; expected: a new file and a reload")
        changes, _ = self.play(self.configuration(outbox={"maximumAgeDays": 10}))
        if changes != 2 or self.system.property("waypost", "MainPID") != process:
            raise Failed(f"another outbox made {changes} changes or restarted the service; expected: a new file and a reload")
        process, written = self.system.property("waypost", "MainPID"), self.system.file(CONFIGURATION).read_text()
        words = self.refused(self.configuration(reporting={"intervalSeconds": 0}))
        if "intervalSeconds" not in words or self.system.file(CONFIGURATION).read_text() != written:
            raise Failed(f"an invalid configuration was written, or its error isn't reported: {words}")
        if self.system.property("waypost", "MainPID") != process:
            raise Failed("an invalid configuration restarted the service")
        return "a new configuration is applied, an invalid one rejected"

    def credentials(self) -> str:
        """Passes the key as a credential: encrypted, in plain text, and in a form that systemd can't decrypt."""
        encrypted, name = "/etc/credstore.encrypted/waypost.backend-key", "waypost.backend-key"
        self.system.call("mkdir", "--parents", "--mode=700", "/etc/credstore.encrypted")
        self.system.call("systemd-creds", "encrypt", f"--name={name}", "/etc/waypost/backend-key", encrypted)
        # systemd passes a credential at the start, and the role checks the new configuration before the service uses it.
        written = self.system.file(CONFIGURATION).read_text()
        self.system.call("systemctl", "restart", "waypost")
        self.play(self.configuration(
            outbox={"maximumAgeDays": 10}, authorization={"headers": {"Authorization": {"credential": name, "scheme": "basic"}}}))
        self.until_delivered("with the encrypted credential")
        drop_in = self.system.file("/etc/systemd/system/waypost.service.d/plain.conf")
        drop_in.parent.mkdir()
        drop_in.write_text(f"[Service]\nLoadCredentialEncrypted=\nLoadCredential={name}:/etc/waypost/backend-key\n")
        self.restarted()
        self.until_delivered("with the plain credential")
        drop_in.unlink()
        self.system.file(encrypted).write_text("not encrypted")
        self.restarted()
        if not until(lambda: "status=243/CREDENTIALS" in self.journal(), START_SECONDS, pause=0.2):
            raise Failed(f"the journal doesn't report that the credential can't be decrypted: {self.journal()}")
        self.system.file(encrypted).unlink()
        self.system.file(CONFIGURATION).write_text(written)
        self.restarted()
        self.until_delivered("with the key's file again")
        return "its key is passed as a credential, encrypted or plain, but not if it can't be decrypted"

    def restarted(self) -> None:
        self.system.call("systemctl", "daemon-reload")
        self.system.attempt("systemctl", "restart", "waypost")

    def until_delivered(self, how: str) -> None:
        """Waits until this process of the service has fetched a token and delivered an update."""
        def delivers() -> bool:
            answer = self.system.attempt("waypost", "status", "--json", "--config", CONFIGURATION).stdout
            status = json.loads(answer) if answer else {}
            return status.get("counts", {}).get("tokenFetches", 0) > 0 and status["delivery"].get("secondsSinceDelivery") is not None

        if not until(delivers, PATIENCE, pause=0.2):
            raise Failed(f"nothing is delivered {how}: {self.journal()}")

    def journal(self) -> str:
        return self.system.attempt("journalctl", "--unit", "waypost", "--no-pager", "--lines", "30").stdout

    def refuse(self) -> str:
        words = self.refused({**self.configuration(), "waypost_vehicle_id": "van-2"})
        if f"The van is {VAN} and not van-2" not in words:
            raise Failed(f"the role doesn't reject another vehicle id: {words}")
        self.system.file("/etc/waypost/backend-key").rename(self.directory / "keys/backend-key")
        words = self.refused(self.configuration())
        if "already enrolled; revoke it first" not in words:
            raise Failed(f"the role doesn't report the lost key: {words}")
        (self.directory / "keys/backend-key").rename(self.system.file("/etc/waypost/backend-key"))
        return "another id and a second enrolment are rejected"

    def configuration(self, **sections: dict[str, Any]) -> dict[str, Any]:
        """Returns the role's variables; `sections` replace parts of the configuration's sections with the same names."""
        written: dict[str, dict[str, Any]] = {
            "vehicle": {"providerId": "trial", "vehicleId": {"file": "/etc/vehicle-id"}},
            "receiver": {"type": "tcp", "host": "127.0.0.1", "port": self.receiver.server_address[1]},
            "authorization": {
                "type": "http", "url": f"http://127.0.0.1:{self.backend.port}/token/driver/{{vehicleId}}",
                "headers": {"Authorization": {"file": "/etc/waypost/backend-key", "scheme": "basic"}}},
            "reporting": {"intervalSeconds": 5, "heartbeatSeconds": 60}, "upload": {"endpoint": self.simulator.origin},
            "outbox": {"path": STORE}}
        # Records the permissions of the key's directory and file before there is a key.
        place = self.system.file("/etc/waypost")
        look = (f"stat --format '%a %u' {place} >{self.directory}/before-key; "
                f"stat --format '%a %s' {place}/backend-key >>{self.directory}/before-key; exec \"$@\"")
        return {
            "waypost_package": self.arguments.package,
            "waypost_enrol_command": ["sh", "-c", look, "sh", *self.backend.enrol_command("{{ waypost_vehicle_id }}")],
            "waypost_configuration": {name: section | sections.get(name, {}) for name, section in written.items()}}

    def play(self, variables: dict[str, Any]) -> tuple[int, float]:
        """Returns the number of changes that the playbook made, and its duration."""
        begin = time.monotonic()
        ended, words = self.playbook(variables)
        recap = re.search(rf"{VAN} .*changed=(\d+) .*failed=0", words)
        if ended != 0 or recap is None:
            raise Failed(f"ansible-playbook exited with {ended}: {words}")
        return int(recap[1]), time.monotonic() - begin

    def refused(self, variables: dict[str, Any]) -> str:
        ended, words = self.playbook(variables)
        if ended == 0:
            raise Failed(f"the playbook should have failed: {words}")
        return words

    def playbook(self, variables: dict[str, Any]) -> tuple[int, str]:
        enter = self.directory / "enter"
        enter.write_text(ENTER.format(process=self.system.first))
        enter.chmod(0o755)
        inventory = self.directory / "inventory.json"
        inventory.write_text(json.dumps({"vans": {"hosts": {VAN: {
            "ansible_connection": "community.general.chroot", "ansible_host": str(self.system.root),
            "ansible_chroot_exe": str(enter), "ansible_become": False, "ansible_python_interpreter": "/usr/bin/python3",
            **variables}}}}))
        surroundings = {**os.environ, "ANSIBLE_HOME": str(self.directory / "ansible"), "ANSIBLE_NOCOLOR": "1",
                        "ANSIBLE_RETRY_FILES_ENABLED": "0", "ANSIBLE_LOCALHOST_WARNING": "0", "LC_ALL": "C.UTF-8"}
        ended = subprocess.run(
            ["ansible-playbook", "--inventory", str(inventory), str(ROOT / "packaging/ansible/playbook.yml")],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=surroundings,
            timeout=PLAY_SECONDS)
        with open(self.directory / "ansible.log", "a") as log:
            log.write(ended.stdout)
        return ended.returncode, ended.stdout

    # A read-only image.

    def make_image(self) -> None:
        """Changes the system like the maker of an image: id and key move to the state, and /tmp to memory."""
        configuration = self.system.file(CONFIGURATION)
        text = configuration.read_text()
        for name in ("/etc/vehicle-id", "/etc/waypost/backend-key"):
            text = text.replace(name, f"{IDENTITY}/{name.rpartition('/')[2]}")
        configuration.write_text(text)
        self.state = self.directory / "state"
        identity = self.state / IDENTITY.removeprefix("/var/")
        identity.mkdir(parents=True)
        for name in ("/etc/vehicle-id", "/etc/waypost/backend-key"):
            file = self.system.file(name)
            owner = file.stat()
            shutil.move(file, identity / file.name)
            os.chown(identity / file.name, owner.st_uid, owner.st_gid)
        self.state.chmod(0o755)
        # An interface that waits for an address, like `auto eth0` of ifupdown.
        self.system.file("/etc/systemd/system/networking.service").write_text(HANGING)
        self.system.call("systemctl", "enable", "networking.service")
        if not self.system.file("/usr/lib/systemd/system/tmp.mount").exists():
            shutil.copy(self.system.file("/usr/share/systemd/tmp.mount"), self.system.file("/etc/systemd/system/tmp.mount"))
        self.system.call("systemctl", "enable", "tmp.mount")

    def boot_image(self) -> str:
        accepted, slowest = 0, 0.0
        for _ in range(self.arguments.boots):
            self.simulator.stop()
            self.receiver.stop()
            begin = time.monotonic()
            self.system.boot(self.state)
            up = until(lambda: self.system.property("waypost", "ActiveState") == "active", START_SECONDS, pause=0.1)
            slowest = max(slowest, time.monotonic() - begin)
            if not up:
                raise Failed(f"not up within {START_SECONDS} s: "
                             + self.system.attempt("systemctl", "status", "waypost", "--no-pager").stdout)
            if (left := self.system.attempt("touch", "/etc/anything")).returncode == 0:
                raise Failed(f"the image can be written: {left}")
            self.simulator.start("--trust-key", self.backend.public)
            self.receiver = Receiver(self.receiver.server_address[1])
            # Nothing of the previous boot is lost, and the ledger continues.
            self.wait_for_ledger("the ledger continues", lambda ledger: ledger["accepted"] > accepted and not ledger["pending"])
            accepted = self.ledger()["accepted"]
            self.system.end()
        return f"{self.arguments.boots} boots of the image without network and receiver, ready after {slowest:.1f} s at most"
