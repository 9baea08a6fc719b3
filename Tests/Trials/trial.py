"""What the trials of delivery with real processes share: a drive as sentences, a simulator, a service, their figures."""

import argparse
import atexit
import datetime
import http.server
import json
import math
import os
import pathlib
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WORDS = ("accepted", "delivered", "pending", "evicted", "quarantined")
ONE_COMMAND_SECONDS = 60
ANSWER_SECONDS = 20  # until somebody listens
FEED_SECONDS = 60  # a service that reads nothing for so long stands still
STOP_SECONDS = 20
QUIET_SECONDS = 2  # without a new update: what the receiver said last was taken
SPEED_METERS_PER_SECOND, RADIUS_METERS = 14.0, 3000.0


class Failed(Exception):
    """A promise was broken; the words say which, on which value."""


is_ending = False  # true when a signal ends the script; a thread that works long looks at it


def end(number, _):
    """Ends the script through its `finally`; another signal does not disturb that."""
    global is_ending
    if not is_ending:
        is_ending = True
        sys.exit(128 + number)


signal.signal(signal.SIGTERM, end)
signal.signal(signal.SIGINT, end)


def count(text):
    """For argparse: how often something is to happen. Never happening proves nothing."""
    if int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} proves nothing, must be 1 or more")
    return int(text)


def call(*words):
    """What a command prints; fails with its words when it does."""
    try:
        answer = subprocess.run(list(map(str, words)), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                timeout=ONE_COMMAND_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise Failed(str(problem)) from None
    if answer.returncode != 0:
        raise Failed(f"{' '.join(answer.args)}: {answer.stderr.strip() or answer.returncode}")
    return answer.stdout


def moment(text):
    """Seconds since 1970 of a time in RFC 3339."""
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def sentence(payload):
    checksum = 0
    for byte in payload.encode():
        checksum ^= byte
    return f"${payload}*{checksum:02X}\r\n"


def angle(degrees, digits, letters):
    whole = int(abs(degrees))
    minutes = (abs(degrees) - whole) * 60
    return f"{whole:0{digits}d}{minutes:08.5f},{letters[degrees < 0]}"


def epoch(second, now):
    """RMC and GGA after so many seconds of a drive along a wide circle, at `now` in seconds since 1970."""
    turn = SPEED_METERS_PER_SECOND * second / RADIUS_METERS
    latitude = 48.1 + RADIUS_METERS * math.cos(turn) / 111_195
    longitude = 11.5 + RADIUS_METERS * math.sin(turn) / (111_195 * math.cos(math.radians(48.1)))
    course = (math.degrees(turn) + 90) % 360
    utc = datetime.datetime.fromtimestamp(now, datetime.timezone.utc)
    clock = f"{utc:%H%M%S}.{utc.microsecond // 10_000:02d}"
    place = f"{angle(latitude, 2, 'NS')},{angle(longitude, 3, 'EW')}"
    return (sentence(f"GNRMC,{clock},A,{place},{SPEED_METERS_PER_SECOND / 0.514444:.1f},{course:.1f},{utc:%d%m%y},,,A")
            + sentence(f"GNGGA,{clock},{place},1,10,0.9,520.0,M,47.0,M,,"))


def write_drive(path, begin, seconds):
    """A log at 1 Hz, beginning at `begin` in seconds since 1970."""
    with open(path, "w", newline="") as log:
        log.writelines(epoch(second, begin + second) for second in range(seconds))


def free_port(host="127.0.0.1"):
    with socket.socket() as probe:
        probe.bind((host, 0))
        return probe.getsockname()[1]


def listens(process, host, port):
    """Whether somebody answers there in time, and before `process` ends."""
    deadline = time.monotonic() + ANSWER_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with socket.create_connection((host, port), timeout=1):
                return True
        except OSError:
            time.sleep(0.02)
    return False


def end_now(process):
    """Kills a process that still runs; `None` is none."""
    if process and process.poll() is None:
        process.kill()
        process.wait()


def fetch(url):
    with urllib.request.urlopen(url, timeout=30) as answer:
        return answer.read().decode()


def release_binary(given):
    """The binary as it is installed; built when none is named, here or by $WAYPOST."""
    given = given or os.environ.get("WAYPOST")
    if given is None:
        subprocess.run([ROOT / "scripts/release"], check=True, stdout=sys.stderr)
        given = ROOT / "build/waypost"
    return str(pathlib.Path(given).resolve())


def folder(name):
    """Of the trial's own, below the checkout: /tmp may be in memory, where a commit costs nothing."""
    (ROOT / "build").mkdir(exist_ok=True)
    made = pathlib.Path(tempfile.mkdtemp(prefix=f"{name}-", dir=ROOT / "build"))
    os.chmod(made, 0o700)
    atexit.register(
        lambda: is_ending and print(f"{name}: ended by a signal; everything is kept in {made}", file=sys.stderr))
    return made


def configuration(path, origin, vehicle="van-1", **sections):
    """Writes a configuration for the simulator at `origin`; `sections` are put over the sections of that name."""
    document = {
        "vehicle": {"providerId": "trial", "vehicleId": vehicle},
        "receiver": {"type": "stdin"},
        "authorization": {"type": "http", "url": origin + "/token/driver/{vehicleId}"},
        "reporting": {"intervalSeconds": 5, "heartbeatSeconds": 60},
        "upload": {"endpoint": origin, "timeoutSeconds": 5,
                   "retry": {"initialDelaySeconds": 0.05, "maximumDelaySeconds": 1}},
        "outbox": {"path": str(path.with_suffix(".sqlite"))},
    }
    # A trial has no hours to drain a backlog in.
    if "backlogUpdatesPerSecond" in json.loads((ROOT / "config.example.json").read_text())["upload"]:
        document["upload"]["backlogUpdatesPerSecond"] = 0
    for name, section in sections.items():
        document[name] = document.get(name, {}) | section
    path.write_text(json.dumps(document, indent=2))
    return path


class Simulator:
    """`waypost simulator` on a port that it keeps over restarts; what arrives is also in `record`."""

    def __init__(self, waypost, folder, record=True):
        self.waypost, self.log = waypost, folder / "simulator.log"
        self.record = folder / "record.jsonl" if record else None
        self.origin = f"http://127.0.0.1:{free_port()}"
        self.process = None

    def start(self, *faults):
        arguments = [self.waypost, "simulator", "--listen", self.origin.removeprefix("http://"), *map(str, faults)]
        if self.record:
            arguments += ["--record", str(self.record)]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log)
        if not listens(self.process, *self.origin.removeprefix("http://").split(":")):
            self.stop()
            raise SystemExit("the simulator does not answer: " + self.log.read_text())

    def stop(self):
        end_now(self.process)

    def summary(self):
        return json.loads(fetch(self.origin + "/record.json"))["summary"]

    def vehicle(self, name):
        """What arrived for a vehicle since the start."""
        found = json.loads(fetch(self.origin + "/record.json"))["vehicles"].get(f"providers/trial/vehicles/{name}")
        return found or {"fixTimes": [], "forgottenFixTimes": 0}


class Issuer(http.server.ThreadingHTTPServer):
    """Passes token requests on to the simulator at `origin`, late by `delay` seconds, or answers 500 while it is down."""

    def __init__(self, origin, delay=0, vehicle="van-1"):
        super().__init__(("127.0.0.1", 0), _IssuerRequest)
        self.origin, self.delay, self.is_down = origin, delay, False
        self.fetches = []  # seconds since 1970, and whether it failed
        self.url = f"http://127.0.0.1:{self.server_port}/token/driver/{vehicle}"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class _IssuerRequest(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        is_down = self.server.is_down
        self.server.fetches.append((time.time(), is_down))
        time.sleep(self.server.delay)
        body = b"" if is_down else fetch(self.server.origin + self.path).encode()
        self.send_response(500 if is_down else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Service:
    """`waypost run` that reads standard input and answers at a status address.

    `before` stands before the command, as what enters a network namespace; `options` behind it.
    """

    def __init__(self, waypost, configuration, log, environment=None, before=(), options=()):
        self.port = free_port()
        document = json.loads(configuration.read_text()) | {"status": {"listen": f"127.0.0.1:{self.port}"}}
        configuration.write_text(json.dumps(document, indent=2))
        self.waypost, self.configuration, self.log, self.before = waypost, configuration, log, before
        self.started = time.time()
        with open(log, "ab") as errors:
            self.process = subprocess.Popen(
                [*before, waypost, "run", "--config", str(configuration), *map(str, options)], stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL, stderr=errors, env=environment)
        os.set_blocking(self.process.stdin.fileno(), False)

    def feed(self, text):
        """Writes all of it; fails when the service has ended, or reads nothing for a minute."""
        pipe, left = self.process.stdin.fileno(), memoryview(text.encode())
        while left:
            if not select.select([], [pipe], [], FEED_SECONDS)[1]:
                raise Failed(f"the service reads nothing for {FEED_SECONDS} s: {self.last_words()}")
            try:
                left = left[os.write(pipe, left):]
            except BlockingIOError:
                continue
            except OSError:
                raise Failed(f"the service reads no more; {self.state()}") from None

    def metrics(self):
        """Names, labels included, to values; `None` while nothing answers."""
        try:
            lines = fetch(f"http://127.0.0.1:{self.port}/metrics").splitlines()
        except (urllib.error.URLError, OSError):
            return None
        return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if line[:1] not in "#")}

    def status(self):
        """What `waypost status` says, asked where the service is; `None` while nothing answers."""
        answer = subprocess.run(
            [*self.before, self.waypost, "status", "--json", "--config", str(self.configuration)],
            stdin=subprocess.DEVNULL, capture_output=True, timeout=ONE_COMMAND_SECONDS)
        return json.loads(answer.stdout) if answer.returncode == 0 else None

    def is_over(self):
        return self.process.poll() is not None

    def settle(self, seconds):
        """Waits until nothing is pending and nothing more is accepted; gives the status."""
        # The service is asked, not its outbox: that learns of the last delivery with the next update, or at the end.
        deadline, status, since = time.monotonic() + seconds, None, time.monotonic()
        while True:
            before, status = status, self.status()
            now = time.monotonic()
            if not (status and before) or status["ledger"] != before["ledger"] or status["ledger"]["pending"]:
                since = now
            if now >= since + QUIET_SECONDS:
                return status
            if now > deadline or self.is_over():
                words = status["ledger"] if status else "no status"
                raise Failed(f"not everything is delivered {seconds} s after the drive: {words}; {self.state()}")
            time.sleep(0.2)

    def stop(self):
        """Ends the service in order; gives its exit status."""
        self.process.terminate()
        try:
            return self.process.wait(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Failed(f"the service does not stop within {STOP_SECONDS} s: {self.last_words()}") from None

    def kill(self):
        end_now(self.process)

    def state(self):
        """Whether it runs, or how it ended, and its last words."""
        try:
            return f"the service ended with {self.process.wait(timeout=1)}: {self.last_words()}"
        except subprocess.TimeoutExpired:
            return f"the service runs: {self.last_words()}"

    def last_words(self):
        return self.log.read_text(errors="replace")[-2000:]

    def memory(self, name):
        """A line of /proc/PID/status that counts memory, as VmHWM, in KiB."""
        return int(self._proc("status").split(f"\n{name}:", 1)[1].split(None, 1)[0])

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def threads(self):
        return len(os.listdir(f"/proc/{self.process.pid}/task"))

    def bytes_read(self):
        """All that was read by system calls, and what of it came from the device."""
        figures = dict(line.split(": ") for line in self._proc("io").splitlines())
        return int(figures["rchar"]), int(figures["read_bytes"])

    def _proc(self, name):
        return pathlib.Path(f"/proc/{self.process.pid}/{name}").read_text()


class Feed(threading.Thread):
    """A receiver at 1 Hz. Each epoch is written at the moment that it states; with `first`, in seconds since 1970, the
    drive begins there and is `speed` times as fast."""

    def __init__(self, service, first=None, speed=1):
        super().__init__(daemon=True)
        self.service, self.first, self.speed = service, first, speed
        self.ended, self.failure, self.seconds = threading.Event(), None, 0
        self.start()

    def run(self):
        begin = time.monotonic()
        try:
            while not self.ended.wait(max(0, begin + self.seconds / self.speed - time.monotonic())):
                now = time.time() if self.first is None else self.first + self.seconds
                self.service.feed(epoch(self.seconds, now))
                self.seconds += 1
        except Failed as failure:
            self.failure = failure

    def check(self):
        """Fails when the service took nothing more."""
        if self.failure:
            raise self.failure

    def end(self):
        """Ends the drive; gives its length in seconds."""
        self.ended.set()
        self.join()
        self.check()
        return self.seconds


def outbox(waypost, configuration, verb, *options):
    """The lines of `waypost outbox VERB`."""
    answer = subprocess.run(
        [waypost, "outbox", verb, "--config", str(configuration), *options], stdin=subprocess.DEVNULL,
        capture_output=True, timeout=ONE_COMMAND_SECONDS)
    if answer.returncode != 0:
        raise Failed(f"outbox {verb} ends with {answer.returncode}: {answer.stderr.decode()}")
    return [json.loads(line) for line in answer.stdout.splitlines()]


def ledger(waypost, configuration):
    """The five words of the outbox, which must balance."""
    [listing] = outbox(waypost, configuration, "list", "--json")
    words = {word: listing[word] for word in WORDS}
    if words["accepted"] != sum(words[word] for word in WORDS[1:]):
        raise Failed(f"the ledger does not balance: {words}")
    return words


def find_no_token(folder):
    """Fails when a file of the trial holds what looks like a JSON Web Token."""
    for path in folder.iterdir():
        if path.is_file() and re.search(rb"eyJ[\w-]{20}", path.read_bytes()):
            raise Failed(f"a token stands in {path}")


def arrivals(record):
    """The lines of a simulator's record, as long as they are complete: kind, time of fix, time of arrival."""
    with open(record) as lines:
        for line in lines:
            if line.endswith("\n"):
                arrived = json.loads(line)
                yield arrived["kind"], moment(arrived["time"]), moment(arrived["receivedAt"])
