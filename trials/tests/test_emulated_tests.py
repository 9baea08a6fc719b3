"""The results read from the events of tests that ran under emulation."""

from __future__ import annotations

import json
import unittest

from trials.emulated_tests import EMULATOR, LEFT_OUT, STARTING, Outcome, judge, modules
from trials.failure import Failed
from trials.waypost import ROOT


def event(kind: str, test: str | None = None, **more: object) -> str:
    return json.dumps({"kind": "event", "version": 0, "payload": {"kind": kind, "more": 1} | more
                       | ({} if test is None else {"testID": test})})


def place(test: str) -> str:
    return f"GNSSTests.Payload/{test}()/PayloadTests.swift:12:4"


def outcome(*failed: str, cases: int = 3, passed: int = 2, is_whole: bool = True) -> Outcome:
    return Outcome(cases, frozenset(map(str, range(passed))), frozenset(failed), frozenset("a"), is_whole)


class Outcomes(unittest.TestCase):
    def test_are_read_from_finished_tests(self) -> None:
        lines = [
            json.dumps({"kind": "test", "payload": {"kind": "suite", "id": "GNSSTests.Payload"}}),
            event("runStarted"), event("testStarted", "GNSSTests.Payload"), event("testSkipped", place("isRecorded")),
            event("testStarted", place("isRead")), event("testCaseEnded", place("isRead")),
            event("testCaseEnded", place("isRead")), event("issueRecorded", place("isRead"), issue={"isKnown": True}),
            event("testEnded", place("isRead")),
            event("testStarted", place("isRefused")), event("issueRecorded", place("isRefused"), issue={"isKnown": False}),
            event("testCaseEnded", place("isRefused")), event("testEnded", place("isRefused")),
            event("testStarted", place("isSlow")),
        ]
        names = {test: f"GNSSTests.Payload/{test}()" for test in ("isRead", "isRefused", "isSlow", "isRecorded")}
        expected = Outcome(3, frozenset({names["isRead"]}), frozenset({names["isRefused"], names["isSlow"]}),
                           frozenset({names["isRecorded"]}), False)
        self.assertEqual(Outcome.read([*lines, '{"kind":"ev']), expected)
        self.assertTrue(Outcome.read([*lines, event("testEnded", "GNSSTests.Payload"), event("runEnded")]).is_whole)
        self.assertEqual(Outcome.read([]), Outcome(0, frozenset(), frozenset(), frozenset(), False))

    def test_of_modules_that_start_programs_are_only_reported(self) -> None:
        report = judge({"GNSSTests": outcome(), "AgentTests": outcome("b", "a", is_whole=False)}, 60)
        self.assertEqual(report, "6 test cases; 4 of 6 tests passed in 2 modules, 2 left out, in 60 s; "
                                 "failed in modules that start programs: a, b; stopped early: AgentTests")

    def test_of_emulator_limitations_are_reported_with_the_reason(self) -> None:
        [(test, reason)] = EMULATOR.items()
        self.assertTrue(judge({"LinuxPlatformTests": outcome(test)}, 1).endswith(f"in 1 s; {test} failed: {reason}"))

    def test_of_modules_that_start_no_programs_must_pass(self) -> None:
        for broken, bad in (("GNSSTests: a, b failed: 3 test", outcome("b", "a")),
                            ("GNSSTests stopped early: 3 test", outcome(is_whole=False)),
                            ("no test of GNSSTests passed: 0 test", outcome(cases=0, passed=0))):
            with self.subTest(broken), self.assertRaisesRegex(Failed, f"^{broken}"):
                judge({"GNSSTests": bad}, 1)

    def test_cover_every_module(self) -> None:
        there = {directory.name for directory in ROOT.glob("Tests/*Tests")}
        self.assertEqual(set(modules()), there - LEFT_OUT.keys())
        self.assertLessEqual(STARTING | LEFT_OUT.keys(), there, "STARTING or LEFT_OUT names a module that doesn't exist")
