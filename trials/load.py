"""Ten thousand vehicles of `waypost replay` in one process with the simulator, and its full speed compared with h2load's.
"""

from __future__ import annotations

import base64
import json
import re
import subprocess
import time
from pathlib import Path
from typing import Any

from .drive import write_drive
from .failure import Failed, require
from .network import free_port, listens
from .processes import call, end_now, start
from .simulator import Simulator
from .trial import Option, Trial, count
from .waypost import configuration

INTERVAL_SECONDS = 10
RESIDENT_KIBIBYTES_PER_VEHICLE = 64
RESIDENT_MEBIBYTES = 1024
P99_SECONDS = 1.0
LATE_SECONDS = 1.0
# At full speed, this many vehicles complete their drives in a few seconds.
FAST_VEHICLES, FAST_SECONDS = 2000, 600
H2LOAD_REQUESTS = 50_000
# The time that a replay may take in addition to the drive's own.
GRACE_SECONDS = 120


def encoded(part: dict[str, str]) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")


# About as long as the tokens of Fleet Engine; nginx doesn't read them.
TOKEN = f"{encoded({'alg': 'RS256'})}.{encoded({'aud': 'https://fleetengine.googleapis.com/', 'padding': 'x' * 200})}.{'c2ln' * 90}"


class Load(Trial):
    """Drives many vehicles at real speed: everything must arrive in time, within a memory limit. Then compares full speed
    with h2load's.
    """

    name = "load-test"
    options = (Option("--vehicles", 10_000, "the number of vehicles", count),
               Option("--seconds", 600, "the duration of each drive at real speed", count))
    tools = {"h2load": "nghttp2-client", "nginx": "nginx-light", "openssl": "openssl"}

    def run(self) -> str:
        return f"{self.real_speed()}\n{self.full_speed()}"

    def real_speed(self) -> str:
        vehicles: int = self.arguments.vehicles
        simulator = Simulator(self.waypost, self.directory, records=False)
        self.ends_with(simulator.stop)
        simulator.start()
        summary, peak, threads = self.replay(
            simulator.origin, vehicles, self.arguments.seconds, "1", authorization={
                "type": "http", "url": simulator.origin + "/token/driver/{vehicleId}"})
        arrived = simulator.summary()
        simulator.stop()
        late = summary["longestLagSeconds"] + summary["longestWaitSeconds"]
        return require(
            f"{vehicles} vehicles for {self.arguments.seconds} s: {summary['accepted']} accepted, {summary['delivered']} "
            f"delivered, {arrived['distinctFixes']} arrived from {arrived['vehicles']} with {summary['tokenFetches']} tokens; "
            f"{summary['requestsPerSecond']:.0f} requests/s; p50 {summary['answerSecondsP50'] * 1000:.1f} ms, "
            f"p99 {summary['answerSecondsP99'] * 1000:.0f} ms, longest {summary['longestAnswerSeconds'] * 1000:.0f} ms; "
            f"fixes were read at most {summary['longestLagSeconds'] * 1000:.0f} ms late, an update waited "
            f"{summary['longestWaitSeconds'] * 1000:.0f} ms at most; {peak / 1024:.0f} MiB resident, "
            f"{peak / vehicles:.1f} KiB per vehicle, {threads} threads; failed: {summary['failures'] or 'none'}",
            ("not everything was delivered", summary["accepted"] == summary["delivered"] == arrived["distinctFixes"]),
            ("a last location went back in time", arrived["lastLocationsBackInTime"] == 0),
            ("a vehicle had no token of its own", summary["tokenFetches"] >= arrived["vehicles"] == vehicles),
            (f"more than {RESIDENT_MEBIBYTES} MiB resident", peak <= RESIDENT_MEBIBYTES * 1024),
            (f"more than {RESIDENT_KIBIBYTES_PER_VEHICLE} KiB per vehicle",
             vehicles < 10_000 or peak <= RESIDENT_KIBIBYTES_PER_VEHICLE * vehicles),
            (f"p99 above {P99_SECONDS} s", summary["answerSecondsP99"] <= P99_SECONDS),
            (f"a vehicle more than {LATE_SECONDS} s late", late <= LATE_SECONDS))

    def full_speed(self) -> str:
        """Measures Waypost and h2load with the same nginx with TLS and HTTP/2, one after the other."""
        port = self.start_nginx()
        origin, trust = f"https://localhost:{port}", str(self.directory / "server.pem")
        summary, _, _ = self.replay(
            origin, FAST_VEHICLES, FAST_SECONDS, "max",
            authorization={"type": "http", "url": origin + "/token/{vehicleId}", "caFile": trust},
            upload={"caFile": trust})
        connections = int(call("curl", "--silent", "--cacert", trust, f"{origin}/connection"))
        body = self.directory / "body.json"
        body.write_text(json.dumps({
            "lastLocation": {"location": {"latitude": 48.1, "longitude": 11.5}, "updateTime": "2030-01-01T00:00:00Z",
                             "heading": 90, "speed": 13.9}, "vehicleState": "ONLINE"}))
        output = call(
            "h2load", "-n", H2LOAD_REQUESTS, "-c", 2, "-m", 100, "-d", body, "-H", ":method: PUT", "-H",
            f"authorization: Bearer {TOKEN}", f"{origin}/v1/providers/trial/vehicles/van-1?updateMask=lastLocation")
        rate = re.search(r"finished in [\d.]+m?s, ([\d.]+) req/s", output)
        if rate is None:
            raise Failed(f"h2load states no rate: {output}")
        return require(
            f"at full speed over TLS and HTTP/2: {summary['delivered'] / summary['seconds']:.0f} updates/s of "
            f"{FAST_VEHICLES} vehicles in {summary['requests']} requests over at most {connections - 1} connections; "
            f"h2load on the same nginx {float(rate[1]):.0f} requests/s of one update each",
            ("not everything was delivered at full speed", summary["accepted"] == summary["delivered"]))

    def replay(self, origin: str, vehicles: int, seconds: int, speed: str,
               **sections: dict[str, object]) -> tuple[dict[str, Any], int, int]:
        """Returns the summary of a replay, its maximum resident KiB, and its number of threads."""
        configured = configuration(
            self.directory / f"load-{speed}.json", origin, reporting={"intervalSeconds": INTERVAL_SECONDS},
            **{"upload": {}, **sections})
        drive = self.directory / f"drive-{seconds}.nmea"
        write_drive(drive, time.time() - seconds, seconds)
        peak = threads = 0
        with open(self.directory / "replay.log", "ab") as errors:
            process = subprocess.Popen(
                [str(self.waypost.path), "replay", str(drive), "--config", str(configured), "--speed", speed, "--json",
                 "--vehicles", str(vehicles), "--vehicle-id", "van-%05d", "--spread-meters", "5000"],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True)
            self.ends_with(lambda: end_now(process))
            deadline = time.monotonic() + seconds + GRACE_SECONDS
            while process.poll() is None:
                if time.monotonic() > deadline:
                    raise Failed(f"waypost replay does not end: {(self.directory / 'replay.log').read_text()}")
                status = self.status(process.pid)
                peak, threads = max(peak, status.get("VmHWM", 0)), max(threads, status.get("Threads", 0))
                time.sleep(0.2)
        output = process.stdout.read() if process.stdout else ""
        if process.returncode != 0:
            raise Failed(f"waypost replay exited with {process.returncode}: {output}")
        summary: dict[str, Any] = json.loads(output)
        return summary, peak, threads

    @staticmethod
    def status(process: int) -> dict[str, int]:
        """Returns the numbers in /proc/PID/status; empty for a process that has ended."""
        try:
            lines = Path(f"/proc/{process}/status").read_text().splitlines()
        except OSError:
            return {}
        words = (line.replace(":", "").split() for line in lines)
        return {word[0]: int(word[1]) for word in words if len(word) > 1 and word[1].isdigit()}

    def start_nginx(self) -> int:
        """A server that answers like Fleet Engine for any vehicle, and issues the same token for all."""
        port = free_port()
        call("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
             "subjectAltName=DNS:localhost", "-keyout", self.directory / "server.key", "-out", self.directory / "server.pem")
        places = "".join(f"{kind}_temp_path {self.directory}/{kind}; " for kind in (
            "client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        path = self.directory / "nginx.conf"
        path.write_text(f"""daemon off; master_process off; pid {self.directory}/nginx.pid; error_log stderr crit;
            events {{ worker_connections 1024; }}
            http {{
                access_log off; {places}
                default_type application/json; keepalive_timeout 600s; keepalive_requests 100000000;
                server {{
                    listen 127.0.0.1:{port} ssl http2;
                    ssl_certificate {self.directory}/server.pem; ssl_certificate_key {self.directory}/server.key;
                    location ~ ^/v1/(providers/[^/]+/vehicles/[^/:?]+) {{ return 200 '{{"name":"$1"}}'; }}
                    location /token {{ return 200 '{{"VEHICLE_TOKEN_KEY":"{TOKEN}"}}'; }}
                    location /connection {{ return 200 "$connection"; }}
                }}
            }}""")
        log = self.directory / "nginx.log"
        nginx = start("nginx", "-p", self.directory, "-c", path, log=log)
        self.ends_with(lambda: end_now(nginx))
        if not listens(nginx, "127.0.0.1", port):
            raise Failed(f"nginx does not answer: {log.read_text()}")
        return port
