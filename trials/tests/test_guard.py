"""However a trial ends, none of its processes, mounts and networks remain."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from trials.waiting import until
from trials.waypost import ROOT

# A trial with a child, a grandchild in its own session and, for root, also a mount and a network. Its processes can be
# found only by the mark.
TRIAL = """
import os, subprocess, sys, time
from trials import guard
guard.GRACE_SECONDS = 1
mark, directory, is_stubborn = sys.argv[1], sys.argv[2], sys.argv[3] == "stubborn"

def trial():
    for command in (["sleep", mark], ["sh", "-c", f"setsid sleep {mark} & wait"]):
        subprocess.Popen(command)
    if guard.is_alone:
        for command in (["mount", "-t", "tmpfs", "tmpfs", directory], ["mount", "-t", "tmpfs", "tmpfs", "/run"],
                        ["ip", "netns", "add", "left-behind"]):
            subprocess.run(command, check=True)
        subprocess.Popen(["ip", "netns", "exec", "left-behind", "sleep", mark])
    print(os.getpid(), flush=True)
    while True:
        try:
            time.sleep(600)
        except SystemExit:
            if not is_stubborn:
                raise

sys.exit(guard.run(trial))
"""
SECONDS = 20


class Guard(unittest.TestCase):
    def setUp(self) -> None:
        # A duration of sleep that no other process uses.
        self.mark = f"{3600 + time.time_ns() / 1e9:.9f}"
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name

    def start(self, manner: str = "willing") -> tuple[subprocess.Popen[str], int]:
        """Starts a trial with all its processes. Returns its first process, and the process in which the trial itself runs."""
        process = subprocess.Popen(
            [sys.executable, "-B", "-c", TRIAL, self.mark, self.directory, manner], cwd=ROOT, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
        assert process.stdout is not None
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        worker = int(process.stdout.readline())
        self.assertTrue(until(lambda: len(self.left("sleep")) >= 2, SECONDS), "the trial's processes do not start")
        return process, worker

    def left(self, program: str = "") -> list[int]:
        """Returns the processes with the mark among their arguments."""
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = path.read_bytes().decode().split("\0")
            except OSError:
                continue
            if any(self.mark in word for word in words) and words[0].endswith(program):
                found.append(int(path.parent.name))
        return found

    def assert_nothing_is_left(self) -> None:
        self.assertTrue(until(lambda: not self.left(), SECONDS), f"left behind: {self.left()}")
        self.assertNotIn(self.directory, Path("/proc/self/mounts").read_text())
        self.assertFalse(Path("/run/netns/left-behind").exists())

    def test_ends_everything_at_a_signal(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number):
                process, _ = self.start()
                process.send_signal(number)
                self.assertEqual(process.wait(SECONDS), 128 + number)
                self.assert_nothing_is_left()

    def test_ends_everything_when_a_trial_ignores_the_signal(self) -> None:
        process, _ = self.start("stubborn")
        process.terminate()
        self.assertEqual(process.wait(SECONDS), 128 + signal.SIGKILL)
        self.assert_nothing_is_left()

    def test_ends_everything_when_its_own_process_is_killed(self) -> None:
        process, _ = self.start()
        process.kill()
        self.assert_nothing_is_left()

    def test_ends_everything_when_its_group_is_killed(self) -> None:
        process, _ = self.start("stubborn")
        os.killpg(process.pid, signal.SIGKILL)
        self.assert_nothing_is_left()

    def test_ends_everything_when_the_trial_is_killed(self) -> None:
        process, worker = self.start()
        os.kill(worker, signal.SIGKILL)
        self.assertEqual(process.wait(SECONDS), 128 + signal.SIGKILL)
        self.assert_nothing_is_left()

    def test_ends_everything_when_its_parent_is_killed(self) -> None:
        begin = ("import subprocess, sys; "
                 "subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, start_new_session=True).wait()")
        command = [sys.executable, "-B", "-c", TRIAL, self.mark, self.directory, "willing"]
        with subprocess.Popen([sys.executable, "-c", begin, *command], cwd=ROOT, stderr=subprocess.DEVNULL) as parent:
            try:
                self.assertTrue(until(lambda: len(self.left("sleep")) >= 2, SECONDS))
            finally:
                parent.kill()
        self.assert_nothing_is_left()

    def test_returns_the_status_of_the_trial(self) -> None:
        for trial, status in (("lambda: 3", 3), ("lambda: sys.exit(4)", 4), ("lambda: 1 / 0", 1)):
            with self.subTest(trial):
                program = f"import sys; from trials import guard; sys.exit(guard.run({trial}))"
                ended = subprocess.run([sys.executable, "-B", "-c", program], cwd=ROOT, stderr=subprocess.DEVNULL)
                self.assertEqual(ended.returncode, status)

    @unittest.skipUnless(os.geteuid() == 0, "only root gets its own network")
    def test_gives_root_a_network_with_only_a_loopback_device(self) -> None:
        program = ("import subprocess, sys; from trials import guard; "
                   "sys.exit(guard.run(lambda: subprocess.run(['ip', '-brief', 'link']).returncode))")
        listing = subprocess.run([sys.executable, "-B", "-c", program], cwd=ROOT, text=True, stdout=subprocess.PIPE)
        self.assertEqual(re.findall(r"^(\w+)\s+(\w+)", listing.stdout, re.MULTILINE)[0], ("lo", "UNKNOWN"))
        self.assertEqual(len(listing.stdout.splitlines()), 1)
