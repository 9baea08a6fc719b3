"""What somebody sees who follows a vehicle by its updates alone, and how few places could tell the same track."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from .drive import moment

_EARTH = 6371008.8
# A follower lets the vehicle drive on for so long, in seconds.
_LONGEST_LEAD = 60
# Fixes farther apart than this, in seconds, have a hole between them, which is not judged.
_HOLE = 30
# Of a fast receiver, fixes closer in time are left out.
_CLOSEST = 0.9
# No vehicle is faster than this, in metres a second, unless so many fixes in a row say so.
_FASTEST, _QUORUM = 83.0, 3
# The optimum joins no two places that are farther apart than so many fixes, which bounds the search.
_REACH = 120


class Place(NamedTuple):
    """Where and when, in seconds and metres on a plane, and how fast it goes east and north."""

    time: float
    x: float
    y: float
    east: float
    north: float

    def driven_on(self, time: float) -> tuple[float, float]:
        lead = min(time - self.time, _LONGEST_LEAD)
        return self.x + self.east * lead, self.y + self.north * lead


class Plane:
    """The plane that touches the earth at a place."""

    def __init__(self, latitude: float, longitude: float) -> None:
        self._latitude, self._longitude = latitude, longitude
        self._shrinking = math.cos(math.radians(latitude))

    def place(self, time: float, latitude: float, longitude: float, speed: float | None, heading: float | None,
              before: Place | None = None) -> Place:
        x = math.radians(longitude - self._longitude) * _EARTH * self._shrinking
        y = math.radians(latitude - self._latitude) * _EARTH
        if speed is not None and (heading is not None or speed < 0.5):
            way = math.radians(heading or 0)
            return Place(time, x, y, speed * math.sin(way), speed * math.cos(way))
        if before and 0 < time - before.time < 3:
            elapsed = time - before.time
            return Place(time, x, y, (x - before.x) / elapsed, (y - before.y) / elapsed)
        return Place(time, x, y, 0.0, 0.0)


class Upload(NamedTuple):
    """One request: when it went out by the drive's time, and what it told, the live place last."""

    time: float
    told: list[Place]


def track(fixes: Path) -> tuple[list[Place], Plane]:
    """The true drive, of what `waypost fixes` prints; a jump that no vehicle makes is left out."""
    told = [json.loads(line) for line in fixes.read_text().splitlines()]
    plane = Plane(told[0]["latitude"], told[0]["longitude"])
    kept: list[Place] = []
    doubted: list[Place] = []
    for fix in sorted(told, key=lambda one: moment(one["time"])):
        time = moment(fix["time"])
        if kept and time - kept[-1].time < _CLOSEST:
            continue
        place = plane.place(time, fix["latitude"], fix["longitude"], fix.get("speedMetersPerSecond"),
                            fix.get("headingDegrees"), (doubted or kept or [None])[-1])
        if kept and _pace(kept[-1], place) > _FASTEST:
            doubted = [*doubted, place] if doubted and _pace(doubted[-1], place) <= _FASTEST else [place]
            if len(doubted) < _QUORUM:
                continue
        doubted = []
        kept.append(place)
    return kept, plane


def _pace(one: Place, other: Place) -> float:
    return math.hypot(other.x - one.x, other.y - one.y) / max(0.001, other.time - one.time)


def uploads(lines: Iterable[str], plane: Plane, vehicle: str | None = None) -> list[Upload]:
    """What a simulator recorded with `--record-uploads`, of one vehicle."""
    read: list[Upload] = []
    for line in lines:
        told = json.loads(line)
        if vehicle is None or told["vehicle"].endswith("/" + vehicle):
            read.append(Upload(told["time"], [
                plane.place(one["time"], one["latitude"], one["longitude"], one.get("speed"), one.get("heading"))
                for one in told["locations"]]))
    return read


class Figures(NamedTuple):
    """Metres, and seconds of the worst live moment from the drive's first fix on."""

    hours: float
    requests: int
    past: int
    live50: float
    live95: float
    live_max: float
    live_max_at: float
    track95: float
    track_max: float


def _rank(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] if values else 0.0


def measure(driven: Sequence[Place], sent: Sequence[Upload]) -> Figures:
    """How far a follower is off at every fix, and how far the line through all that was told."""
    live, last, index = [], None, 0
    for number, true in enumerate(driven):
        while index < len(sent) and sent[index].time <= true.time:
            newest = sent[index].told[-1]
            last = newest if last is None or newest.time >= last.time else last
            index += 1
        if last is None or (number and true.time - driven[number - 1].time > _HOLE):
            continue
        x, y = last.driven_on(true.time)
        live.append((math.hypot(x - true.x, y - true.y), true.time - driven[0].time))
    holes = [(one.time, other.time) for one, other in zip(driven, driven[1:]) if other.time - one.time > _HOLE]
    told = sorted({place for upload in sent for place in upload.told})
    off, index = [], 0
    for true in driven:
        while index + 1 < len(told) and told[index + 1].time <= true.time:
            index += 1
        if index + 1 < len(told) and told[index].time <= true.time and not any(
                told[index].time <= begin and end <= told[index + 1].time for begin, end in holes):
            off.append(_distance(told[index], told[index + 1], true))
    distances = [distance for distance, _ in live]
    worst = max(live, default=(0.0, 0.0))
    span = driven[-1].time - driven[0].time - sum(end - begin for begin, end in holes)
    return Figures(span / 3600, len(sent), sum(len(upload.told) - 1 for upload in sent), _rank(distances, .5),
                   _rank(distances, .95), worst[0], worst[1], _rank(off, .95), max(off, default=0.0))


def _distance(one: Place, other: Place, true: Place) -> float:
    """From where a vehicle is that goes evenly from one place to the other, at the same time."""
    share = (true.time - one.time) / (other.time - one.time) if other.time > one.time else 0
    return math.hypot(one.x + share * (other.x - one.x) - true.x, one.y + share * (other.y - one.y) - true.y)


def optimum(driven: Sequence[Place], bound: float) -> int:
    """The fewest fixes that tell the track within `bound`, for one who knows the whole of it: by dynamic programming."""
    fewest = [0] + [len(driven)] * (len(driven) - 1)
    for start, one in enumerate(driven):
        # The speeds, east and north, that pass every fix so far: a box around them, to know when there is none left.
        east, north = (-math.inf, math.inf), (-math.inf, math.inf)
        for end in range(start + 1, min(len(driven), start + _REACH + 1)):
            other = driven[end]
            is_hole = other.time - driven[end - 1].time > _HOLE
            if end == start + 1 or not is_hole and all(
                    _distance(one, other, driven[between]) <= bound for between in range(end - 1, start, -1)):
                fewest[end] = min(fewest[end], fewest[start] + 1)
            if is_hole:
                break
            elapsed, reach = other.time - one.time, bound / (other.time - one.time)
            east = max(east[0], (other.x - one.x) / elapsed - reach), min(east[1], (other.x - one.x) / elapsed + reach)
            north = max(north[0], (other.y - one.y) / elapsed - reach), min(
                north[1], (other.y - one.y) / elapsed + reach)
            if east[0] > east[1] or north[0] > north[1]:
                break
    return fewest[-1] + 1
