"""The example token backend with nginx in front, and vans that get their tokens from it."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import time
import urllib.parse
from pathlib import Path

from .failure import Failed, require
from .network import free_port, listens
from .processes import call, end_now, start
from .service import find_no_token
from .simulator import Simulator
from .trial import Option, Trial, count
from .waypost import ROOT, configuration

EXAMPLE = ROOT / "Examples/token-backend"
# Debian's python3, which has the libraries; another one may come first on the path.
PYTHON = "/usr/bin/python3"
TRIP = "trip-1"
DRIVE_SECONDS = 120
SLOW_CLIENTS, STALL_SECONDS = 40, 5


class Backend:
    """The example's backend, which signs with a key of the trial; `public` is the public key, which the simulator trusts."""

    def __init__(self, directory: Path) -> None:
        self.log, self.vans, self.public = directory / "backend.log", directory / "vans", directory / "public.pem"
        # The keys are in a separate directory, because files are searched for tokens, and a key may look like one.
        self.keys = directory / "keys"
        self.keys.mkdir()
        self._account, key = self.keys / "account.json", self.keys / "key.pem"
        self.port = free_port()
        call("openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", key)
        call("openssl", "pkey", "-in", key, "-pubout", "-out", self.public)
        # The file has the format of Google's console.
        self._account.write_text(json.dumps({
            "client_email": "backend@trial.iam.gserviceaccount.com", "private_key_id": "key-1", "private_key": key.read_text()}))
        self.vans.mkdir()

    def start(self, fleet_engine: str) -> None:
        variables = {
            "VANS": self.vans, "PROVIDER_ID": "trial", "DRIVER_ACCOUNT": self._account, "CONSUMER_ACCOUNT": self._account,
            "FLEET_ENGINE": fleet_engine, "CERTIFICATE_HEADER": "Client-Cert", "PYTHONDONTWRITEBYTECODE": "1"}
        self._process = start(
            "env", *(f"{name}={value}" for name, value in variables.items()), PYTHON, "-m", "gunicorn", "--chdir", EXAMPLE,
            "--bind", f"127.0.0.1:{self.port}", "--threads", "64", "--error-logfile", self.log,
            "--capture-output", "backend:from_environment()",
            log=self.log)
        if not listens(self._process, "127.0.0.1", self.port):
            raise Failed(f"the backend does not answer: {self.log.read_text()}")

    def stop(self) -> None:
        """Stops the backend together with its worker."""
        self._process.terminate()
        self._process.wait()

    def enrol_command(self, *words: object) -> list[str]:
        return [PYTHON, "-B", str(EXAMPLE / "vans.py"), "--vans", str(self.vans), "enrol", *map(str, words)]

    def revoke(self, van: str) -> None:
        call(PYTHON, "-B", EXAMPLE / "vans.py", "--vans", self.vans, "revoke", van)


class TokenBackend(Trial):
    """Enrols vans at the example's backend, runs their drives with its tokens, and revokes one."""

    name = "token-backend-test"
    options = (Option("--vans", 4, "the number of vans that drive at once, in addition to one with a certificate", count),)
    tools = {"faketime": "faketime", "gunicorn": "gunicorn", "nginx": "nginx-light", "openssl": "openssl"}

    def run(self) -> str:
        self.backend = Backend(self.directory)
        self.simulator = Simulator(self.waypost, self.directory)
        self.ends_with(self.simulator.stop)
        self.simulator.start("--trust-key", self.backend.public, "--trip", f"{TRIP}=van-1")
        self.backend.start(self.simulator.origin)
        self.ends_with(self.backend.stop)
        self.start_proxy()
        self.secrets: list[str] = []
        vans = [self.enrol(f"van-{number}") for number in range(1, self.arguments.vans + 1)]
        vans.append(self.enrol_by_certificate("van-tls"))

        self.drive(vans)
        self.expect_tokens(vans[0], vans[-1])
        self.expect_refusals(vans)
        self.expect_no_stall(vans[0])
        revoked = self.revoke(vans[0], vans[1:])

        summary = self.simulator.summary()
        find_no_token(self.directory)
        said = "".join(path.read_text() for path in self.directory.glob("*.log"))
        return require(
            f"{len(vans)} vans: {summary['distinctFixes']} positions arrived with tokens of the backend; {revoked}",
            ("the simulator issued a token", summary["tokensIssued"] == 0),
            ("Fleet Engine rejected a token", not {"401", "403"} & set(summary["fleetOutcomes"])),
            ("the backend doesn't log the tokens that it signs", "driver token for van-1" in said),
            ("a log contains a key", not any(key in said for key in self.secrets)))

    # The proxy in front of the backend.

    def start_proxy(self) -> None:
        self.port = free_port()
        self.make_certificate("server", "localhost")
        log = self.directory / "nginx.log"
        nginx = start("nginx", "-p", self.directory, "-c", self.nginx_configuration(), log=log)
        self.ends_with(lambda: end_now(nginx))
        if not listens(nginx, "127.0.0.1", self.port):
            raise Failed(f"nginx does not answer: {log.read_text()}")

    def nginx_configuration(self) -> Path:
        """Returns the example's configuration, with the trial's paths."""
        server = (EXAMPLE / "nginx.conf").read_text()
        for written, here in [("listen 443", f"listen 127.0.0.1:{self.port}"), ("/etc/token-backend", str(self.backend.keys)),
                              ("unix:/run/token-backend/socket", f"127.0.0.1:{self.backend.port}")]:
            if written not in server:
                raise Failed(f"{EXAMPLE / 'nginx.conf'} has no {written}")
            server = server.replace(written, here)
        path = self.directory / "nginx.conf"
        user = "user root;" if os.geteuid() == 0 else ""
        path.write_text(f"{user} daemon off; error_log stderr; pid {self.directory}/nginx.pid; worker_processes 1;\n"
                        f"events {{}}\nhttp {{ access_log {self.directory}/access.log; {server} }}\n")
        return path

    def make_certificate(self, file: str, name: str, when: str = "now") -> None:
        call("faketime", when, "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", f"/CN={name}",
             "-addext", f"subjectAltName=DNS:{name}", "-keyout", self.file(f"{file}.key"), "-out", self.file(f"{file}.pem"))

    def file(self, name: str) -> Path:
        """Returns the path of a key, or of a file that belongs to one."""
        return self.backend.keys / name

    # The vans.

    def enrol(self, van: str) -> Path:
        credentials = call(*self.backend.enrol_command(van))
        self.secrets.append(credentials.strip().partition(":")[2])
        path = self.file(f"{van}.credentials")
        path.write_text(credentials)
        path.chmod(0o600)
        return self.configured(van, {"headers": {"Authorization": {"file": str(path), "scheme": "basic"}}})

    def enrol_by_certificate(self, van: str) -> Path:
        self.make_certificate(van, van)
        call(*self.backend.enrol_command(van, "--certificate", self.file(f"{van}.pem")))
        return self.configured(van, self.certificate(van))

    def certificate(self, file: str) -> dict[str, object]:
        return {"clientCertificateFile": str(self.file(f"{file}.pem")), "clientKeyFile": str(self.file(f"{file}.key"))}

    def configured(self, van: str, credentials: dict[str, object], name: str | None = None) -> Path:
        asked = {"type": "http", "caFile": str(self.file("server.pem")), **credentials}
        origin = f"https://localhost:{self.port}"
        return configuration(
            self.directory / f"{name or van}.json", self.simulator.origin, van,
            receiver={"type": "file", "path": str(ROOT / "fixtures/nmea/town.nmea")},
            authorization={**asked, "url": origin + "/token/driver/{vehicleId}"},
            consumerAuthorization={**asked, "url": origin + "/token/consumer/{tripId}", "tokenKey": "TRIP_TOKEN_KEY"},
            status={"listen": "127.0.0.1:0"})

    # The vans' results.

    def drive(self, vans: list[Path]) -> None:
        """Runs all vans at once. Each service ends when everything that it read is delivered."""
        services = [start(self.waypost.path, "run", "--config", van, log=van.with_suffix(".log")) for van in vans]
        try:
            for van, service in zip(vans, services):
                if service.wait(DRIVE_SECONDS) != 0:
                    raise Failed(f"{van.stem}: {van.with_suffix('.log').read_text()}")
        except subprocess.TimeoutExpired:
            raise Failed(f"not delivered within {DRIVE_SECONDS} s") from None
        finally:
            for service in services:
                end_now(service)
        for van in vans:
            ledger = self.waypost.ledger(van)
            if ledger["delivered"] != ledger["accepted"] or not ledger["accepted"]:
                raise Failed(f"{van.stem}: {ledger}")

    def token(self, van: Path, *options: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([str(self.waypost.path), "token", "--config", str(van), *options], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60)

    def expect_tokens(self, van: Path, by_certificate: Path) -> None:
        for answer in [self.token(van), self.token(van, "--trip", TRIP), self.token(by_certificate)]:
            if answer.returncode != 0:
                raise Failed(answer.stdout + answer.stderr)
        call(self.waypost.path, "check", "--online", "--config", van)

    def expect_refusals(self, vans: list[Path]) -> None:
        """Makes requests that the backend must reject, and checks the status that `waypost token` reports."""
        first, second, by_certificate = vans[0], vans[1 % len(vans)], vans[-1]
        stolen = json.loads(first.read_text())["authorization"]["headers"]
        self.make_certificate("forged", by_certificate.stem)
        self.make_certificate("expired", "van-old", "3 days ago")
        # The certificate was valid when it was enrolled; once expired, it must be rejected.
        call("faketime", "3 days ago", *self.backend.enrol_command("van-old", "--certificate", self.file("expired.pem")))
        # A certificate is public, so the backend must ignore a header that a client wrote, in any spelling.
        sent = urllib.parse.quote(self.file(f"{by_certificate.stem}.pem").read_text())
        for answer, status in [
            (self.token(self.configured(second.stem, {"headers": stolen}, "another")), "403"),
            (self.token(second, "--trip", TRIP), "403"), (self.token(first, "--trip", "trip-of-nobody"), "403"),
            (self.token(self.configured(by_certificate.stem, self.certificate("forged"), "forged-van")), "401"),
            (self.token(self.configured("van-old", self.certificate("expired"), "expired-van")), "400"),
            (self.token(self.configured(by_certificate.stem, {"headers": {"Client-Cert": sent}}, "dash")), "401"),
            (self.token(self.configured(by_certificate.stem, {"headers": {"Client_Cert": sent}}, "underscore")), "401"),
        ]:
            if answer.returncode != 69 or f"answered {status}" not in answer.stderr:
                raise Failed(f"{status} should have been answered: {answer.stdout}{answer.stderr}")

    def expect_no_stall(self, van: Path) -> None:
        """Checks that slow clients, which never complete their requests, delay no other client."""
        with contextlib.ExitStack() as slow:
            for _ in range(SLOW_CLIENTS):
                client = slow.enter_context(socket.create_connection(("127.0.0.1", self.backend.port)))
                client.sendall(b"GET /token/driver/van-1 HTTP/1.1\r\nHost: ")
            begin = time.monotonic()
            answer = self.token(van)
            seconds = time.monotonic() - begin
        if answer.returncode != 0 or seconds > STALL_SECONDS:
            raise Failed(f"with {SLOW_CLIENTS} slow clients, after {seconds:.1f} s: {answer.stdout}{answer.stderr}")

    def revoke(self, van: Path, others: list[Path]) -> str:
        self.backend.revoke(van.stem)
        answer = self.token(van)
        if answer.returncode != 69 or "answered 401" not in answer.stderr:
            raise Failed(f"{van.stem} was revoked, but the answer is: {answer.stdout}{answer.stderr}")
        if not all(self.token(other).returncode == 0 for other in others):
            raise Failed("other vans were also revoked")
        return f"{van.stem} was revoked at once"
