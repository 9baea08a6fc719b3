"""The Ansible role shows no secrets."""

from __future__ import annotations

import re
import unittest

from trials.waypost import ROOT

TASKS = ROOT / "packaging/ansible/roles/waypost/tasks/main.yml"
# Files that contain no secrets: the vehicle's id and the package.
OPEN = ("/etc/vehicle-id", "/var/cache/waypost.deb")
# The modules that write a file's content, which Ansible shows with --diff.
WRITING = ("copy", "template", "lineinfile", "blockinfile", "replace", "assemble")


class Role(unittest.TestCase):
    def setUp(self) -> None:
        tasks = re.split(r"(?m)^ *- name: ", TASKS.read_text())[1:]
        self.tasks = {task.splitlines()[0]: task for task in tasks}

    def test_hides_files_with_secrets_in_diffs(self) -> None:
        module = re.compile(rf"(?m)^ *(ansible\.builtin\.)?({'|'.join(WRITING)}):")
        closed = {name: task for name, task in self.tasks.items()
                  if module.search(task) and not any(f"dest: {path}\n" in task for path in OPEN)}
        self.assertEqual(list(closed), ["Write the van's key", "Write the configuration, once it is checked"])
        for name, task in closed.items():
            self.assertRegex(task, r"(?m)^ *(diff: false|no_log: true)$", name)

    def test_hides_the_key_that_enrolment_prints(self) -> None:
        output = re.compile(r"(?m)waypost_enrolment(\.stdout\b|$)")
        naming = {name: task for name, task in self.tasks.items() if output.search(task)}
        self.assertEqual(list(naming), ["Enrol the van at the token backend", "Write the van's key"])
        for name, task in naming.items():
            self.assertRegex(task, r"(?m)^ *no_log: true$", name)

    def test_creates_the_keys_file_closed(self) -> None:
        modes = {"Close the keys' directory to other users": "0750", "Create the key's file": "0640"}
        names = [name for name in self.tasks if name in (*modes, "Write the van's key")]
        self.assertEqual(names, [*modes, "Write the van's key"])
        for name, mode in modes.items():
            self.assertIn(f'mode: "{mode}"', self.tasks[name])
