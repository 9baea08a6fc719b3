"""A vehicle whose network permits connections only through a proxy."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from .failure import Failed
from .front import Front
from .network import free_port
from .package import CONFIGURATION, STORE, Installed, Receiver, dependencies, packaged
from .processes import call
from .simulator import Simulator
from .system import System
from .waiting import until
from .waypost import ROOT, configuration

USER, PASSWORD, WRONG = "van-1", "hush-4711-right", "hush-4712-wrong"
PASSWORD_FILE, AUTHORITY, PROXY_FILE = "/etc/waypost/proxy-password", "/etc/waypost/ca.pem", "/etc/proxy.conf"
PATIENCE = 60


class Proxied(Installed):
    """Delivers from a Debian through tinyproxy: with an outage, a wrong password and a forbidden server."""

    name = "proxy-test"
    root = "it boots a system"
    tools = {"dpkg-deb": "dpkg", "mmdebstrap": "mmdebstrap", "nginx": "nginx-light", "nsenter": "util-linux",
             "openssl": "openssl"}

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--release", default="12", help="of Debian (default 12)")
        parser.add_argument("--package", help="the package (default: the one in build/deb)")

    @classmethod
    def prepare(cls, arguments: argparse.Namespace) -> None:
        arguments.package = arguments.package or str(packaged(call("dpkg", "--print-architecture").strip()))
        arguments.system = ROOT / f"build/proxy-test-{arguments.release}"
        shutil.rmtree(arguments.system, ignore_errors=True)
        System.make(arguments.system, arguments.release, [*dependencies(Path(arguments.package)), "tinyproxy-bin"])

    def run(self) -> str:
        self.ends_with(lambda: shutil.rmtree(self.arguments.system, ignore_errors=True))
        self.simulator = Simulator(self.waypost, self.directory)
        self.simulator.start()
        self.ends_with(self.simulator.stop)
        self.front = Front(self.directory, self.simulator.origin)
        self.ends_with(self.front.stop)
        self.system = System(self.arguments.system, self.directory / "systemd.log")
        self.system.boot()
        self.ends_with(self.system.end)
        self.port = free_port()
        self.install()

        seen = [self.drive(), self.lose_the_proxy(), self.reject_the_login(), self.forbid_the_server(), self.drain()]
        self.find_no_password()
        return f"Debian {self.arguments.release}, curl {self.libcurl()}: " + "; ".join(seen)

    def install(self) -> None:
        shutil.copy(self.arguments.package, self.system.file("/waypost.deb"))
        self.system.call("dpkg", "--install", "/waypost.deb")
        receiver = Receiver()
        self.ends_with(receiver.stop)
        proxy = {"url": f"http://127.0.0.1:{self.port}", "user": USER, "password": {"file": PASSWORD_FILE}}
        written = configuration(
            self.directory / "config.json", self.front.origin,
            receiver={"type": "tcp", "host": "127.0.0.1", "port": receiver.server_address[1]}, outbox={"path": STORE},
            # The token is requested with plain http from this machine; the update is sent with TLS in a tunnel.
            authorization={"url": self.simulator.origin + "/token/driver/{vehicleId}", "proxy": proxy},
            upload={"endpoint": self.front.origin, "caFile": AUTHORITY, "proxy": proxy},
            status={"listen": "127.0.0.1:9464"})
        self.system.file(CONFIGURATION).write_text(written.read_text())
        shutil.copy(self.front.authority, self.system.file(AUTHORITY))
        self.system.file(AUTHORITY).chmod(0o644)
        self.write_password(PASSWORD)

    def write_password(self, password: str) -> None:
        self.system.file(PASSWORD_FILE).write_text(password + "\n")
        self.system.call("chgrp", "waypost", PASSWORD_FILE)
        self.system.call("chmod", "640", PASSWORD_FILE)

    def start_proxy(self, *more: str) -> None:
        lines = [f"Port {self.port}", "Listen 127.0.0.1", f"BasicAuth {USER} {PASSWORD}", *more]
        self.system.file(PROXY_FILE).write_text("\n".join(lines) + "\n")
        self.system.call("systemd-run", "--quiet", "--unit=proxy", "--collect", "tinyproxy", "-d", "-c", PROXY_FILE)

    def stop_proxy(self) -> None:
        self.system.call("systemctl", "stop", "proxy")

    def pending_because(self, words: str) -> None:
        """Fails unless updates are pending and `waypost why` gives this reason."""
        self.wait_for_ledger(f"updates are pending: {words}", lambda ledger: ledger["pending"] >= 2)
        if not until(lambda: words in self.why(), PATIENCE, pause=0.5):
            raise Failed(f"waypost why doesn't say '{words}': {self.why()}")

    def why(self) -> str:
        return self.system.attempt("waypost", "why").stdout

    def drive(self) -> str:
        self.start_proxy()
        self.system.call("systemctl", "enable", "--now", "waypost")
        self.wait_for_ledger("a position is delivered", lambda ledger: ledger["delivered"] >= 1)
        said = self.system.call("waypost", "check", "--online")
        if f"through the proxy http://127.0.0.1:{self.port}" not in said:
            raise Failed(f"the check doesn't name the proxy: {said}")
        return "delivered through the proxy, with TLS inside"

    def lose_the_proxy(self) -> str:
        self.stop_proxy()
        self.pending_because("no connection to the proxy")
        self.start_proxy()
        self.wait_for_ledger("all is delivered", lambda ledger: ledger["pending"] == 0)
        return "an outage"

    def reject_the_login(self) -> str:
        self.write_password(WRONG)
        self.system.call("systemctl", "restart", "waypost")
        self.pending_because("it rejects the user and password")
        refused = self.system.attempt("waypost", "check", "--online")
        if refused.returncode == 0 or "it rejects the user and password" not in refused.stdout:
            raise Failed(f"the check doesn't report the wrong password: {refused.stdout}{refused.stderr}")
        self.write_password(PASSWORD)
        self.system.call("systemctl", "restart", "waypost")
        self.wait_for_ledger("all is delivered", lambda ledger: ledger["pending"] == 0)
        return "a wrong password reported"

    def forbid_the_server(self) -> str:
        self.stop_proxy()
        self.system.file("/etc/forbidden").write_text("127\n")
        self.start_proxy('Filter "/etc/forbidden"')
        self.pending_because(f"answered 403: it doesn't allow 127.0.0.1:{self.front.ports[0]}")
        self.stop_proxy()
        self.start_proxy()
        return "a forbidden server reported"

    def drain(self) -> str:
        self.wait_for_ledger("all is delivered", lambda ledger: ledger["pending"] == 0)
        self.system.call("systemctl", "stop", "waypost")
        ledger = self.waypost_ledger()
        arrived = len(self.simulator.record.fixes())
        if ledger["delivered"] != ledger["accepted"] or arrived != ledger["accepted"]:
            raise Failed(f"{ledger}, and {arrived} arrived")
        return f"{arrived} accepted, delivered and arrived"

    def waypost_ledger(self) -> dict[str, int]:
        shutil.copytree(self.system.file("/var/lib/waypost"), self.directory / "store")
        return self.waypost.ledger(configuration(
            self.directory / "rest.json", self.front.origin, outbox={"path": str(self.directory / "store/outbox.sqlite")}))

    def libcurl(self) -> str:
        return self.system.attempt("dpkg-query", "--show", "--showformat", "${Version}", "libcurl4*").stdout

    def find_no_password(self) -> None:
        """Fails if the journal, the settings or a bundle contain the password."""
        self.system.call("systemctl", "start", "waypost")
        said = [self.system.call("journalctl", "--no-pager", "--unit", "waypost"), self.system.call("waypost", "config"),
                self.system.call("sh", "-c", "waypost bundle -o - | tr -d '\\0'")]
        if any(secret in text for text in said for secret in (PASSWORD, WRONG)):
            raise Failed("Waypost's output contains the proxy's password")
