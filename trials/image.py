"""The container image, run from its root file system as a container runtime would."""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import termios
import threading
import time
import tty
from pathlib import Path
from typing import Any

from .drive import epoch
from .failure import Failed, require
from .processes import call
from .simulator import Simulator
from .trial import Trial
from .waiting import until
from .waypost import ROOT, Ledger, configuration

LAYOUT = ROOT / "build/image/waypost/layout"
LIMIT = 45_000_000
PATIENCE = 60
USER, DIALOUT = 10001, 20
# $0 is the root file system, read-only; $1 is the volume, $2 the configuration, $3 the receiver. The remaining
# arguments start the process that the image names, as the first one of its own namespace.
RUN = r"""
set -e
cd "$0"
mount --bind . . && cd "$0"
mount -t proc proc proc
mount -t tmpfs -o mode=755 dev dev
for node in null zero full random urandom; do touch dev/$node; mount --bind /dev/$node dev/$node; done
touch dev/gnss-receiver && mount --bind "$3" dev/gnss-receiver
mount -t tmpfs -o mode=1777 tmp tmp
mount --bind "$1" var/lib/waypost
touch etc/waypost/config.json 2>/dev/null || true
mount --bind "$2" etc/waypost/config.json
mount -o remount,bind,ro .
shift 3
exec chroot . setpriv --reuid=10001 --regid=10001 --groups=20 --no-new-privs --bounding-set=-all --inh-caps=-all \
    env -i --chdir=/var/lib/waypost PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
"""


class Terminal:
    """A receiver at 1 Hz on a pseudo-terminal, which stays while containers are replaced."""

    def __init__(self) -> None:
        self._receiver, line = pty.openpty()
        tty.setraw(line)
        self.path = os.ttyname(line)
        os.close(line)
        os.chown(self.path, 0, DIALOUT)
        os.chmod(self.path, 0o660)
        os.set_blocking(self._receiver, False)
        self._ended = threading.Event()
        threading.Thread(target=self._drive, daemon=True).start()

    def _drive(self) -> None:
        while not self._ended.wait(1):
            now = time.time()
            with contextlib.suppress(BlockingIOError):  # no process reads
                os.write(self._receiver, epoch(int(now) % 100_000, now).encode())

    def free(self) -> None:
        """Ends the exclusive use by a process that was killed. A serial port ends it by itself, a pseudo-terminal
        doesn't.
        """
        line = os.open(self.path, os.O_RDWR | os.O_NOCTTY)
        fcntl.ioctl(line, termios.TIOCNXCL)
        os.close(line)

    def stop(self) -> None:
        self._ended.set()


class Image(Trial):
    """Runs the image read-only and without root, and stops, kills and upgrades it: nothing may be lost."""

    name = "image-test"
    root = "it makes a container"
    tools = {"umoci": "umoci", "unshare": "util-linux"}

    @classmethod
    def prepare(cls, arguments: argparse.Namespace) -> None:
        if not LAYOUT.exists():
            raise SystemExit("there is no image in build/image; type: sudo make image")

    def run(self) -> str:
        self.size, self.image = self.describe()
        roots = [self.unpack("old"), self.unpack("new")]
        self.volume = self.directory / "volume"
        self.volume.mkdir()
        os.chown(self.volume, USER, USER)
        self.simulator = Simulator(self.waypost, self.directory)
        self.ends_with(self.simulator.stop)
        self.terminal = Terminal()
        self.ends_with(self.terminal.stop)
        self.config = configuration(
            self.directory / "config.json", self.simulator.origin,
            receiver={"type": "serial", "device": "/dev/gnss-receiver", "baudRate": 9600},
            outbox={"path": "/var/lib/waypost/outbox.sqlite"}, status={"listen": "127.0.0.1:9464"})
        self.config.chmod(0o644)
        self.directory.chmod(0o755)

        self.simulator.start()
        self.start(roots[0])
        self.ends_with(lambda: self.kill())
        self.wait_for_ledger("a position is delivered", lambda ledger: ledger["delivered"] >= 2)
        self.expect_isolation()
        self.simulator.stop()
        self.stop()
        self.start(roots[0])
        self.wait_for_ledger("updates are pending", lambda ledger: ledger["pending"] >= 2)
        self.kill()
        self.start(roots[1])
        before = self.wait_for_ledger("the ledger continues", lambda ledger: ledger["pending"] >= 3)
        self.simulator.start()
        self.wait_for_ledger("everything is delivered", lambda ledger: ledger["pending"] == 0)
        self.stop()
        return self.verdict(before)

    def verdict(self, before: Ledger) -> str:
        store = configuration(self.directory / "rest.json", self.simulator.origin,
                              outbox={"path": str(self.volume / "outbox.sqlite")})
        ledger = self.waypost.ledger(store)
        arrived = len(self.simulator.record.fixes())
        return require(
            f"{self.size / 1e6:.1f} MB compressed; stopped, killed and upgraded as PID 1, user {USER}, read-only: "
            f"{ledger['accepted']} accepted, {ledger['delivered']} delivered, {arrived} arrived",
            ("larger than its limit", self.size <= LIMIT),
            ("updates were lost", ledger["delivered"] == ledger["accepted"] == arrived),
            ("the ledger started again", ledger["accepted"] >= before["accepted"]))

    # The image.

    def describe(self) -> tuple[int, dict[str, Any]]:
        """Returns the compressed size and the configuration."""
        def blob(descriptor: dict[str, Any]) -> Any:
            return json.loads((LAYOUT / "blobs/sha256" / descriptor["digest"].partition(":")[2]).read_text())

        ours = call("dpkg", "--print-architecture").strip()
        [entry] = json.loads((LAYOUT / "index.json").read_text())["manifests"]
        self.tag = entry["annotations"]["org.opencontainers.image.ref.name"]
        found = [image for image in blob(entry)["manifests"] if image["platform"]["architecture"] == ours]
        if len(found) != 1:
            raise Failed(f"the layout has {len(found)} images for {ours}")
        # A layout with only this machine's image, as a runtime selects it from the index.
        self.layout = self.directory / "layout"
        shutil.copytree(LAYOUT, self.layout)
        found[0]["annotations"] = {"org.opencontainers.image.ref.name": self.tag}
        (self.layout / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": found}))
        manifest = blob(found[0])
        image: dict[str, Any] = blob(manifest["config"])["config"]
        return sum(layer["size"] for layer in manifest["layers"]), image

    def unpack(self, name: str) -> Path:
        bundle = self.directory / name
        call("umoci", "unpack", "--image", f"{self.layout}:{self.tag}", bundle)
        return bundle / "rootfs"

    # The container.

    def start(self, root: Path) -> None:
        command = [*self.image["Entrypoint"], *self.image["Cmd"]]
        with open(self.directory / "container.log", "ab") as log:
            self.container = subprocess.Popen(
                ["unshare", "--mount", "--pid", "--ipc", "--uts", "--fork", "--kill-child", "sh", "-c", RUN, root,
                 self.volume, self.config, self.terminal.path, *command], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

        def is_up() -> bool:
            if self.container.poll() is not None:
                raise Failed(f"the container ended: {(self.directory / 'container.log').read_text()}")
            forked = Path(f"/proc/{self.container.pid}/task/{self.container.pid}/children").read_text().split()
            self.first = int(forked[0]) if forked else 0
            return bool(forked) and self.health() == 0

        if not until(is_up, PATIENCE, pause=0.2):
            raise Failed(f"the service is not up: {(self.directory / 'container.log').read_text()}")

    def enter(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Returns the output of a command, run in the container as its user."""
        return subprocess.run(
            ["nsenter", "--target", str(self.first), "--mount", "--pid", "--root", "--wd", "setpriv", f"--reuid={USER}",
             f"--regid={USER}", f"--groups={DIALOUT}", "env", "-i", "PATH=/usr/bin:/bin", *words],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30)

    def health(self) -> int:
        kind, command = self.image["Healthcheck"]["Test"]
        assert kind == "CMD-SHELL"
        return self.enter("sh", "-c", command).returncode

    def wait_for_ledger(self, what: str, claim: Any) -> Ledger:
        found: Ledger = {}

        def holds() -> bool:
            answer = self.enter("waypost", "status", "--json")
            if answer.returncode in (0, 1):
                found.update(json.loads(answer.stdout)["ledger"])
            return bool(found) and bool(claim(found))

        if not until(holds, PATIENCE, pause=0.3):
            raise Failed(f"not within {PATIENCE} s: {what}: {found}; {(self.directory / 'container.log').read_text()[-2000:]}")
        return found

    def expect_isolation(self) -> None:
        """Fails unless the service is the first process, isn't root, and can write only to its volume."""
        status = Path(f"/proc/{self.first}/status").read_text()
        found = re.findall(r"(?m)^(NSpid|Uid|CapBnd|NoNewPrivs):\s*(.*)$", status)
        state = {name: value.split() for name, value in found}
        if state["NSpid"][-1] != "1" or set(state["Uid"]) != {str(USER)} or int(state["CapBnd"][0], 16) or state["NoNewPrivs"] != ["1"]:
            raise Failed(f"the container's first process: {state}")
        for path in ("/anything", "/etc/waypost/anything", "/usr/bin/anything"):
            if self.enter("touch", path).returncode == 0:
                raise Failed(f"{path} can be written")

    def stop(self) -> None:
        """Stops the container like a runtime: with the image's stop signal to the first process."""
        os.kill(self.first, getattr(signal, self.image["StopSignal"]))
        try:
            ended = self.container.wait(15)
        except subprocess.TimeoutExpired:
            raise Failed("the container doesn't stop within 15 s") from None
        if ended != 0:
            raise Failed(f"the stopped container exited with {ended}: {(self.directory / 'container.log').read_text()}")

    def kill(self) -> None:
        if self.container.poll() is None:
            os.kill(self.first, signal.SIGKILL)
            self.container.wait()
            self.terminal.free()
