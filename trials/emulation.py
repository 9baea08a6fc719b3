"""Programs of another architecture, run by this machine's kernel with an emulator."""

from __future__ import annotations

import contextlib
import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from .failure import Failed
from .waypost import ROOT

FORMATS = Path("/proc/sys/fs/binfmt_misc")
# This range of the emulator's own addresses holds only the emulated program's memory.
GUEST_BASE, GUEST_SIZE = 0x10_0000_0000, 0x10_0000_0000
SURROUNDINGS = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8", "NO_COLOR": "1"}


@contextlib.contextmanager
def emulated_arm64() -> Iterator[None]:
    """Makes the kernel start arm64 programs with qemu in this context, as if systemd had registered qemu."""
    if not FORMATS.joinpath("register").exists():
        subprocess.run(["mount", "-t", "binfmt_misc", "binfmt_misc", FORMATS], check=True)
    ours = FORMATS / "qemu-aarch64"
    if ours.exists():
        yield
        return
    [format] = Path("/usr/lib/binfmt.d").glob("qemu-aarch64*.conf")
    FORMATS.joinpath("register").write_bytes(format.read_bytes().strip())
    try:
        yield
    finally:
        ours.write_text("-1")


class EmulatedSystem:
    """The root directory of a Debian for arm64, whose programs run under emulation. It has no service manager."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @staticmethod
    def make(root: Path, release: str, packages: Sequence[str]) -> None:
        """Creates the root with `packages`; needs the network, and `emulated_arm64`."""
        subprocess.run(["env", "ARCHITECTURES=arm64", ROOT / "scripts/debian-root", release, root, *packages], check=True)

    def furnish(self, *directories: Path) -> None:
        """Mounts devices, processes and `directories` in the root, until the trial ends."""
        for kind, place in (("proc", "proc"), ("tmpfs", "run"), ("tmpfs", "tmp")):
            subprocess.run(["mount", "-t", kind, kind, self.root / place], check=True)
        subprocess.run(["mount", "--rbind", "/dev", self.root / "dev"], check=True)
        for directory in directories:
            self.show(directory)

    def show(self, directory: Path) -> None:
        """Mounts a directory of this machine at the same path."""
        place = self.root / directory.relative_to("/")
        place.mkdir(parents=True, exist_ok=True)
        subprocess.run(["mount", "--rbind", directory, place], check=True)

    def command(self, *words: object, **environment: object) -> list[str]:
        """Returns a command whose process becomes `words` in this system."""
        settings = SURROUNDINGS | {name: str(value) for name, value in environment.items()}
        return ["chroot", str(self.root), "/usr/bin/env", "-i", *(f"{name}={value}" for name, value in settings.items()),
                *map(str, words)]

    def call(self, *words: object, seconds: float = 120) -> str:
        """Returns the output of a command; fails with its message if the command does."""
        ended = subprocess.run(self.command(*words), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                               timeout=seconds)
        if ended.returncode != 0:
            raise Failed(f"{' '.join(map(str, words))} exited with {ended.returncode}: {ended.stdout}{ended.stderr}")
        return ended.stdout

    def program(self, path: Path, *words: object) -> Path:
        """Writes a script at `path` that runs `words` in this system. `guest_memory` can measure that program."""
        command = self.command(*words, QEMU_GUEST_BASE=hex(GUEST_BASE), QEMU_RESERVED_VA=hex(GUEST_SIZE))
        path.write_text(f"#!/bin/sh\nexec {' '.join(command)} \"$@\"\n")
        path.chmod(0o755)
        return path


def guest_memory(maps: str) -> int:
    """Returns the resident memory of an emulated program in KiB, without its emulator's. `maps` is the emulator's
    /proc/PID/smaps.
    """
    total, counts = 0, False
    for line in maps.splitlines():
        if range_ := re.match(r"([0-9a-f]+)-[0-9a-f]+ ", line):
            counts = GUEST_BASE <= int(range_[1], 16) < GUEST_BASE + GUEST_SIZE
        elif counts and line.startswith("Rss:"):
            total += int(line.split()[1])
    return total
