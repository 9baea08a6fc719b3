"""A token endpoint that fails for a long time, and then signs with other keys."""

from __future__ import annotations

import math
import time
from typing import Any

from .drive import epoch
from .failure import Failed, require
from .service import Service, find_no_token
from .simulator import Arrival, Issuer, Simulator
from .trial import Option, Trial
from .waypost import Ledger, configuration

INTERVAL = 5  # between two updates, in seconds
TOKEN_LIFE = 320  # a token is renewed within half a minute, and expires in the middle of a long outage
BEGIN = 10  # the start of the outage, in seconds of the drive
BACK_WITHIN = 65  # seconds after the outage's end: the maximum backoff, a minute, and an exchange
CHANGE_AFTER = BACK_WITHIN + 10  # seconds after the outage's end at which the keys change
END_AFTER = CHANGE_AFTER + 4 * INTERVAL
LATEST = 1.5  # an update's age on arrival: the receiver's cycle, half a second, and a loaded machine
SETTLE_SECONDS = 90


class TokenOutage(Trial):
    """Makes the token endpoint answer 500, and changes every signing key afterwards: nothing may be lost."""

    name = "token-outage-test"
    options = (Option("--seconds", 600, "seconds of the outage"),)

    def run(self) -> str:
        down = self.arguments.seconds
        outage = range(BEGIN, BEGIN + down)
        simulator = Simulator(self.waypost, self.directory)
        self.ends_with(simulator.stop)
        simulator.start("--token-life", TOKEN_LIFE, "--key-rotation", outage.stop + CHANGE_AFTER)
        issuer = Issuer(simulator.origin)
        configured = configuration(
            self.directory / "outbox.json", simulator.origin, authorization={"url": issuer.url},
            reporting={"intervalSeconds": INTERVAL})
        service = Service(self.waypost, configured, self.directory / "service.log")
        self.ends_with(service.kill)
        began = drive(service, issuer, outage, outage.stop + END_AFTER)
        service.settle(SETTLE_SECONDS)
        service.stop()
        find_no_token(self.directory)
        return judge(down, began, self.waypost.ledger(configured), simulator.summary(), issuer.fetches,
                     list(simulator.record.all()))


def drive(service: Service, issuer: Issuer, outage: range, seconds: int) -> float:
    """Sends one fix per second, each written at the time that it states. Returns the time of the first in seconds since
    1970.
    """
    began, begin = time.time(), time.monotonic()
    for second in range(seconds):
        issuer.is_down = second in outage
        service.write(epoch(second, time.time()))
        time.sleep(max(0, begin + second + 1 - time.monotonic()))
    return began


def judge(down: int, began: float, ledger: Ledger, summary: dict[str, Any], fetches: list[tuple[float, bool]],
          arrivals: list[Arrival]) -> str:
    failures = [at for at, failed in fetches if failed]
    answered = [at for at, failed in fetches if not failed and failures and at > failures[0]]
    back = began + BEGIN + down
    later = [arrival for arrival in arrivals if answered and arrival.received >= answered[0]]
    if len(failures) < 2 or not later:
        raise Failed(f"{len(failures)} token fetches failed, {len(answered)} were answered later, {len(later)} updates "
                     "arrived after that")
    # All positions of one request arrive at the same time.
    first = min(arrival.received for arrival in later)
    age = min((first - arrival.fixed for arrival in later if arrival.received == first and arrival.kind == "last"),
              default=math.inf)
    gap = min(after - before for (before, _), (after, _) in zip(fetches, fetches[1:]))
    refused = summary["fleetOutcomes"].get("401", 0)
    return require(
        f"the token endpoint answered 500 for {down} s: {ledger['accepted']} accepted, {ledger['delivered']} delivered, "
        f"{summary['distinctFixes']} arrived, {summary['repeatedFixes']} more than once, "
        f"{summary['lastLocationsBackInTime']} back in time; {len(fetches)} token fetches, {len(failures)} failed, at "
        f"least {gap:.1f} s apart; the first position after the return comes {first - back:.1f} s after it and is "
        f"{age:.1f} s old; {refused} answers 401 after the change of keys",
        ("updates are lost", ledger["accepted"] == ledger["delivered"] == summary["distinctFixes"]),
        ("the order is wrong", not summary["lastLocationsBackInTime"] and not summary["pastLocationsOutOfOrder"]),
        ("the newest position didn't arrive first", age <= INTERVAL + LATEST),
        ("the return was noticed late", first - back <= BACK_WITHIN),
        # The wait doubles up to a minute and is drawn from its upper half: about eight waits, then one per half minute. A
        # change of the host's network ends a wait, as intended; for root, the trial has its own network.
        ("the endpoint is asked too often", gap >= 1 and len(failures) <= 8 + down / 30),
        ("the change of keys should have caused one 401", refused == 1))
