"""Reloads while the service delivers, repeatedly and sometimes with an invalid configuration."""

from __future__ import annotations

import argparse
import bisect
import json
import signal
import socket
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .drive import moment
from .failure import Failed, require
from .network import free_port
from .service import Feed, Service, find_no_token
from .simulator import Arrival, Simulator
from .trial import Option, Trial, count
from .waypost import Ledger, Waypost, configuration

VEHICLE = "van-1"
SPEED = 20  # seconds of the drive per second: with an update every 5 s of the drive, four per second
ANSWER_SECONDS = 20  # for one reload on a loaded machine; normally milliseconds
SETTLE_SECONDS = 120
DONE, REJECTED = "configuration reloaded", "reload rejected"
# Slow answers, so that reloads happen during exchanges, and a few failures.
FAULTS = ["--delay", "0..0.1", "--errors", "503:0.05"]
# The number of descriptors and threads that may be added, because connections and threads come and go.
MORE_DESCRIPTORS, MORE_THREADS = 6, 4

Document = dict[str, Any]


class Step(NamedTuple):
    """One reload: the text of the file, and the number of the simulator that it names; `None` if the file is invalid."""

    text: str
    endpoint: int | None


class Reign(NamedTuple):
    """A period in which updates may have been sent to a simulator, in seconds since 1970."""

    endpoint: int
    since: float
    until: float


class ReceiverService(Service):
    """`waypost run` whose receiver sends datagrams, because a service that reads standard input rejects reloads."""

    def __init__(self, waypost: Waypost, configured: Path, log: Path) -> None:
        self.receiver = ("127.0.0.1", free_port())
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        document = json.loads(configured.read_text())
        document["receiver"] = {"type": "udp", "port": self.receiver[1]}
        configured.write_text(json.dumps(document))
        super().__init__(waypost, configured, log)

    def write(self, text: str) -> None:
        self.socket.sendto(text.encode(), self.receiver)


class Reloads(Trial):
    """Reloads `waypost run` under load, a third of the times with an invalid file: nothing may be lost or sent to the
    wrong endpoint.
    """

    name = "reload-test"
    options = (Option("--reloads", 600, "the number of reloads", count), Option("--every", 1, "seconds between two reloads", float))
    has_seed = True

    def __init__(self, arguments: argparse.Namespace, waypost: Waypost, directory: Path) -> None:
        super().__init__(arguments, waypost, directory)
        self.simulators: list[Simulator] = []
        for name in ("first", "second"):
            (directory / name).mkdir()
            self.simulators.append(Simulator(waypost, directory / name))

    def run(self) -> str:
        for simulator in self.simulators:
            self.ends_with(simulator.stop)
            simulator.start(*FAULTS)
        reloads, every = self.arguments.reloads, self.arguments.every
        configured = configuration(self.directory / "outbox.json", self.simulators[0].origin, VEHICLE)
        service = ReceiverService(self.waypost, configured, self.directory / "service.log")
        self.ends_with(service.kill)
        service.wait("the service answers", service.metrics, ANSWER_SECONDS)
        began = time.time()
        feed = Feed(service, round(began) - 3600 - reloads * every * SPEED, SPEED)
        assert feed.first is not None
        steps = self.steps(json.loads(configured.read_text()), reloads)
        reigns = [Reign(0, began, began)]
        size: tuple[int, int] | None = None
        for number, step in enumerate(steps):
            reigns = self.take(step, service, reigns)
            if number == min(60, reloads // 4):
                size = service.descriptors(), service.threads()
            time.sleep(max(0, began + (number + 1) * every - time.time()))
        after = service.descriptors(), service.threads()
        resident = service.memory("VmRSS")
        feed.end()
        service.settle(SETTLE_SECONDS)
        service.stop()
        find_no_token(self.directory)
        reigns[-1] = reigns[-1]._replace(until=time.time())
        words = service.log.read_text(errors="replace")
        figures = judge(
            [step.endpoint is None for step in steps], (words.count(DONE), words.count(REJECTED)),
            self.waypost.ledger(configured), [list(simulator.record.all()) for simulator in self.simulators],
            [simulator.summary()["fleetOutcomes"] for simulator in self.simulators], reigns,
            lambda fixed: began + (fixed - feed.first) / SPEED)
        size = size or after
        return require(
            f"{figures}; {size[0]} descriptors and {size[1]} threads at first, {after[0]} and {after[1]} at the end, "
            f"{resident / 1024:.1f} MiB resident ({self.seconds()} s)",
            ("descriptors or threads are left behind", after[0] <= size[0] + MORE_DESCRIPTORS and after[1] <= size[1] + MORE_THREADS))

    def take(self, step: Step, service: Service, reigns: list[Reign]) -> list[Reign]:
        """Reloads once. Returns the periods, with a new one if the simulator changes."""
        word = REJECTED if step.endpoint is None else DONE
        before = service.log.read_text(errors="replace").count(word)
        asked = time.time()
        service.configuration.write_text(step.text)
        service.process.send_signal(signal.SIGHUP)
        line = service.wait(f"{word!r} in the log", lambda: found(service.log, word, before + 1), ANSWER_SECONDS, 0.01)
        if step.endpoint is None or step.endpoint == reigns[-1].endpoint:
            return reigns
        # The old run ended before the line was written; its time is in milliseconds.
        done = moment(line.split()[0]) + 0.001
        return [*reigns[:-1], reigns[-1]._replace(until=done), Reign(step.endpoint, asked, done)]

    def steps(self, document: Document, reloads: int) -> list[Step]:
        """Returns the reloads. A third of the files are invalid, but not the last one, after which the rest is delivered."""
        bad = set(self.chance.sample(range(reloads - 1), reloads // 3)) if reloads > 1 else set()
        steps, endpoint = [], 0
        for number in range(reloads):
            if number in bad:
                steps.append(Step(self.bad(document), None))
                continue
            endpoint = 1 - endpoint if self.chance.random() < 0.8 else endpoint
            steps.append(Step(json.dumps(self.good(document, endpoint), indent=2), endpoint))
        return steps

    def good(self, document: Document, endpoint: int) -> Document:
        """Returns a valid configuration that names one of the simulators and changes other keys at random."""
        origin = self.simulators[endpoint].origin
        return document | {
            "authorization": {"type": "http", "url": origin + "/token/driver/{vehicleId}"},
            "reporting": {"intervalSeconds": 5, "heartbeatSeconds": self.chance.choice([20, 60])},
            "upload": document["upload"] | {
                "endpoint": origin, "maximumPastLocations": self.chance.choice([5, 50])},
            "outbox": document["outbox"] | {"maximumMegabytes": self.chance.choice([16, 64])},
            "log": {"level": self.chance.choice(["info", "debug"])},
        }

    def bad(self, document: Document) -> str:
        """Returns a file that a reload must reject."""
        good = self.good(document, self.chance.choice([0, 1]))
        text = json.dumps(good, indent=2)
        return self.chance.choice([
            text[:self.chance.randrange(len(text))],  # half written
            json.dumps(good | {"uplaod": {}}),
            json.dumps(good | {"receiver": {"type": "stdin"}}),
            json.dumps(good | {"upload": good["upload"] | {"caFile": "/nowhere/ca.pem"}}),
        ])


def found(log: Path, word: str, number: int) -> str | None:
    """Returns the line of the log with occurrence `number` of the words, once the line is complete."""
    lines = [line for line in log.read_text(errors="replace").split("\n")[:-1] if word in line]
    return lines[number - 1] if len(lines) >= number else None


def is_allowed(endpoint: int, made: float, received: float, reigns: Sequence[Reign]) -> bool:
    """Returns whether an update that was accepted and received at these times can have been sent while the simulator was
    in use.
    """
    # The periods are in order. Only those that started before the arrival are candidates.
    last = bisect.bisect_right([reign.since for reign in reigns], received)
    for reign in reversed(reigns[:last]):
        if reign.until < made:
            return False
        if reign.endpoint == endpoint:
            return True
    return False


def judge(bad: Sequence[bool], reported: tuple[int, int], ledger: Ledger, arrivals: Sequence[Sequence[Arrival]],
          outcomes: Sequence[dict[str, int]], reigns: Sequence[Reign], fed: Callable[[float], float]) -> str:
    """Judges the trial. `reported` has the numbers of reloads that the service reported as done and as rejected; `fed`
    returns the time at which a fix was written to the service.
    """
    fixes = [{arrival.fixed for arrival in there} for there in arrivals]
    every = fixes[0] | fixes[1]
    wrong = [arrival for endpoint, there in enumerate(arrivals) for arrival in there
             if arrival.vehicle != VEHICLE or not is_allowed(endpoint, fed(arrival.fixed), arrival.received, reigns)]
    # An update that was lost in transit is sent again and marked as such, like a heartbeat. Neither is a repetition.
    sent = [arrival.fixed for there in arrivals for arrival in there if not arrival.is_heartbeat]
    repeated = len(sent) - len(set(sent))
    lost = ledger["accepted"] - len(every)
    answers = [word for there in outcomes for word in there]
    if min(len(there) for there in fixes) == 0:
        raise Failed(f"nothing was tested: {len(fixes[0])} and {len(fixes[1])} fixes arrived")
    return require(
        f"{len(bad)} reloads, {sum(bad)} of them invalid: {ledger['accepted']} accepted, {lost} lost, {len(wrong)} sent "
        f"wrongly; {len(fixes[0])} arrived at one endpoint, {len(fixes[1])} at the other, {repeated} more than once",
        ("updates are lost", lost == 0 and ledger["delivered"] == ledger["accepted"]),
        (f"the first that was sent wrongly is {wrong[:1]}", not wrong),
        (f"the service reported {reported[0]} as done and {reported[1]} as rejected", reported == (bad.count(False), bad.count(True))),
        (f"Fleet Engine answered {answers}", set(answers) <= {"200", "503"}))
