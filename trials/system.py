"""A separate Debian system with systemd as its first process, like an operator's gateway."""

from __future__ import annotations

import subprocess
from pathlib import Path

from .failure import Failed
from .waiting import until
from .waypost import ROOT

BOOT_SECONDS = 60
ONE_COMMAND_SECONDS = 120

# Boots in separate namespaces for mounts, processes and control groups; the network is the trial's. systemd needs a
# mounted cgroup2, and the variable `container`. If $1 is given, it is mounted as /var, and the rest is read-only.
BOOT = r"""
set -e
cd "$0"
mount --bind . . && cd "$0"
[ -z "$1" ] || mount --bind "$1" var
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t tmpfs -o mode=755 tmpfs sys/fs/cgroup 2>/dev/null || true
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 run run
mount -t tmpfs -o mode=755 dev dev
for node in null zero full random urandom tty; do touch dev/$node; mount --bind /dev/$node dev/$node; done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,mode=620,ptmxmode=666,gid=5 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
# Not chroot, because a process whose root isn't that of its mounts gets no user namespace, which PrivateUsers= needs.
pivot_root . mnt
umount --lazy /mnt
[ -z "$1" ] || mount -o remount,bind,ro /
# Outside a container, systemd does this itself; credentials reach a service by mount propagation.
mount --make-rshared /
exec env -i container=trial PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --show-status=false
"""


class System:
    """A booted root. Everything in it ends with `end`, or with the trial."""

    def __init__(self, root: Path, log: Path) -> None:
        self.root, self.log = root, log

    @staticmethod
    def make(root: Path, release: str, packages: list[str]) -> None:
        """Creates a root with systemd and `packages`; needs the network."""
        needed = ["dbus", "procps", "systemd", "systemd-sysv", *packages]
        subprocess.run([ROOT / "scripts/debian-root", release, root, *needed], check=True)

    def boot(self, state: Path | None = None) -> None:
        """Boots, and returns when everything is up. With `state`, the `/var` of a read-only image, returns as soon as
        systemd answers.
        """
        with open(self.log, "ab") as words:
            self._outer = subprocess.Popen(
                ["unshare", "--mount", "--pid", "--uts", "--ipc", "--cgroup", "--fork", "--kill-child",
                 "sh", "-c", BOOT, str(self.root), str(state or "")], stdin=subprocess.DEVNULL, stdout=words, stderr=words)
        # unshare waits for the process that it forked, which becomes systemd.
        children = Path(f"/proc/{self._outer.pid}/task/{self._outer.pid}/children")
        states = ("running", "degraded") if state is None else ("starting", "running", "degraded")

        def is_up() -> bool:
            if self._outer.poll() is not None:
                raise Failed(f"systemd ended: {self.log.read_text()}")
            forked = children.read_text().split()
            if not forked:
                return False
            self.first = forked[0]
            return self.attempt("systemctl", "is-system-running").stdout.strip() in states

        if not until(is_up, BOOT_SECONDS, pause=0.2):
            raise Failed(f"systemd is not up within {BOOT_SECONDS} s: {self.log.read_text()}")

    def end(self) -> None:
        self._outer.kill()
        self._outer.wait()

    def attempt(self, *words: object, user: str = "root") -> subprocess.CompletedProcess[str]:
        """Runs a command in the system. Returns its output and exit status."""
        entered = ["nsenter", "--target", self.first, "--mount", "--pid", "--uts", "--ipc", "--cgroup", "--wd=/"]
        person = [] if user == "root" else ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"]
        surroundings = ["env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", "DEBIAN_FRONTEND=noninteractive"]
        return subprocess.run([*entered, *surroundings, *person, *map(str, words)], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=ONE_COMMAND_SECONDS)

    def call(self, *words: object, user: str = "root") -> str:
        """Returns the output of a command, followed by its errors; fails with its message if the command does."""
        ended = self.attempt(*words, user=user)
        if ended.returncode != 0:
            raise Failed(f"{' '.join(map(str, words))} exited with {ended.returncode}: {ended.stdout}{ended.stderr}")
        return ended.stdout + ended.stderr

    def property(self, unit: str, name: str) -> str:
        """Returns a property of a unit, as systemd shows it."""
        return self.call("systemctl", "show", "--property", name, "--value", unit).strip()

    def file(self, path: str) -> Path:
        """Returns the path of a system's file from outside. This doesn't work for `/run`, `/dev` and `/proc`, which are mounted
        in the system only.
        """
        return self.root / path.removeprefix("/")
