"""A follower's view of a vehicle from its updates, and the minimum number of points for the same track."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from .drive import moment

_EARTH = 6371008.8
# A follower extrapolates the vehicle's motion for this many seconds.
_LONGEST_LEAD = 60
# Fixes farther apart than this, in seconds, have a gap between them, which isn't judged.
_GAP = 30
# In metres: the rounding error, and the distance from its place at which a parked vehicle has left it. In metres per
# second: the speed from which on a parked vehicle moves.
_ROUNDING, _SAME_PLACE, _MOVING = 0.02, 5.0, 1.5
# The minimum time between two updates in seconds, less the deviation of a receiver's times from the full second.
_SHORTEST = 4.9
# Fixes of a fast receiver that are closer in time are ignored.
_CLOSEST = 0.9
# No vehicle is faster than this, in metres per second, unless this many consecutive fixes confirm it.
_FASTEST, _QUORUM = 83.0, 3
# The optimum joins no two points that are farther apart than this many fixes, which bounds the search.
_REACH = 120


class Place(NamedTuple):
    """A time in seconds, a place in metres, and the speed to the east and north in metres per second."""

    time: float
    # Metres east, scaled to the equator.
    x: float
    y: float
    east: float
    north: float
    # The true length of such a metre at this latitude.
    shrinking: float = 1.0

    def distance(self, x: float, y: float) -> float:
        return math.hypot((x - self.x) * self.shrinking, y - self.y)

    def pace(self, before: Place) -> tuple[float, float]:
        elapsed = max(0.001, self.time - before.time)
        return (self.x - before.x) * self.shrinking / elapsed, (self.y - before.y) / elapsed

    def extrapolated(self, time: float) -> tuple[float, float]:
        lead = min(time - self.time, _LONGEST_LEAD)
        return self.x + self.east * lead / self.shrinking, self.y + self.north * lead


def place(time: float, latitude: float, longitude: float, speed: float | None, heading: float | None,
          before: Place | None = None) -> Place:
    """Returns a place. Without a heading it has no speed, unless the track from the previous place shows one."""
    here = Place(time, math.radians(longitude) * _EARTH, math.radians(latitude) * _EARTH, 0.0, 0.0,
                 math.cos(math.radians(latitude)))
    if speed is not None and heading is not None:
        way = math.radians(heading)
        return here._replace(east=speed * math.sin(way), north=speed * math.cos(way))
    if before and 0 < time - before.time < 3 and (speed is None or speed >= 0.5):
        east, north = here.pace(before)
        return here._replace(east=east, north=north)
    return here


class Upload(NamedTuple):
    """One request: its start by the drive's time, and its places, the live one last."""

    time: float
    places: list[Place]


def track(fixes: Path) -> list[Place]:
    """Returns the true drive from the output of `waypost fixes`, without jumps that no vehicle can make."""
    read = [json.loads(line) for line in fixes.read_text().splitlines()]
    confirmed: list[Place] = []
    doubted: list[Place] = []
    for fix in sorted(read, key=lambda one: moment(one["time"])):
        time = moment(fix["time"])
        if confirmed and time - confirmed[-1].time < _CLOSEST:
            continue
        here = place(time, fix["latitude"], fix["longitude"], fix.get("speedMetersPerSecond"),
                     fix.get("headingDegrees"), (doubted or confirmed or [None])[-1])
        if confirmed and math.hypot(*here.pace(confirmed[-1])) > _FASTEST:
            doubted = [*doubted, here] if doubted and math.hypot(*here.pace(doubted[-1])) <= _FASTEST else [here]
            if len(doubted) < _QUORUM:
                continue
        doubted = []
        confirmed.append(here)
    return confirmed


def uploads(lines: Iterable[str], vehicle: str | None = None) -> list[Upload]:
    """Returns one vehicle's updates as recorded by a simulator with `--record-uploads`."""
    read: list[Upload] = []
    for line in lines:
        entry = json.loads(line)
        if vehicle is None or entry["vehicle"].endswith("/" + vehicle):
            read.append(Upload(entry["time"], [
                place(one["time"], one["latitude"], one["longitude"], one.get("speed"), one.get("heading"))
                for one in entry["locations"]]))
    return read


class Moment(NamedTuple):
    """A follower's error in metres, with the seconds since the drive's first fix and since the last update."""

    off: float = 0.0
    at: float = 0.0
    age: float = 0.0

    @property
    def is_avoidable(self) -> bool:
        """Whether another update could have been sent: updates are at least five seconds apart."""
        return self.age >= _SHORTEST


class Figures(NamedTuple):
    """Errors in metres: percentiles and worst moments of the live position and of the track. `live_avoidable` is the worst
    moment at which another update could have been sent.
    """

    hours: float
    requests: int
    past: int
    live50: float
    live95: float
    live_worst: Moment
    live_avoidable: Moment
    track95: float
    track_worst: Moment
    # The worst moment without the drift of a parked vehicle, which is reported in one place.
    track_moving: Moment


def _rank(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] if values else 0.0


def measure(driven: Sequence[Place], sent: Sequence[Upload]) -> Figures:
    """Returns the errors of a follower at every fix, and of the line through all reported places."""
    live, last, index = [], None, 0
    for number, true in enumerate(driven):
        while index < len(sent) and sent[index].time <= true.time:
            newest = sent[index].places[-1]
            last = newest if last is None or newest.time >= last.time else last
            index += 1
        if last is None or (number and true.time - driven[number - 1].time > _GAP):
            continue
        x, y = last.extrapolated(true.time)
        live.append(Moment(true.distance(x, y), true.time - driven[0].time, true.time - last.time))
    gaps = [(one.time, other.time) for one, other in zip(driven, driven[1:]) if other.time - one.time > _GAP]
    reported = sorted({one for upload in sent for one in upload.places})
    true_places = {true.time: true for true in driven}
    off, parked, index = [], [], 0
    for true in driven:
        while index + 2 < len(reported) and reported[index + 1].time < true.time:
            index += 1
        one, other = reported[index:index + 2] if len(reported) > index + 1 else (true, true)
        if not one.time < true.time <= other.time or any(
                one.time <= begin and end <= other.time for begin, end in gaps):
            continue
        moment = Moment(_distance(one, other, true), true.time - driven[0].time, true.time - one.time)
        # At the end of the leg the reported place differs from the receiver's, because the vehicle is parked.
        there = true_places.get(other.time)
        is_held = there.distance(other.x, other.y) > _ROUNDING if there else (one.x, one.y) == (other.x, other.y)
        is_there = other.distance(*_between(one, other, true.time)) <= _SAME_PLACE
        is_slow = math.hypot(true.east, true.north) < _MOVING
        (parked if is_held and is_there and is_slow else off).append(moment)
    distances = [moment.off for moment in live]
    span = driven[-1].time - driven[0].time - sum(end - begin for begin, end in gaps)
    errors = [moment.off for moment in off + parked]
    return Figures(span / 3600, len(sent), sum(len(upload.places) - 1 for upload in sent), _rank(distances, .5),
                   _rank(distances, .95), max(live, default=Moment()),
                   max((moment for moment in live if moment.is_avoidable), default=Moment()), _rank(errors, .95),
                   max(off + parked, default=Moment()), max(off, default=Moment()))


def _between(one: Place, other: Place, time: float) -> tuple[float, float]:
    """Returns the position of a vehicle that moves evenly from one place to the other."""
    share = (time - one.time) / (other.time - one.time) if other.time > one.time else 0
    return one.x + share * (other.x - one.x), one.y + share * (other.y - one.y)


def _distance(one: Place, other: Place, true: Place) -> float:
    """Returns the distance of a vehicle that moves evenly from `one` to `other` from its true place."""
    return true.distance(*_between(one, other, true.time))


def optimum(driven: Sequence[Place], bound: float) -> int:
    """Returns the minimum number of fixes that describe the known track within `bound`, by dynamic programming."""
    fewest = [0] + [len(driven)] * (len(driven) - 1)
    for start, one in enumerate(driven):
        # The box of speeds to the east and north that pass every fix so far; the search stops when it is empty.
        east, north = (-math.inf, math.inf), (-math.inf, math.inf)
        for end in range(start + 1, min(len(driven), start + _REACH + 1)):
            other = driven[end]
            is_gap = other.time - driven[end - 1].time > _GAP
            if end == start + 1 or not is_gap and all(
                    _distance(one, other, driven[between]) <= bound for between in range(end - 1, start, -1)):
                fewest[end] = min(fewest[end], fewest[start] + 1)
            if is_gap:
                break
            pace, reach = other.pace(one), bound / (other.time - one.time)
            east = max(east[0], pace[0] - reach), min(east[1], pace[0] + reach)
            north = max(north[0], pace[1] - reach), min(north[1], pace[1] + reach)
            if east[0] > east[1] or north[0] > north[1]:
                break
    return fewest[-1] + 1
