"""Each trial's options, judgements and arithmetic."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
import unittest
from collections.abc import Callable
from pathlib import Path

from trials import clock, dashboard, drive, fault, link, reload, soak, token_outage
from trials.__main__ import TRIALS, arguments, attempt
from trials.emulation import guest_memory
from trials.failure import Failed, require
from trials.simulator import Arrival, Record, disorder
from trials.trial import Option, Trial
from trials.waiting import until
from trials.waypost import ROOT, Waypost, configuration

LINE = b'{"kind":"last","receivedAt":"1970-01-01T00:01:01.500Z","time":"1970-01-01T00:01:00Z","vehicle":"providers/p/vehicles/v"}\n'
ARRIVED = Arrival("last", 60.0, 61.5, "v", False)
BALANCED = {"accepted": 5, "delivered": 5, "pending": 0, "evicted": 0, "quarantined": 0}


class InDirectory(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)


class CommandLine(unittest.TestCase):
    def test_has_every_trial_that_the_makefile_has(self) -> None:
        makefile = (ROOT / "Makefile").read_text()
        for trial in TRIALS:
            with self.subTest(trial.name):
                command = trial.name.removesuffix("-test")
                self.assertIn(f"{trial.name}: prepare ##", makefile)
                option = f" {trial.options[0].flag} $(" if trial.options else ""
                self.assertIn(f"-m trials {command}{option}", makefile)
                self.assertIs(arguments([command]).trial, trial)

    def test_rejects_options_that_prove_nothing(self) -> None:
        with contextlib.redirect_stderr(io.StringIO()) as said, self.assertRaises(SystemExit):
            arguments(["kill", "--kills", "0"])
        self.assertIn("proves nothing", said.getvalue())


class Tried(Trial):
    """A trial for this test."""

    name = "tried"
    options = (Option("--times", 1, "how often"),)
    has_seed = True

    def run(self) -> str:
        for word in ("first", "last"):
            self.ends_with(lambda word=word: print(word, file=self.arguments.endings))  # type: ignore[misc]
        if self.arguments.fails:
            raise Failed("one is lost")
        return "nothing is lost"


class Attempts(InDirectory):
    def attempt(self, fails: bool, keep: bool = False) -> tuple[int, str, str]:
        options = arguments(["kill", "--seed", "7"])
        options.endings, options.fails, options.keep = io.StringIO(), fails, keep
        place = self.directory / "place"
        place.mkdir()
        with contextlib.redirect_stdout(io.StringIO()) as output, contextlib.redirect_stderr(io.StringIO()) as errors:
            status = attempt(Tried, options, Waypost(Path("/bin/false")), place)
        self.assertEqual(options.endings.getvalue(), "last\nfirst\n")
        self.assertEqual(place.exists(), fails or keep)
        return status, output.getvalue(), errors.getvalue().replace(str(place), "PLACE")

    def test_print_the_figures(self) -> None:
        self.assertEqual(self.attempt(fails=False), (0, "nothing is lost\n", ""))

    def test_keep_everything_on_request(self) -> None:
        self.assertEqual(self.attempt(fails=False, keep=True)[2], "all files are kept in PLACE\n")

    def test_keep_everything_when_a_promise_is_broken(self) -> None:
        self.assertEqual(
            self.attempt(fails=True), (1, "", "tried: one is lost\nseed 7; all files are kept in PLACE\n"))


class Shared(InDirectory):
    def test_waits_for_a_value_or_the_time_limit(self) -> None:
        answers = iter([0, 0, 3, 4])
        self.assertEqual(until(lambda: next(answers), 5, pause=0), 3)
        self.assertEqual(until(lambda: 0, 0), 0)

    def test_names_every_broken_claim(self) -> None:
        self.assertEqual(require("figures", ("a", True), ("b", True)), "figures")
        with self.assertRaisesRegex(Failed, "^b; c: figures$"):
            require("figures", ("a", True), ("b", False), ("c", False))

    def test_reads_each_complete_line_of_a_record_once(self) -> None:
        record = Record(self.directory / "record")
        self.assertEqual((record.news(), list(record.all())), ([], []))
        record.path.write_bytes(LINE + LINE[:20])
        self.assertEqual((record.news(), record.news()), ([ARRIVED], []))
        self.assertEqual(list(record.all()), [ARRIVED])
        record.path.write_bytes(LINE * 2)
        self.assertEqual(record.news(), [ARRIVED])
        self.assertEqual(record.fixes(), {60.0})

    def test_replaces_sections(self) -> None:
        path = configuration(
            self.directory / "a.json", "http://o", "van-2", upload={"timeoutSeconds": 9}, log={"level": "debug"})
        document = json.loads(path.read_text())
        self.assertEqual((document["upload"]["timeoutSeconds"], document["upload"]["endpoint"]), (9, "http://o"))
        self.assertEqual((document["vehicle"]["vehicleId"], document["log"]), ("van-2", {"level": "debug"}))
        self.assertEqual(document["outbox"]["path"], str(self.directory / "a.sqlite"))

    def test_accepts_only_a_balanced_ledger(self) -> None:
        program = self.directory / "waypost"
        for pending, message in ((0, None), (1, "does not balance")):
            program.write_text(f"#!/bin/sh\necho '{json.dumps(BALANCED | {'pending': pending, 'more': 1})}'\n")
            program.chmod(0o700)
            if message is None:
                self.assertEqual(Waypost(program).ledger(Path("c")), BALANCED)
            else:
                with self.assertRaisesRegex(Failed, message):
                    Waypost(program).ledger(Path("c"))

    def test_reports_the_message_of_a_failing_command(self) -> None:
        program = self.directory / "waypost"
        program.write_text("#!/bin/sh\necho broken >&2; exit 3\n")
        program.chmod(0o700)
        with self.assertRaisesRegex(Failed, "outbox export --config c: broken$"):
            Waypost(program).outbox(Path("c"), "export")


class Drives(unittest.TestCase):
    def test_have_the_time_of_their_position(self) -> None:
        rmc, gga = drive.epoch(0, 1_000_000_000.25).splitlines()
        self.assertEqual(rmc, "$GNRMC,014640.25,A,4807.61878,N,01130.00000,E,27.2,90.0,090901,,,A*47")
        self.assertTrue(gga.startswith("$GNGGA,014640.25,4807.61878,N,01130.00000,E,1,10,0.9,520.0,M,47.0,M,,*"))

    def test_have_both_sides_of_the_meridian(self) -> None:
        self.assertEqual(drive.angle(-0.5, 3, "EW"), "00030.00000,W")
        self.assertEqual(drive.moment("1970-01-01T00:00:01.5Z"), 1.5)


class Judgements(unittest.TestCase):
    def test_of_arrivals_in_order_of_time(self) -> None:
        def arrivals(*rows: tuple[str, float, float]) -> list[Arrival]:
            return [Arrival(kind, fixed, received, "v", False) for kind, fixed, received in rows]

        for ordered in (
            (("past", 1, 9), ("past", 2, 9), ("last", 8, 9), ("past", 3, 10), ("last", 9, 10)),
            (("last", 8, 9), ("last", 8, 12)),
        ):
            self.assertEqual(disorder(arrivals(*ordered)), [])
        for broken in (
            (("last", 8, 9), ("last", 7, 10)),
            (("past", 2, 9), ("past", 1, 9), ("last", 8, 9)),
            (("past", 9, 9), ("last", 8, 9)),
        ):
            self.assertEqual(len(disorder(arrivals(*broken))), 1, broken)

    def test_of_a_wrong_clock(self) -> None:
        fetches, on_time = [0.0, 20.0], [(5.0 * n + 0.1, 5.0 * n) for n in range(1, 10)]
        self.assertIn("9 updates of 9 due", clock.judge(48, 20, fetches, on_time, {"200": 9}))
        for broken, changed in (
            ("updates are missing", (fetches, on_time[2:4], {"200": 2})),
            ("an update waited", (fetches, [*on_time, (50.0, 46.0)], {"200": 10})),
            ("tokens were fetched too often", ([0.0] * 9, on_time, {"200": 9})),
            ("tokens were fetched too often", ([], on_time, {"200": 9})),
            ("Fleet Engine rejected a request", (fetches, on_time, {"200": 8, "401": 1})),
        ):
            with self.subTest(broken), self.assertRaisesRegex(Failed, broken):
                clock.judge(48, 20, *changed)

    def test_of_a_token_outage(self) -> None:
        summary = {"distinctFixes": 5, "repeatedFixes": 0, "lastLocationsBackInTime": 0, "pastLocationsOutOfOrder": 0,
                   "fleetOutcomes": {"200": 5, "401": 1}}
        fetches = [(0.0, False), (12.0, True), (15.0, True), (42.0, False)]
        arrivals = [Arrival("last", 41.0, 43.0, "v", False)]

        def judge(ledger: dict[str, int] = BALANCED, changed: dict[str, object] | None = None,
                  arrived: list[Arrival] = arrivals, requests: list[tuple[float, bool]] = fetches) -> str:
            return token_outage.judge(30, 0.0, ledger, summary | (changed or {}), requests, arrived)

        self.assertIn("comes 3.0 s after it and is 2.0 s old", judge())
        attempts: tuple[tuple[str, Callable[[], str]], ...] = (
            ("updates are lost", lambda: judge(BALANCED | {"accepted": 6})),
            ("the order is wrong", lambda: judge(changed={"lastLocationsBackInTime": 1})),
            ("the newest position didn't arrive first", lambda: judge(arrived=[Arrival("last", 30.0, 43.0, "v", False)])),
            ("the return was noticed late", lambda: judge(arrived=[Arrival("last", 140.0, 141.0, "v", False)])),
            ("the endpoint is asked too often", lambda: judge(requests=[*fetches[:2], (12.5, True), fetches[3]])),
            ("the change of keys", lambda: judge(changed={"fleetOutcomes": {"200": 5}})),
            ("0 updates arrived after that", lambda: judge(arrived=[])),
        )
        for broken, attempted in attempts:
            with self.subTest(broken), self.assertRaisesRegex(Failed, broken):
                attempted()

    def test_of_a_broken_link(self) -> None:
        self.assertIn("1 returns, p50 2.00 s", link.judge({True: [2.0], False: []}, [1.0, 1.5, 9.0], BALANCED, 5))
        attempts: tuple[tuple[str, Callable[[], str]], ...] = (
            ("no return was measured", lambda: link.judge({True: [], False: []}, [], BALANCED, 5)),
            ("a fresh position was late", lambda: link.judge({True: [3.1], False: []}, [], BALANCED, 5)),
            ("attempts too close", lambda: link.judge({True: [1.0], False: []}, [1.0, 1.1, 1.2], BALANCED, 5)),
            ("the arrived updates differ", lambda: link.judge({True: [1.0], False: []}, [], BALANCED, 4)),
        )
        for broken, attempted in attempts:
            with self.subTest(broken), self.assertRaisesRegex(Failed, broken):
                attempted()

    def test_of_reloads(self) -> None:
        reigns = [reload.Reign(0, 100, 110.0), reload.Reign(1, 109.9, 120.0), reload.Reign(0, 119.9, 130)]
        arrivals = [[Arrival("last", 1.0, 101.2, "van-1", False), Arrival("last", 21.0, 122, "van-1", False)],
                    [Arrival("last", 11.0, 112.0, "van-1", False), Arrival("last", 11.0, 115.0, "van-1", True)]]
        ledger = {"accepted": 3, "delivered": 3, "pending": 0, "evicted": 0, "quarantined": 0}

        def judge(arrived: list[list[Arrival]] = arrivals, account: dict[str, int] = ledger, reported: tuple[int, int] = (2, 1),
                  outcomes: tuple[dict[str, int], ...] = ({"200": 2}, {"200": 1, "503": 4})) -> str:
            return reload.judge([False, True, False], reported, account, arrived, outcomes, reigns, lambda fixed: 100 + fixed)

        self.assertIn("3 reloads, 1 of them invalid: 3 accepted, 0 lost, 0 sent wrongly", judge())
        late = [[*arrivals[0], Arrival("last", 11.0, 112, "van-1", False)], arrivals[1]]
        early = [arrivals[0], [*arrivals[1], Arrival("last", 1.0, 109, "van-1", False)]]
        other = [arrivals[0], [arrivals[1][0]._replace(vehicle="van-2")]]
        # An update made before the change may be in transit during the change; otherwise it waits for the new endpoint.
        judge([arrivals[0], [*arrivals[1], Arrival("past", 1.0, 112, "van-1", False)]])
        judge([[*arrivals[0], Arrival("last", 9.95, 110.5, "van-1", False)], arrivals[1]],
              ledger | {"accepted": 4, "delivered": 4})
        for broken, attempted in (
            ("updates are lost", lambda: judge(account=ledger | {"accepted": 4, "delivered": 4})),
            ("updates are lost", lambda: judge(account=ledger | {"delivered": 2, "pending": 1})),
            ("sent wrongly is .*fixed=11.0", lambda: judge(late)),
            ("sent wrongly is .*fixed=1.0", lambda: judge(early)),
            ("sent wrongly is .*van-2", lambda: judge(other)),
            ("the service reported 3 as done", lambda: judge(reported=(3, 0))),
            ("Fleet Engine answered .*401", lambda: judge(outcomes=({"200": 2, "401": 1}, {}))),
            ("nothing was tested", lambda: judge([arrivals[0], []])),
        ):
            with self.subTest(broken), self.assertRaisesRegex(Failed, broken):
                attempted()

    def test_of_the_exit_of_a_run_with_a_failed_call(self) -> None:
        read = '1 openat(AT_FDCWD, "/proc/self/maps", O_RDONLY) = -1 EIO (INJECTED)'
        for status, failed, errors in ((0, [], ""), (69, [], "no"), (127, [], fault.LOADER), (-4, [read], ""),
                                       (1, [' write(2, "") = -1 (INJECTED)'], "")):
            fault.judge_end(fault.Ended(status, "", errors), failed)
        for status, failed, errors, broken in ((-11, [], "", "exits with -11"), (-4, [], "", "exits with -4"),
                                               (1, [], "", "no message")):
            with self.subTest(broken), self.assertRaisesRegex(Failed, broken):
                fault.judge_end(fault.Ended(status, "", errors), failed)

    def test_of_a_slope(self) -> None:
        per_second, doubt = soak.slope([(second, 100 + 2 * second) for second in range(9)])
        self.assertAlmostEqual(per_second, 2)
        self.assertAlmostEqual(doubt, 0)


class Drawings(unittest.TestCase):
    def test_of_the_dashboard_have_every_panel(self) -> None:
        drawn = json.loads((ROOT / "packaging/monitoring/grafana.json").read_text())

        def asked(query: str, is_instant: bool) -> list[dashboard.Series]:
            series = {"vehicle": "<van>", "kind": "token", "state": "receiving", "version": "1"}
            if is_instant:
                return [{"metric": series, "value": [5, "400"]}]
            return [{"metric": series | {"le": le}, "values": [[1, "2"], [5, "NaN"]]} for le in ("1", "+Inf")]

        page = dashboard.page(drawn, asked, (0, 10))
        for panel in drawn["panels"]:
            self.assertIn(panel["title"].replace("$vehicle", "van-1"), page)
        self.assertIn("<td>&lt;van&gt;<td>7 min", page)
        self.assertIn(dashboard.GROUND["red"], page, "a long delay must be red")
        self.assertNotIn("No data", page)
        empty = dashboard.page(drawn, lambda query, is_instant: [], (0, 10))
        self.assertIn("No data", empty)
        self.assertNotIn(dashboard.GROUND["green"], empty, "without data, nothing may be green")

    def test_of_all_panels_share_one_time_axis(self) -> None:
        series = {"metric": {"le": "1"}, "values": [[5, "2"], [6, "2"]]}
        self.assertEqual(dashboard.across(5, 200, (0, 10)), 100)
        config = {"defaults": {}, "overrides": []}
        self.assertIn('points="100.0,', dashboard.chart([("", series)], (200, 99), (0, 10), config))
        self.assertIn('<rect x="100.0"', dashboard.bands([("", series)], (200, 99), (0, 10), ["green"]))

    def test_of_buckets_show_the_count_of_each(self) -> None:
        buckets = [("+Inf", {"metric": {"le": "+Inf"}, "values": [[1, "7"]]}), ("2", {"metric": {"le": "2"}, "values": [[1, "5"]]})]
        self.assertEqual([(le, series["values"]) for le, series in dashboard.separated(buckets)], [("+Inf", [(1, 2)]), ("2", [(1, 5)])])


class Arithmetic(unittest.TestCase):
    def test_of_percentiles(self) -> None:
        self.assertEqual([link.percentile(range(1, 21), part) for part in (0, 50, 95, 100)], [1, 10, 19, 20])
        self.assertEqual(link.percentile([7], 95), 7)

    def test_of_the_memory_of_an_emulated_program(self) -> None:
        maps = "".join(f"{start}-ffff00000000 r-xp 00000000 08:01 7  /usr/bin/a:b\nSize: 9 kB\nRss:  {kibibytes} kB\nPss: 5 kB\n"
                       for start, kibibytes in (("00400000", 1), ("1000000000", 20), ("1ffffff000", 300), ("2000000000", 4000)))
        self.assertEqual(guest_memory(maps), 320)

    def test_of_failing_calls(self) -> None:
        self.assertEqual(fault.numbers(fault.LAST_CALL), list(range(1, 201)))
        self.assertEqual((fault.numbers(10)[0], fault.numbers(10)[-1], len(fault.numbers(10))), (1, 200, 10))
        self.assertEqual(len(fault.cases([1, 2])), 13)
        self.assertIn("inject=openat:error=EIO:when=3", fault.Case("open", "EIO", 3).reproduction())

    def test_of_a_clock_that_is_set(self) -> None:
        self.assertEqual([second for second, _ in clock.clock_schedule(48)], [0, 8, 16, 24, 32, 40])
