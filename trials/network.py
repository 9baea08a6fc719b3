"""Ports, and a vehicle's network that can be cut."""

from __future__ import annotations

import json
import socket
import subprocess
import time
import urllib.request

from . import guard
from .failure import Failed
from .processes import call
from .waiting import until

ANSWER_SECONDS = 20  # until a program listens
CARRIER_SECONDS = 20
# RFC 2544 reserves these addresses for tests.
HERE, THERE = "198.18.77.1", "198.18.77.2"


def free_port(host: str = "127.0.0.1") -> int:
    with socket.socket() as probe:
        probe.bind((host, 0))
        port: int = probe.getsockname()[1]
        return port


def listens(process: subprocess.Popen[bytes], host: str, port: int) -> bool:
    """Returns whether a program listens at the address in time, and before `process` ends."""
    def answers() -> bool:
        try:
            with socket.create_connection((host, port), timeout=1):
                return True
        except OSError:
            return False

    until(lambda: process.poll() is not None or answers(), ANSWER_SECONDS, pause=0.02)
    return process.poll() is None and answers()


def fetch(url: str) -> str:
    with urllib.request.urlopen(url, timeout=30) as answer:
        text: bytes = answer.read()
        return text.decode()


class VehicleNetwork:
    """A vehicle's network in its own namespace, and the pair of links between it and the trial's network.

    It is removed with the trial, which has its own network and mounts.
    """

    SPACE, NEAR, FAR = "vehicle", "near", "far"
    # The prefix of a command that runs in the vehicle's namespace.
    ENTER = ("ip", "netns", "exec", SPACE)
    # How the network fails, and whether the vehicle's kernel announces its return.
    KINDS = {"address": True, "link": True, "carrier": True, "silent": False}

    def make(self) -> None:
        if not guard.is_alone:
            raise Failed("nothing was tested: the trial needs root and network namespaces")
        # The names of namespaces are kept below this directory.
        call("mount", "-t", "tmpfs", "tmpfs", "/run")
        call("ip", "netns", "add", self.SPACE)
        call("ip", "link", "add", self.NEAR, "type", "veth", "peer", "name", self.FAR, "netns", self.SPACE)
        call("ip", "addr", "add", f"{HERE}/24", "dev", self.NEAR)
        call("ip", "link", "set", self.NEAR, "up")
        self._inside("link", "set", "lo", "up")
        self._inside("link", "set", self.FAR, "up")
        self._inside("addr", "add", f"{THERE}/24", "dev", self.FAR)
        self._inside("route", "add", "default", "via", HERE)

    def take(self, kind: str) -> None:
        if kind == "address":
            self._inside("addr", "del", f"{THERE}/24", "dev", self.FAR)
        elif kind == "link":
            self._inside("link", "set", self.FAR, "down")
        elif kind == "carrier":
            call("ip", "link", "set", self.NEAR, "down")
        else:
            call("ip", "route", "add", "blackhole", f"{THERE}/32")

    def give_back(self, kind: str) -> float:
        """Restores the network. Returns the moment from which it works, in seconds since 1970."""
        # The time is taken before the last command, because the service can notice the return at once.
        since = time.time()
        if kind == "address":
            self._inside("addr", "add", f"{THERE}/24", "dev", self.FAR)
            self._inside("route", "add", "default", "via", HERE)
        elif kind == "link":
            self._inside("link", "set", self.FAR, "up")
            self._inside("route", "add", "default", "via", HERE)
        elif kind == "carrier":
            call("ip", "link", "set", self.NEAR, "up")
        else:
            call("ip", "route", "del", "blackhole", f"{THERE}/32")
        return self._last_without_carrier(since) if kind in ("link", "carrier") else since

    def _inside(self, *words: str) -> None:
        call("ip", "-n", self.SPACE, *words)

    def _last_without_carrier(self, since: float) -> float:
        """Waits until the kernel reports the vehicle's link as up. Returns the last moment at which it wasn't, or `since`."""
        last = since
        while last < since + CARRIER_SECONDS:
            asked = time.time()
            [link] = json.loads(call("ip", "-n", self.SPACE, "-json", "link", "show", "dev", self.FAR))
            if link["operstate"] == "UP":
                return last
            last = asked
        raise Failed(f"the link of the namespace does not come up within {CARRIER_SECONDS} s")
