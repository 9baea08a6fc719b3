"""The cost of each policy, and the errors that a follower of the vehicle sees."""

from __future__ import annotations

import concurrent.futures
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from . import follower, journeys
from .failure import Failed
from .follower import Figures, Moment, Place
from .front import Front
from .processes import call
from .simulator import Simulator
from .trial import Option, Trial, count
from .waypost import configuration


class Policy(NamedTuple):
    """A section `reporting`, and the limits of its results."""

    name: str
    reporting: dict[str, object]
    # The maximum error of the reported track in metres.
    track: float | None = None
    # The maximum share of the requests and bytes of `BASE`: on average, and for each drive.
    mean: tuple[float, float] | None = None
    each: tuple[float, float] | None = None
    # The maximum live error in metres.
    live: float | None = None
    # Whether the server is down in the middle third of the drive, which is in town.
    has_outage: bool = False
    # Whether the answers contain the whole vehicle, as they do unless the client restricts them.
    has_whole_answers: bool = False


BARE = Policy("interval 10 s, track off", {"intervalSeconds": 10, "trackToleranceMeters": "off"})
# An agent that sends only a position every ten seconds; the others' costs are compared with it.
BASE = BARE._replace(name="interval 10 s, track off, whole answers", has_whole_answers=True)
POLICIES = (
    BASE, BARE,
    Policy("interval 10 s, track 5 m", {"intervalSeconds": 10, "trackToleranceMeters": 5}, track=5, each=(1.02, 1.05)),
    Policy("accuracy 50 m, 30 s", {"policy": "accuracy", "liveToleranceMeters": 50, "maximumIntervalSeconds": 30, "trackToleranceMeters": 5},
           track=5, mean=(0.55, 0.6), each=(0.65, 0.65), live=60),
    Policy("accuracy 100 m, 60 s, track 10 m",
           {"policy": "accuracy", "liveToleranceMeters": 100, "maximumIntervalSeconds": 60, "trackToleranceMeters": 10},
           track=10, mean=(0.33, 1), each=(0.4, 1)),
    Policy("interval 10 s, track 5 m, an outage", {"intervalSeconds": 10, "trackToleranceMeters": 5}, track=5, has_outage=True))
SLACK_METERS = 0.1  # the rounding of a log and a request


class Replay(NamedTuple):
    """A drive that was replayed with one policy, but not scored yet."""

    drive: str
    vehicle: str
    policy: Policy
    driven: list[Place]
    # Over TLS, in both directions, without the headers of TCP and IP.
    wire_bytes: int
    written_bytes: int


class Run(NamedTuple):
    """The result of one drive with one policy."""

    drive: str
    policy: Policy
    figures: Figures
    # Over TLS, in both directions, without the headers of TCP and IP.
    wire_bytes: int
    written_bytes: int
    # The minimum number of points that describe the track within the bound.
    fewest: int
    # The figures of the replay's own summary.
    summary: dict[str, Any]

    def per_hour(self, value: float) -> float:
        return value / self.figures.hours


class Economy(Trial):
    """Replays recorded and generated drives under each policy, and measures requests, bytes and a follower's error."""

    name = "economy"
    options = (Option("--speed", 60, "the speed of the replay, as a multiple of the drive's", count),
               Option("--jobs", 3, "the number of replays at the same time", count))
    has_seed = True
    tools = {"nginx": "nginx-light", "openssl": "openssl"}

    def run(self) -> str:
        self.simulator = Simulator(self.waypost, self.directory, records=False)
        self.ends_with(self.simulator.stop)
        self.uploads = self.directory / "uploads.jsonl"
        self.simulator.start("--record-uploads", self.uploads)
        self.front = Front(self.directory, self.simulator.origin)
        self.ends_with(self.front.stop)
        recorded = journeys.recorded()
        if not recorded:
            self.say(f"no recorded drives in {journeys.RECORDED}: only generated drives are used")
        logs = [journeys.log(path, self.directory) for path in recorded]
        logs += journeys.generated(self.arguments.seed, self.directory)
        drives = [(journeys.name(log), log, places) for log in logs if (places := self.driven(log))]
        policies = list(self.known())
        with concurrent.futures.ThreadPoolExecutor(self.arguments.jobs) as pool:
            tasks = [pool.submit(self.replay, policy, *drive) for policy in policies for drive in drives
                     if not policy.has_outage or drive[0] == journeys.TOWN]
            replays = [task.result() for task in tasks]
        # Scoring holds the interpreter's lock, and would delay the requests of a running replay.
        runs = [self.score(replay) for replay in replays]
        failures = self.judge(runs)
        report = "\n".join([table(runs), "", *named(runs), *(failures or ["every limit is met"]),
                          f"{len(drives)} drives, seed {self.arguments.seed}, {self.seconds()} s"])
        if failures:
            raise Failed(report)
        return report

    def say(self, words: str) -> None:
        print(f"economy: {words}", file=sys.stderr)

    def known(self) -> Iterator[Policy]:
        """Returns the policies whose keys this release has."""
        keys = json.loads(call(self.waypost.path, "config", "--schema"))["properties"]["reporting"]["properties"]
        for policy in POLICIES:
            missing = [key for key in policy.reporting if key not in keys]
            if not missing:
                yield policy
            elif policy in (BASE, BARE):
                yield policy._replace(reporting={"intervalSeconds": 10})
            else:
                self.say(f"{policy.name} is not measured: this release has no {' and no '.join(missing)}")

    def driven(self, log: Path) -> list[Place] | None:
        fixes = self.directory / f"{journeys.name(log)}.jsonl"
        with open(fixes, "wb") as file:
            subprocess.run([self.waypost.path, "fixes", log], stdout=file, stderr=subprocess.DEVNULL)
        if fixes.stat().st_size == 0:
            self.say(f"{log.name} is left out: it contains no fix with a date")
            return None
        return follower.track(fixes)

    def replay(self, policy: Policy, name: str, log: Path, driven: list[Place]) -> Replay:
        vehicle = f"{name}-{POLICIES.index(next(one for one in POLICIES if one.name == policy.name))}"
        with tempfile.TemporaryDirectory(dir=self.directory) as place, Wire(self.front.ports[policy.has_whole_answers]) as wire:
            configured = configuration(
                Path(place) / "config.json", wire.origin, vehicle,
                authorization={"type": "http", "url": self.simulator.origin + "/token/driver/{vehicleId}"},
                upload={"endpoint": wire.origin, "caFile": str(self.front.authority)})
            document = json.loads(configured.read_text()) | {"reporting": policy.reporting}
            configured.write_text(json.dumps(document))
            words = self.waypost.replay(log, configured)
            words[words.index("max")] = str(self.arguments.speed)
            with open(self.directory / f"{vehicle}.json", "wb") as output:
                if policy.has_outage:
                    third = (driven[-1].time - driven[0].time) / self.arguments.speed / 3
                    wire.interrupt(third, third)
                process = subprocess.Popen(words, stdout=output, stderr=subprocess.DEVNULL)
                _, status, used = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode != 0:
                raise Failed(f"{' '.join(words)}: exited with {process.returncode}")
        self.say(f"{name}, {policy.name}: replayed")
        return Replay(name, vehicle, policy, driven, wire.bytes, used.ru_oublock * 512)

    def score(self, replay: Replay) -> Run:
        with open(self.uploads) as lines:
            own = [line for line in lines if f'/{replay.vehicle}"' in line]
        uploads = self.directory / f"{replay.vehicle}.uploads.jsonl"
        uploads.write_text("".join(own))
        figures = follower.measure(replay.driven, follower.uploads(own))
        self.check(replay.drive, uploads, figures)
        self.say(f"{replay.drive}, {replay.policy.name}: {figures.requests} requests")
        return Run(replay.drive, replay.policy, figures, replay.wire_bytes, replay.written_bytes,
                   follower.optimum(replay.driven, replay.policy.track or 5),
                   json.loads((self.directory / f"{replay.vehicle}.json").read_text()))

    def check(self, name: str, uploads: Path, figures: Figures) -> None:
        """Compares the figures with `score.py`, if that is available. It treats jumps as driving."""
        script = journeys.RECORDED / "score.py"
        if not script.exists():
            return
        other = json.loads(call(sys.executable, script, self.directory / f"{name}.jsonl", uploads))
        own = {"live95": figures.live95, "track95": figures.track95}
        for key, value in own.items():
            if abs(other[key] - value) > max(1.0, value * 0.05):
                self.say(f"{name}: score.py says {key} {other[key]} instead of {value:.1f}; it treats jumps as driving")

    def judge(self, runs: list[Run]) -> list[str]:
        """Returns each violated limit as one line."""
        base = {run.drive: run for run in runs if run.policy.name == BASE.name}
        failures: list[str] = []
        for policy in dict.fromkeys(run.policy.name for run in runs):
            own = [run for run in runs if run.policy.name == policy]
            limits = own[0].policy
            shares = [(run.figures.requests / base[run.drive].figures.requests,
                       run.wire_bytes / base[run.drive].wire_bytes) for run in own]
            for run, share in zip(own, shares):
                for word, one, limit in zip(("requests", "bytes"), share, limits.each or share):
                    if one > limit:
                        failures.append(f"{run.drive}, {policy}: {one:.2f} of the {word}, at most {limit}")
                if limits.track and run.figures.track_moving.off > limits.track + SLACK_METERS:
                    failures.append(f"{run.drive}, {policy}: the track is off {words(run.figures.track_moving)}")
                if limits.live and run.figures.live_avoidable.off > limits.live:
                    failures.append(f"{run.drive}, {policy}: live off {words(run.figures.live_avoidable)}")
                failures += disagreements(run)
            for word, values, limit in zip(("requests", "bytes"), zip(*shares), limits.mean or (9, 9)):
                if sum(values) / len(own) > limit:
                    failures.append(f"{policy}: {sum(values) / len(own):.2f} of the {word} on average, at most {limit}")
        return failures


def disagreements(run: Run) -> Iterator[str]:
    """Returns figures that differ from the summary of `waypost replay`, which ignores the outage."""
    for key, value in (("requestsPerHour", run.per_hour(run.figures.requests)), ("liveErrorMetersP95", run.figures.live95),
                       ("trackErrorMetersP95", run.figures.track95)):
        stated = run.summary.get(key)
        if stated is not None and abs(stated - value) > max(0.5, value * 0.05) and not run.policy.has_outage:
            yield f"{run.drive}, {run.policy.name}: replay says {key} {stated}, and it is {value:.1f}"


def words(moment: Moment) -> str:
    return f"by {moment.off:.1f} m, {moment.at:.0f} s after its beginning, {moment.age:.0f} s after the last update"


def named(runs: list[Run]) -> Iterator[str]:
    """Returns errors beyond a bound that are no failures, because no update was allowed yet or the vehicle was parked."""
    for run in runs:
        live, track = run.figures.live_worst, run.figures.track_worst
        if run.policy.live and live.off > run.policy.live and not live.is_avoidable:
            yield f"{run.drive}, {run.policy.name}: live off {words(live)}, before another was allowed"
        if run.policy.track and track.off > run.policy.track + SLACK_METERS and track != run.figures.track_moving:
            yield f"{run.drive}, {run.policy.name}: parked, and its receiver off {words(track)}"


def table(runs: list[Run]) -> str:
    """Returns one line for each drive and policy, and the mean of each policy."""
    rows = [("drive", "policy", "requests/h", "kB/h", "past/req", "live p50", "p95", "max m", "track p95", "max m",
             "places/h", "fewest/h", "flash kB/h")]
    for policy in dict.fromkeys(run.policy.name for run in runs):
        own = [run for run in runs if run.policy.name == policy]
        columns = [[run.drive, policy, *numbers(run)] for run in own]
        means = [sum(column) / len(own) for column in zip(*(numbers(run) for run in own))]
        rows += [text(row) for row in columns + [["mean", policy, *means]]]
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(width) if index < 2 else cell.rjust(width)
                               for index, (cell, width) in enumerate(zip(row, widths))) for row in rows)


def numbers(run: Run) -> list[float]:
    one = run.figures
    return [run.per_hour(one.requests), run.per_hour(run.wire_bytes) / 1000, one.past / max(1, one.requests), one.live50,
            one.live95, one.live_worst.off, one.track95, one.track_worst.off, run.per_hour(one.requests + one.past),
            run.per_hour(run.fewest), run.per_hour(run.written_bytes) / 1000]


def text(row: list[Any]) -> tuple[str, ...]:
    return (row[0], row[1], *(f"{cell:.0f}" if index in (0, 1, 8, 9, 10) else f"{cell:.1f}"
                              for index, cell in enumerate(row[2:])))


class Wire:
    """A relay to a port of this machine that counts the bytes in both directions."""

    def __init__(self, port: int) -> None:
        self._target, self.bytes, self._lock = port, 0, threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._ends: list[socket.socket] = []
        self._is_broken = False
        self.origin = f"https://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Wire:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()

    def interrupt(self, after: float, seconds: float) -> None:
        """Drops the traffic for a number of seconds, after a delay."""
        def turn(is_broken: bool) -> None:
            with self._lock:
                self._is_broken = is_broken
                ends, self._ends = self._ends, []
            for end in ends:
                with contextlib.suppress(OSError):  # the connection has already ended
                    end.shutdown(socket.SHUT_RDWR)

        for at, is_broken in ((after, True), (after + seconds, False)):
            timer = threading.Timer(at, turn, [is_broken])
            timer.daemon = True
            timer.start()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
                with self._lock:
                    is_broken = self._is_broken
                    self._ends += [near]
                if is_broken:
                    near.close()
                    continue
                far = socket.create_connection(("127.0.0.1", self._target))
            except OSError:
                return
            for one, other in ((near, far), (far, near)):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self._carry, args=(one, other), daemon=True).start()

    def _carry(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(1 << 16):
                with self._lock:
                    self.bytes += len(data)
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            sink.close()
