"""Drives for the economy trial: recorded ones, if available, and others generated from a seed."""

from __future__ import annotations

import csv
import datetime
import gzip
import math
import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .drive import angle, sentence
from .waypost import ROOT

RECORDED = ROOT.parent / "shared/data/drives"
_BEGIN = 1_767_600_000.0  # 2026-01-05, if a drive has no date
_METERS_PER_DEGREE = 111_195
_KNOT = 0.514444
TOWN = "town"


class Row(NamedTuple):
    """A receiver's values in one epoch."""

    time: float
    latitude: float
    longitude: float
    speed: float | None
    heading: float | None


def recorded() -> list[Path]:
    """Returns the recorded drives that are available."""
    return sorted([*RECORDED.glob("*.csv.gz"), *RECORDED.glob("*.nmea.gz")])


def name(path: Path) -> str:
    return path.name.split(".")[0]


def log(path: Path, directory: Path) -> Path:
    """Returns the recorded drive as a receiver's log; a table is converted to one."""
    if ".csv" not in path.name:
        return path
    made = directory / f"{name(path)}.nmea"
    write(made, table(path))
    return made


def table(path: Path) -> Iterator[Row]:
    """Returns the rows of a table; if it has several receivers, only those of the first."""
    def number(row: dict[str, str], key: str) -> float | None:
        return float(row[key]) if row.get(key) else None

    receiver = None
    with gzip.open(path, "rt") as lines:
        for row in csv.DictReader(lines):
            receiver = receiver or row.get("receiver")
            if row.get("receiver") != receiver:
                continue
            if row.get("t_local"):
                time = datetime.datetime.fromisoformat(row["t_local"]).timestamp()
            else:
                time = number(row, "t_unix") or _BEGIN + (number(row, "t_sync_s") or number(row, "t_s") or 0.0)
            yield Row(time, float(row["lat"]), float(row["lon"]), number(row, "speed_mps"), number(row, "heading_deg"))


def write(path: Path, rows: Iterator[Row]) -> None:
    """Writes GGA and RMC for every row; unknown fields are empty."""
    with open(path, "w", newline="") as lines:
        for row in rows:
            utc = datetime.datetime.fromtimestamp(round(row.time, 3), datetime.timezone.utc)
            clock = f"{utc:%H%M%S}.{utc.microsecond // 1000:03d}"
            place = f"{angle(row.latitude, 2, 'NS')},{angle(row.longitude, 3, 'EW')}"
            speed = "" if row.speed is None else f"{row.speed / _KNOT:.2f}"
            heading = "" if row.heading is None else f"{row.heading % 360:.1f}"
            lines.write(sentence(f"GPGGA,{clock},{place},1,09,0.9,120.0,M,47.0,M,,"))
            lines.write(sentence(f"GPRMC,{clock},A,{place},{speed},{heading},{utc:%d%m%y},,,A"))


class Journey:
    """A vehicle on random streets, with corners and stops, and its receiver's drifting error."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._time, self._x, self._y, self._heading, self._speed = _BEGIN, 0.0, 0.0, 45.0, 0.0
        self._error = [0.0, 0.0]

    def town(self, streets: int = 60) -> Iterator[Row]:
        for _ in range(streets):
            yield from self._street(self._chance.uniform(60, 320), self._chance.choice((8.3, 13.9)), 5)
            if self._chance.random() < 0.4:
                yield from self._stand(self._chance.uniform(8, 55))
            yield from self._corner(self._chance.choice((-1, 1)) * self._chance.uniform(60, 100), 12)

    def motorway(self, bends: int = 45) -> Iterator[Row]:
        for _ in range(bends):
            yield from self._street(self._chance.uniform(600, 2500), self._chance.choice((27.8, 33.3, 36.1)), 27)
            yield from self._corner(self._chance.choice((-1, 1)) * self._chance.uniform(8, 35), 900)

    def round(self, stops: int = 40) -> Iterator[Row]:
        for _ in range(stops):
            yield from self.town(self._chance.randint(1, 3))
            yield from self._street(self._chance.uniform(60, 200), 8.3, 0)
            yield from self._stand(self._chance.uniform(60, 200))

    def _second(self, acceleration: float = 0, turning: float = 0) -> Row:
        self._speed = max(0.0, self._speed + acceleration)
        self._heading = (self._heading + turning) % 360
        way = math.radians(self._heading)
        self._x += self._speed * math.sin(way)
        self._y += self._speed * math.cos(way)
        self._time += 1
        self._error = [0.97 * one + self._chance.gauss(0, 0.25) for one in self._error]
        latitude = 48.1 + (self._y + self._error[1]) / _METERS_PER_DEGREE
        longitude = 11.5 + (self._x + self._error[0]) / (_METERS_PER_DEGREE * math.cos(math.radians(48.1)))
        speed = max(0.0, self._speed + self._chance.gauss(0, 0.08))
        return Row(self._time, latitude, longitude, speed, self._heading + self._chance.gauss(0, 0.6 if speed > 2 else 40))

    def _street(self, length: float, limit: float, end: float) -> Iterator[Row]:
        while length > 0:
            braking = (self._speed ** 2 - end ** 2) / 3
            change = -1.5 if length < braking + self._speed else min(1.5, limit - self._speed)
            yield self._second(max(change, end - self._speed) if change < 0 else change)
            length -= max(self._speed, 0.5)

    def _corner(self, degrees: float, radius: float) -> Iterator[Row]:
        speed = min(max(self._speed, 4.0), 4.5 if radius < 50 else 36.0)
        seconds = max(1, round(abs(degrees) / math.degrees(speed / radius)))
        for _ in range(seconds):
            yield self._second(min(1.5, max(-1.5, speed - self._speed)), degrees / seconds)

    def _stand(self, seconds: float) -> Iterator[Row]:
        while self._speed > 0:
            yield self._second(max(-2.0, -self._speed))
        for _ in range(round(seconds)):
            yield self._second()


def generated(seed: int, directory: Path) -> list[Path]:
    """Writes a town drive, a drive on a motorway, and a delivery round with forty stops. Returns their logs."""
    made = []
    for kind, rows in ((TOWN, Journey(seed).town()), ("motorway", Journey(seed + 1).motorway()),
                       ("delivery-round", Journey(seed + 2).round())):
        made.append(directory / f"{kind}.nmea")
        write(made[-1], rows)
    return made
