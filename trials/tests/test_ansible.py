"""The Ansible role shows no secrets."""

from __future__ import annotations

import re
import unittest

from trials.waypost import ROOT

TASKS = ROOT / "packaging/ansible/roles/waypost/tasks/main.yml"
# Files that contain no secrets: the vehicle's id and the package.
OPEN = ("/etc/vehicle-id", "/var/cache/waypost.deb")


class Role(unittest.TestCase):
    def test_hides_files_with_secrets_in_diffs(self) -> None:
        tasks = [task for task in re.split(r"\n\s*(?=- name: )", TASKS.read_text()) if "ansible.builtin.copy:" in task]
        closed = [task for task in tasks if not any(f"dest: {path}" in task for path in OPEN)]
        self.assertEqual(len(closed), 2)
        for task in closed:
            self.assertRegex(task, r"(?m)^ *(diff: false|no_log: true)$")
