"""The economy trial's results for known drives."""

from __future__ import annotations

import json
import math
import socket
import tempfile
import unittest
from pathlib import Path

from trials import economy, follower, journeys
from trials.drive import epoch
from trials.economy import BASE, POLICIES, Economy, Run, Wire
from trials.follower import Figures, Moment, Place, Upload


def along(*corners: tuple[float, float], speed: float = 10) -> list[Place]:
    """Returns one fix per second from corner to corner."""
    places: list[Place] = []
    time = 0.0
    for (x, y), (east, north) in zip(corners, corners[1:]):
        length = max(abs(east - x), abs(north - y))
        way = ((east - x) / length * speed, (north - y) / length * speed)
        for second in range(round(length / speed)):
            places.append(Place(time, x + way[0] * second, y + way[1] * second, *way))
            time += 1
    return [*places, Place(time, *corners[-1], 0, 0)]


def each(places: list[Place], seconds: int) -> list[Upload]:
    return [Upload(place.time, [place]) for place in places[::seconds]]


class Followers(unittest.TestCase):
    corner = along((0, 0), (600, 0), (600, 600))

    def test_have_no_error_on_a_straight_drive(self) -> None:
        straight = along((0, 0), (600, 0))
        figures = follower.measure(straight, each(straight, 20))
        self.assertEqual((figures.requests, round(figures.live_worst.off, 9), round(figures.track_worst.off, 9)), (4, 0, 0))

    def test_are_wrong_after_a_corner_until_the_next_update(self) -> None:
        figures = follower.measure(self.corner, each(self.corner, 25))
        self.assertAlmostEqual(figures.live_worst.off, 140 * 2 ** 0.5)
        self.assertEqual(figures.live_worst[1:], (74, 24))
        self.assertEqual(figures.live_avoidable, figures.live_worst)
        self.assertGreater(figures.track_worst.off, 60)
        self.assertEqual(figures.track_moving, figures.track_worst)

    def test_know_the_track_from_its_corner_alone(self) -> None:
        reported = [Upload(120, [self.corner[0], self.corner[60], self.corner[120]])]
        self.assertAlmostEqual(follower.measure(self.corner, reported).track_worst.off, 0)

    def test_distinguish_drift_of_a_parked_vehicle_from_its_track(self) -> None:
        """The vehicle is reported in one place while its receiver wanders by 8 m; then the vehicle drives on."""
        away = [0.0] * 60 + [8.0] * 20 + [0.0] * 41
        parked = [Place(time, x, 0, 0, 0) for time, x in enumerate(away)]
        reported = [Upload(0, [parked[0]]), Upload(60, [parked[60]._replace(x=0.0)]), Upload(120, [parked[120]])]
        figures = follower.measure(parked, reported)
        self.assertEqual((figures.track_worst.off, figures.track_moving.off), (8, 8), "the last update isn't held at its place")
        reported[2] = Upload(79, [parked[79]._replace(x=0.0)])
        figures = follower.measure(parked, reported)
        self.assertEqual((figures.track_worst.off, figures.track_moving.off), (8, 0))

    def test_measure_distances_at_every_latitude(self) -> None:
        """A degree of longitude has the length that it has at the place, not at the start of the drive."""
        for latitude in (0, 48, 49, 70):
            one = follower.place(0, latitude, 11, 30, 90)
            ahead = follower.place(10, latitude, 11 + 300 / 111_195 / math.cos(math.radians(latitude)), 30, 90)
            self.assertAlmostEqual(ahead.distance(*one.extrapolated(10)), 0, delta=0.01)

    def test_assume_that_a_vehicle_without_a_heading_stands(self) -> None:
        here = follower.place(0, 48, 11, 0.3, None)
        self.assertEqual(here.extrapolated(30), (here.x, here.y))

    def test_the_minimum_points_are_ends_and_corners(self) -> None:
        self.assertEqual(follower.optimum(along((0, 0), (600, 0)), 5), 2)
        self.assertEqual(follower.optimum(self.corner, 5), 3)
        self.assertEqual(follower.optimum(self.corner, 1000), 2)

    def test_the_minimum_points_include_both_sides_of_a_gap(self) -> None:
        early, late = along((0, 0), (600, 0)), along((600, 0), (900, 0))
        drive = early + [place._replace(time=place.time + 300) for place in late]
        self.assertEqual(follower.optimum(drive, 5), 4)


class Drives(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def track(self, latitudes: list[float]) -> list[Place]:
        fixes = self.directory / "fixes.jsonl"
        fixes.write_text("".join(json.dumps({
            "time": f"2026-01-05T10:00:{second:02d}.000Z", "latitude": latitude, "longitude": 11.0}) + "\n"
            for second, latitude in enumerate(latitudes)))
        return follower.track(fixes)

    def test_omit_a_jump_and_keep_what_three_fixes_confirm(self) -> None:
        self.assertEqual(len(self.track([48, 48.0001, 48.5, 48.0002, 48.0003])), 4)
        self.assertEqual(len(self.track([48, 48.0001, 48.5, 48.5001, 48.5002, 48.5003])), 4)

    def test_are_the_same_for_the_same_seed(self) -> None:
        one, other = (journeys.generated(7, self.directory)[0].read_text() for _ in range(2))
        self.assertEqual(one, other)
        self.assertNotEqual(one, journeys.generated(8, self.directory)[0].read_text())

    def test_leave_unknown_fields_empty(self) -> None:
        log = self.directory / "log.nmea"
        journeys.write(log, iter([journeys.Row(1_767_600_000, 48.1, 11.5, None, None)]))
        self.assertIn("RMC,080000.000,A,4806.00000,N,01130.00000,E,,,050126,,,A*", log.read_text())
        self.assertTrue(epoch(0, 0).startswith("$GNRMC"))


class Judgements(unittest.TestCase):
    @staticmethod
    def result(policy: economy.Policy, requests: int, wire: int, live: float = 0, track: float = 0,
                age: float = 7, **summary: float) -> Run:
        worst = Moment(live, 12, age)
        return Run("town", policy, Figures(1, requests, 0, 0, 0, worst, worst if worst.is_avoidable else Moment(), 0,
                                           Moment(track, 20, 3), Moment(track, 20, 3)),
                   wire, 0, 2, {"requestsPerHour": requests, "liveErrorMetersP95": 0.2} | summary)

    def failures(self, *runs: Run) -> list[str]:
        return Economy.judge(None, [self.result(BASE, 100, 1000, 200, 30), *runs])  # type: ignore[arg-type]

    def test_accept_results_within_every_limit(self) -> None:
        self.assertEqual(self.failures(self.result(POLICIES[2], 100, 1040, 200, 5), self.result(POLICIES[3], 50, 500, 55, 5)), [])

    def test_name_exceeded_limits(self) -> None:
        failures = self.failures(self.result(POLICIES[2], 100, 1060, 200, 5.4), self.result(POLICIES[3], 60, 500, 80, 5))
        self.assertEqual(len(failures), 4)
        self.assertIn("town, accuracy 50 m, 30 s: live off by 80.0 m, 12 s after its beginning, 7 s after the last update",
                      failures)

    def test_name_figures_that_differ_from_the_replays(self) -> None:
        run = self.result(POLICIES[2], 100, 1040, 200, 5, liveErrorMetersP95=9, requestsPerHour=104)
        self.assertEqual(self.failures(run), ["town, interval 10 s, track 5 m: replay says liveErrorMetersP95 9, and it is 0.0"])

    def test_name_errors_that_no_update_could_avoid(self) -> None:
        run = self.result(POLICIES[3], 50, 500, 80, 5, age=3)
        self.assertEqual(self.failures(run), [])
        self.assertEqual(len(list(economy.named([run]))), 1)


class Wires(unittest.TestCase):
    def test_count_both_directions(self) -> None:
        server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(server.close)
        with Wire(server.getsockname()[1]) as wire, socket.create_connection(
                ("127.0.0.1", int(wire.origin.rpartition(":")[2]))) as near:
            near.sendall(b"12345")
            far, _ = server.accept()
            self.addCleanup(far.close)
            self.assertEqual(far.recv(5), b"12345")
            far.sendall(b"678")
            self.assertEqual(near.recv(3), b"678")
            self.assertEqual(wire.bytes, 8)

    def test_cut_the_connection(self) -> None:
        server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(server.close)
        with Wire(server.getsockname()[1]) as wire:
            address = ("127.0.0.1", int(wire.origin.rpartition(":")[2]))
            with socket.create_connection(address) as near:
                server.accept()[0].close()
                wire.interrupt(0, 60)
                self.assertEqual(near.recv(3), b"")
            with socket.create_connection(address) as later:
                self.assertEqual(later.recv(3), b"")
