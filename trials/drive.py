"""A drive along a circle, as the sentences of a receiver at 1 Hz."""

from __future__ import annotations

import datetime
import math
from pathlib import Path

SPEED_METERS_PER_SECOND, RADIUS_METERS = 14.0, 3000.0
# A radius so small that the track needs shape points between updates.
NARROW_METERS = 100.0
_METERS_PER_DEGREE = 111_195
_LATITUDE, _LONGITUDE = 48.1, 11.5


def moment(text: str) -> float:
    """Returns a time in RFC 3339 as seconds since 1970."""
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def sentence(payload: str) -> str:
    checksum = 0
    for byte in payload.encode():
        checksum ^= byte
    return f"${payload}*{checksum:02X}\r\n"


def angle(degrees: float, digits: int, letters: str) -> str:
    whole = int(abs(degrees))
    minutes = (abs(degrees) - whole) * 60
    return f"{whole:0{digits}d}{minutes:08.5f},{letters[degrees < 0]}"


def epoch(second: float, now: float, radius: float = RADIUS_METERS) -> str:
    """Returns RMC and GGA for the position after this many seconds of the drive, at `now` in seconds since 1970."""
    turn = SPEED_METERS_PER_SECOND * second / radius
    latitude = _LATITUDE + radius * math.cos(turn) / _METERS_PER_DEGREE
    longitude = _LONGITUDE + radius * math.sin(turn) / (_METERS_PER_DEGREE * math.cos(math.radians(_LATITUDE)))
    course = (math.degrees(turn) + 90) % 360
    utc = datetime.datetime.fromtimestamp(now, datetime.timezone.utc)
    clock = f"{utc:%H%M%S}.{utc.microsecond // 10_000:02d}"
    place = f"{angle(latitude, 2, 'NS')},{angle(longitude, 3, 'EW')}"
    return (sentence(f"GNRMC,{clock},A,{place},{SPEED_METERS_PER_SECOND / 0.514444:.1f},{course:.1f},{utc:%d%m%y},,,A")
            + sentence(f"GNGGA,{clock},{place},1,10,0.9,520.0,M,47.0,M,,"))


def write_drive(path: Path, begin: float, seconds: int, radius: float = RADIUS_METERS) -> None:
    """Writes a log that starts at `begin` in seconds since 1970."""
    with open(path, "w", newline="") as log:
        log.writelines(epoch(second, begin + second, radius) for second in range(seconds))
